#include "jvm/code/method.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/jvm/jvm_code_image.h"
#include "tests/unit/alloc_fail.h"

static struct image image;

/* bci 0: line 40, 5: line 42. */
static const uint8_t lines[] = {0xff, 0, 80, 5 << 3 | 2, 0};

static const struct code_image_method plain = {
	.class_name = "org/example/Outer$Inner",
	.name = "run",
	.signature = "(Ljava/lang/String;)V",
	.source = "Outer.java",
	.vtable = METHOD_VTABLE,
	.code_size = 9,
	.lines = lines,
	.lines_size = sizeof(lines),
};

static uint64_t method_put(const struct code_image_method *m)
{
	image_clear(&image);
	return code_image_method(&image, m);
}

static int read_it(uint64_t addr, struct method *ret)
{
	const struct code_layout l = code_image_layout();

	return method_read(&image.mem, &l, addr, ret);
}

static void a_method_is_read(void **state)
{
	uint64_t addr = method_put(&plain);
	struct method m;

	(void)state;
	assert_int_equal(read_it(addr, &m), 0);
	assert_string_equal(m.class_name, "org.example.Outer$Inner");
	assert_string_equal(m.name, "run");
	assert_string_equal(m.signature, "(Ljava/lang/String;)V");
	assert_string_equal(m.source, "Outer.java");
	assert_false(m.hidden || m.native);
	assert_int_equal(m.code_size, 9);
	assert_int_equal(m.lines_size, sizeof(lines));
	assert_int_equal(method_line(&m, 0), 40);
	assert_int_equal(method_line(&m, 4), 40);
	assert_int_equal(method_line(&m, 8), 42);
	method_clear(&m);
	method_clear(&m);
}

static void what_a_method_may_lack_is_left_out(void **state)
{
	struct code_image_method shape = plain;
	struct method m;
	uint64_t addr, at, pool;

	(void)state;
	shape.vtable = METHOD_VTABLE_SHARED;
	shape.class_name = "Cls$$Lambda$14+0x0000000800c03000";
	shape.source = NULL;
	shape.flags = 8;
	shape.lines = NULL;
	shape.lines_size = 0;
	assert_int_equal(read_it(method_put(&shape), &m), 0);
	assert_string_equal(m.class_name, shape.class_name);
	assert_string_equal(m.source, "");
	assert_true(m.hidden && !m.native && !m.lines);
	assert_int_equal(method_line(&m, 3), 0);
	method_clear(&m);
	shape.access = 0x118;
	shape.flags = 7;
	shape.code_size = 0;
	addr = method_put(&shape);
	assert_int_equal(mem_u64(&image.mem, addr + 8, &at), 0);
	assert_int_equal(mem_u64(&image.mem, at + 8, &pool), 0);
	/* As linkToStatic has it: an index of another pool. */
	image_u16(&image, pool + 54, 628);
	assert_int_equal(read_it(addr, &m), 0);
	assert_true(!m.hidden && m.native);
	assert_string_equal(m.source, "");
	method_clear(&m);
}

static void what_is_no_method_is_refused(void **state)
{
	uint64_t addr = method_put(&plain), at, pool;
	struct method m;

	(void)state;
	assert_int_equal(mem_u64(&image.mem, addr + 8, &at), 0);
	assert_int_equal(mem_u64(&image.mem, at + 8, &pool), 0);
	assert_int_equal(read_it(0x400, &m), -ESTALE);
	assert_int_equal(read_it(addr + 8, &m), -ESTALE);
	image_u64(&image, addr, 0);
	assert_int_equal(read_it(addr, &m), -ESTALE);
	image_u64(&image, addr, METHOD_VTABLE);
	image_u64(&image, addr + 8, 0);
	assert_int_equal(read_it(addr, &m), -EPROTO);
	image_u64(&image, addr + 8, 0x400);
	assert_int_equal(read_it(addr, &m), -EPROTO);
	image_u64(&image, addr + 8, at);
	image_u16(&image, at + 34, 4); /* past the pool's end */
	assert_int_equal(read_it(addr, &m), -EPROTO);
	image_u16(&image, at + 34, 0);
	assert_int_equal(read_it(addr, &m), -EPROTO);
	image_u16(&image, at + 34, 1);
	image_u32(&image, at + 24, 1 << 20); /* its size */
	assert_int_equal(read_it(addr, &m), -EPROTO);
	image_u32(&image, at + 24, 7); /* ends before its line table does */
	assert_int_equal(read_it(addr, &m), -EPROTO);
	image_u32(&image, at + 24, 8);
	assert_int_equal(read_it(addr, &m), 0);
	method_clear(&m);
	image_u64(&image, pool + 24, 0);
	assert_int_equal(read_it(addr, &m), -EPROTO);
}

/* A target that runs on: after some reads the Method is another. */
static struct {
	int (*read)(const struct mem *m, uint64_t addr, void *ret, size_t len);
	int left;
	uint64_t at, value;
} change;

static int changing_read(const struct mem *m, uint64_t addr, void *ret, size_t len)
{
	if (!change.left--)
		image_u64(&image, change.at, change.value);
	return change.read(m, addr, ret, len);
}

/* The word at this offset changes before read number n; whether all was read before it did. */
static bool change_at(uint32_t offset, int n, int *ret_err)
{
	uint64_t addr = method_put(&plain);
	struct method m;

	change.read = image.mem.read;
	change.left = n;
	change.at = addr + offset;
	change.value = 0x4444;
	image.mem.read = changing_read;
	*ret_err = read_it(addr, &m);
	if (!*ret_err)
		method_clear(&m);
	return change.left >= 0;
}

static void a_method_that_changes_is_stale(void **state)
{
	int n, err, fine = 0;

	(void)state;
	for (n = 0; !change_at(0, n, &err); n++) {
		assert_int_equal(err, err ? -ESTALE : 0);
		fine += !err;
	}
	/* Between the last two reads it is too late to be seen. */
	assert_true(n > 20 && fine == 1);
	assert_int_equal(err, 0);
	/* Changed before the first look at it, it is broken, but not seen to change. */
	for (n = 2; !change_at(8, n, &err); n++)
		assert_int_equal(err, -ESTALE);
	assert_true(n > 20);
	assert_int_equal(err, 0);
}

static void text_is(const char *from, size_t len, bool cut, bool dots, const char *expected)
{
	char ret[64];

	method_text((const uint8_t *)from, len, cut, dots, ret);
	assert_string_equal(ret, expected);
}

#define TEXT(from) (from), sizeof(from) - 1

static void modified_utf8_becomes_utf8(void **state)
{
	(void)state;
	text_is(TEXT("a/b.c"), false, false, "a/b.c");
	text_is(TEXT("a/b.c"), false, true, "a.b.c");
	text_is(TEXT("Stra\xc3\x9f"
		     "e/\xe2\x82\xac"),
		false, true,
		"Stra\xc3\x9f"
		"e.\xe2\x82\xac");
	/* U+1F600, as two surrogates; a surrogate alone; NUL as two bytes, and as one. */
	text_is(TEXT("x\xed\xa0\xbd\xed\xb8\x80y"), false, false, "x\xf0\x9f\x98\x80y");
	text_is(TEXT("x\xed\xa0\xbdy"), false, false, "x???y");
	text_is(TEXT("\xc0\x80|\0"), false, false, "??|?");
	/* Too long for what it is, above U+10FFFF, a byte that continues nothing, an end too early. */
	text_is(TEXT("\xe0\x80\xaf|\xf4\x90\x80\x80|\xaf|\xfe"), false, true, "???|????|?|?");
	text_is(TEXT("\xe2\x82"), false, false, "??");
	text_is(TEXT("\xf0\x9f\x98\x80"), false, false, "\xf0\x9f\x98\x80");
	text_is("", 0, false, false, "");
	/* Cut: half a character is not kept. */
	text_is(TEXT("ab\xe2\x82"), true, false, "ab...");
	text_is(TEXT("ab\xed\xa0\xbd\xed\xb8"), true, false, "ab...");
	text_is(TEXT("ab"), true, false, "ab...");
}

static void long_names_are_cut(void **state)
{
	static char text[65536];
	struct code_image_method shape = plain;
	struct method m;

	(void)state;
	memset(text, 'x', METHOD_NAME_MAX);
	shape.name = text;
	assert_int_equal(read_it(method_put(&shape), &m), 0);
	assert_int_equal(strlen(m.name), METHOD_NAME_MAX);
	method_clear(&m);
	memset(text, 'x', sizeof(text) - 1);
	assert_int_equal(read_it(method_put(&shape), &m), 0);
	assert_int_equal(strlen(m.name), METHOD_NAME_MAX + 3);
	assert_string_equal(m.name + METHOD_NAME_MAX - 1, "x...");
	method_clear(&m);
}

static void any_wrong_byte_is_survived(void **state)
{
	uint64_t addr = method_put(&plain);
	struct method m;

	(void)state;
	for (uint32_t at = 0; at < image.used; at++) {
		uint8_t was = image.bytes[at];

		for (int bit = 0; bit < 8; bit++) {
			image.bytes[at] = (uint8_t)(was ^ 1 << bit);
			if (read_it(addr, &m))
				continue;
			method_line(&m, 5);
			method_clear(&m);
		}
		image.bytes[at] = was;
	}
}

static void allocations_may_fail(void **state)
{
	uint64_t addr = method_put(&plain);
	unsigned long n = 0;
	struct method m;
	int err;

	(void)state;
	do {
		alloc_fail_at(n++);
		err = read_it(addr, &m);
		assert_true(err == 0 || err == -ENOMEM);
		/* The table is only made smaller: it may stay as large as it is. */
		if (!err && alloc_fail->failed)
			method_clear(&m);
	} while (alloc_fail_off());
	assert_int_equal(err, 0);
	assert_true(n > 5);
	method_clear(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_method_is_read),
		cmocka_unit_test(what_a_method_may_lack_is_left_out),
		cmocka_unit_test(what_is_no_method_is_refused),
		cmocka_unit_test(a_method_that_changes_is_stale),
		cmocka_unit_test(modified_utf8_becomes_utf8),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(any_wrong_byte_is_survived),
		cmocka_unit_test(allocations_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
