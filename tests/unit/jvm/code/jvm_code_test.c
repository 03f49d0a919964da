#include "base/tables/budget.h"
#include "jvm/code/code.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/jvm/jvm_code_image.h"
#include "tests/unit/alloc_fail.h"

/* bci 0: line 40, 5: line 42. */
static const uint8_t lines[] = {0xff, 0, 80, 5 << 3 | 2, 0};

/* At 1: bci 5 of method 1. At 5: bci 2 of method 2, inlined there. At 9: bci 0 of method 2, inlined
 * into that. */
static const uint8_t scopes[] = {0xff, 0, 1, 6, 0xff, 1, 2, 3, 0xff, 5, 2, 0, 0xff, 0};

/* The last one has no scope and lies behind the code, as nmethod::copy_scopes_pcs leaves it. */
static const uint32_t pcs[][2] = {{UINT32_MAX, 0}, {20, 1}, {50, 9}, {60, 5}, {257, 0}};

#define SEGMENT 8
#define CODE_AT (IMAGE_HEAP + (SEGMENT << IMAGE_SHIFT) + 16 + CODE_IMAGE_BEGIN)

static struct target {
	struct image image;
	struct code_layout layout;
	struct code *code;
	uint64_t outer, inner, native, name, blob;
	struct code_image_nmethod shape;
	struct code_frame frames[CODE_FRAMES_MAX];
} t;

static void target_fill(void)
{
	const struct code_image_method outer = {
		"org/example/Outer", "work", "()V", "Outer.java", METHOD_VTABLE, 9, 0, 0, lines,
		sizeof(lines)};
	const struct code_image_method inner = {"java/util/Inner",
						"get",
						"(I)I",
						"Inner.java",
						METHOD_VTABLE_SHARED,
						9,
						8,
						0,
						lines,
						sizeof(lines)};
	const struct code_image_method native = {
		"java/lang/Object", "wait0", "(J)V", NULL, METHOD_VTABLE, 0, 0, 0x100, NULL, 0};

	memset(&t, 0, sizeof(t));
	image_clear(&t.image);
	t.layout = code_image_layout();
	image_room(&t.image, 8);
	memset(t.image.bytes + (IMAGE_SEGMAP - IMAGE_BASE), 0xff, 256);
	t.name = image_string(&t.image, "nmethod");
	t.outer = code_image_method(&t.image, &outer);
	t.inner = code_image_method(&t.image, &inner);
	t.native = code_image_method(&t.image, &native);
	t.shape = (struct code_image_nmethod){
		.id = 7,
		.level = 4,
		.entry_bci = UINT32_MAX,
		.method = t.outer,
		.name = t.name,
		.metadata = {t.outer, t.inner},
		.scopes = scopes,
		.scopes_size = sizeof(scopes),
		.pcs = pcs,
		.pc_count = sizeof(pcs) / sizeof(*pcs),
	};
	t.blob = code_image_nmethod(&t.image, SEGMENT, &t.shape);
	assert_int_equal(code_new(&t.image.mem, &t.layout, &t.code), 0);
}

static int compiled(uint32_t offset, uint32_t id, bool return_address)
{
	return code_compiled(t.code, CODE_AT + offset, id, return_address, t.frames);
}

static void frame_is(const struct code_frame *f, const char *name, enum code_frame_type type,
		     uint32_t bci, uint32_t line)
{
	assert_string_equal(f->method->name, name);
	assert_int_equal(f->type, type);
	assert_int_equal(f->bci, bci);
	assert_int_equal(f->line, line);
}

static void inlined_frames_are_found(void **state)
{
	(void)state;
	target_fill();
	assert_int_equal(compiled(50, 7, true), 3);
	frame_is(&t.frames[0], "get", CODE_FRAME_INLINED, 0, 40);
	frame_is(&t.frames[1], "get", CODE_FRAME_INLINED, 2, 40);
	frame_is(&t.frames[2], "work", CODE_FRAME_C2, 5, 42);
	assert_false(t.frames[0].inferred || t.frames[2].inferred);
	assert_string_equal(t.frames[0].method->class_name, "java.util.Inner");
	assert_string_equal(t.frames[0].method->signature, "(I)I");
	assert_string_equal(t.frames[0].method->source, "Inner.java");
	assert_true(t.frames[0].method->hidden && !t.frames[2].method->hidden);
	assert_ptr_equal(t.frames[0].method, t.frames[1].method);
	assert_int_equal(compiled(60, 7, true), 2);
	assert_int_equal(compiled(20, 7, true), 1);
	code_free(t.code);
}

static void a_return_address_is_exact(void **state)
{
	(void)state;
	target_fill();
	assert_int_equal(compiled(49, 7, true), -EPROTO);
	assert_int_equal(compiled(49, 7, false), 3);
	assert_true(t.frames[0].inferred && t.frames[1].inferred && t.frames[2].inferred);
	/* Known by now, but not as a return address. */
	assert_int_equal(compiled(49, 7, true), -EPROTO);
	assert_int_equal(compiled(60, 7, false), 2);
	assert_false(t.frames[0].inferred);
	/* Behind the last there is the method alone. */
	assert_int_equal(compiled(200, 7, true), -EPROTO);
	assert_int_equal(compiled(200, 7, false), 1);
	frame_is(&t.frames[0], "work", CODE_FRAME_C2, 0, 0);
	assert_true(t.frames[0].inferred);
	/* In the head of the nmethod, and behind its code. */
	assert_int_equal(compiled((uint32_t)-8, 7, false), -EPROTO);
	assert_int_equal(compiled(CODE_IMAGE_SIZE, 7, false), -EPROTO);
	/* Outside of the code cache. */
	assert_int_equal(code_compiled(t.code, IMAGE_HEAP - 1, 7, false, t.frames), -EPROTO);
	assert_int_equal(code_compiled(t.code, IMAGE_HEAP_END, 7, false, t.frames), -EPROTO);
	code_free(t.code);
}

static void levels_and_kinds_are_told(void **state)
{
	(void)state;
	for (uint32_t level = 0; level < 6; level++) {
		target_fill();
		image_u32(&t.image, t.blob + 308, level);
		if (level < 1 || level > 4) {
			assert_int_equal(compiled(20, 7, true), -EPROTO);
		} else {
			assert_int_equal(compiled(20, 7, true), 1);
			assert_int_equal(t.frames[0].type,
					 level < 4 ? CODE_FRAME_C1 : CODE_FRAME_C2);
		}
		code_free(t.code);
	}
	/* A native method's wrapper has no PcDescs. */
	target_fill();
	t.shape.method = t.native;
	t.shape.level = 0;
	t.shape.pc_count = 0;
	code_image_nmethod(&t.image, SEGMENT, &t.shape);
	assert_int_equal(compiled(77, 7, true), 1);
	frame_is(&t.frames[0], "wait0", CODE_FRAME_NATIVE, 0, 0);
	assert_string_equal(t.frames[0].method->source, "");
	code_free(t.code);
}

static void code_that_is_gone_is_stale(void **state)
{
	(void)state;
	target_fill();
	assert_int_equal(compiled(20, 8, true), -ESTALE);
	assert_int_equal(compiled(20, 7 | CODE_ID_OSR, true), -ESTALE);
	image_u32(&t.image, t.blob + 192, 11);
	assert_int_equal(compiled(20, 7, true), -ESTALE);
	assert_int_equal(compiled(20, 7 | CODE_ID_OSR, true), 1);
	image_u32(&t.image, t.blob + 192, UINT32_MAX);
	for (int state_now = -1; state_now < 5; state_now++) {
		t.image.bytes[t.blob + 315 - IMAGE_BASE] = (uint8_t)state_now;
		assert_int_equal(compiled(50, 7, true),
				 state_now < 0 || state_now > 2 ? -ESTALE : 3);
		code_free(t.code);
		assert_int_equal(code_new(&t.image.mem, &t.layout, &t.code), 0);
	}
	t.image.bytes[t.blob + 315 - IMAGE_BASE] = 0;
	image_u64(&t.image, t.blob, STUB_VTABLE);
	assert_int_equal(compiled(50, 7, true), -ESTALE);
	image_u64(&t.image, t.blob, NMETHOD_VTABLE);
	image_u64(&t.image, t.blob + 112, 0);
	assert_int_equal(compiled(50, 7, true), -ESTALE);
	t.image.bytes[IMAGE_SEGMAP + SEGMENT + 3 - IMAGE_BASE] = 0xff;
	assert_int_equal(compiled(20, 7, true), -ESTALE);
	code_free(t.code);
}

static void what_is_known_needs_no_target(void **state)
{
	const struct code_method *work;

	(void)state;
	target_fill();
	assert_int_equal(compiled(50, 7, true), 3);
	work = t.frames[2].method;
	code_forget(t.code);
	memset(t.image.bytes, 0, sizeof(t.image.bytes));
	memset(t.frames, 0, sizeof(t.frames));
	assert_int_equal(compiled(50, 7, true), 3);
	frame_is(&t.frames[2], "work", CODE_FRAME_C2, 5, 42);
	assert_ptr_equal(t.frames[2].method, work);
	assert_int_equal(compiled(60, 7, true), -ESTALE);
	code_free(t.code);
}

/* The way of a large block's segments: 254 at most at a time. */
static void far_segments_lead_back(void **state)
{
	(void)state;
	target_fill();
	for (uint32_t n = SEGMENT; n < SEGMENT + 8; n++)
		t.image.bytes[IMAGE_SEGMAP + n - IMAGE_BASE] = n > SEGMENT;
	assert_int_equal(compiled(50, 7, true), 3);
	/* Before the heap's beginning. */
	t.image.bytes[IMAGE_SEGMAP + SEGMENT - IMAGE_BASE] = SEGMENT + 1;
	assert_int_equal(compiled(60, 7, true), -ESTALE);
	code_free(t.code);
}

static void interpreted_frames_are_found(void **state)
{
	struct code_frame f;

	(void)state;
	target_fill();
	assert_int_equal(code_interpreted(t.code, t.outer, 4, &f), 0);
	frame_is(&f, "work", CODE_FRAME_INTERPRETED, 4, 40);
	assert_int_equal(f.method->number, 0);
	assert_int_equal(code_interpreted(t.code, t.outer, 8, &f), 0);
	frame_is(&f, "work", CODE_FRAME_INTERPRETED, 8, 42);
	assert_int_equal(code_interpreted(t.code, t.outer, 9, &f), -EPROTO);
	/* A native method has no bytecode, whatever stands in its slot. */
	assert_int_equal(code_interpreted(t.code, t.native, 12345, &f), 0);
	frame_is(&f, "wait0", CODE_FRAME_NATIVE, 0, 0);
	assert_int_equal(f.method->number, 1);
	assert_int_equal(code_interpreted(t.code, t.outer + 8, 0, &f), -ESTALE);
	assert_int_equal(code_interpreted(t.code, 0x400, 0, &f), -ESTALE);
	code_free(t.code);
}

static void a_reused_address_gets_its_new_name(void **state)
{
	const struct code_method *work;
	struct code_frame f;
	uint64_t at;

	(void)state;
	target_fill();
	assert_int_equal(code_interpreted(t.code, t.outer, 4, &f), 0);
	work = f.method;
	assert_int_equal(mem_u64(&t.image.mem, t.inner + 8, &at), 0);
	image_u64(&t.image, t.outer + 8, at);
	code_forget(t.code);
	assert_int_equal(code_interpreted(t.code, t.outer, 4, &f), 0);
	assert_string_equal(f.method->name, "get");
	assert_int_equal(f.method->number, 1);
	/* The old one's text stays: it is lent until code_free. */
	assert_string_equal(work->name, "work");
	/* The same text from another address is the same method; but for "hidden". */
	image_u16(&t.image, t.outer + 50, 8);
	code_forget(t.code);
	assert_int_equal(code_interpreted(t.code, t.outer, 4, &f), 0);
	assert_int_equal(f.method->number, 2);
	work = f.method;
	assert_int_equal(code_interpreted(t.code, t.inner, 4, &f), 0);
	assert_ptr_equal(f.method, work);
	code_free(t.code);
}

/* A target that runs on: a byte changes before read number left. */
static struct {
	int (*read)(const struct mem *m, uint64_t addr, void *ret, size_t len);
	int left;
	uint64_t at;
} change;

static int changing_read(const struct mem *m, uint64_t addr, void *ret, size_t len)
{
	if (!change.left--)
		t.image.bytes[change.at - IMAGE_BASE] ^= 0x40;
	return change.read(m, addr, ret, len);
}

static void code_that_changes_meanwhile_is_stale(void **state)
{
	static const uint32_t watched[] = {0, 304, 315};

	(void)state;
	for (size_t w = 0; w < sizeof(watched) / sizeof(*watched); w++) {
		int n = 0, count, fine = 0;

		do {
			target_fill();
			change.read = t.image.mem.read;
			change.left = n++;
			change.at = t.blob + watched[w];
			t.image.mem.read = changing_read;
			count = compiled(50, 7, true);
			code_free(t.code);
			if (count != 3)
				assert_int_equal(count, -ESTALE);
			else if (change.left < 0)
				fine++;
		} while (change.left < 0);
		/* Only behind the last look at it is it too late. */
		assert_int_equal(count, 3);
		assert_true(n > 30 && fine < 4);
	}
}

static void a_damaged_nmethod_is_survived(void **state)
{
	uint32_t size = 16 + 352;

	(void)state;
	target_fill();
	code_free(t.code);
	for (uint32_t at = 0; at < size + CODE_IMAGE_SIZE + 32 + sizeof(scopes) + 8 + 80; at++) {
		uint8_t *byte, was;

		if (at == size)
			at += CODE_IMAGE_SIZE;
		byte = &t.image.bytes[t.blob - 16 + at - IMAGE_BASE];
		was = *byte;
		for (int bit = 0; bit < 8; bit++) {
			*byte = (uint8_t)(was ^ 1 << bit);
			assert_int_equal(code_new(&t.image.mem, &t.layout, &t.code), 0);
			for (uint32_t pc = 0; pc < 260; pc += 10)
				assert_true(compiled(pc, 7, pc & 16) <= 3);
			code_free(t.code);
		}
		*byte = was;
	}
}

/* Within its bound it forgets what it knew, and reads it again; numbers are not used twice. */
static void what_is_known_is_bounded(void **state)
{
	struct budget budget = {.max = 256 * 1024};
	uint32_t id = 7, n, number, known = 0;

	(void)state;
	target_fill();
	code_bound(t.code, &budget);
	t.shape.method = t.native;
	code_image_nmethod(&t.image, SEGMENT, &t.shape);
	assert_int_equal(compiled(0, id, false), 1);
	number = t.frames[0].method->number;
	for (n = 0; n <= 20000; n++) {
		if (n && !(n % CODE_IMAGE_SIZE))
			image_u32(&t.image, t.blob + 304, ++id);
		assert_int_equal(compiled(n % CODE_IMAGE_SIZE, id, false), 1);
		assert_true(budget.most <= budget.max);
		known += t.frames[0].method->number == number;
		number = t.frames[0].method->number;
	}
	assert_true(code_forgotten(t.code) > 0);
	assert_int_equal(20001 - known, code_forgotten(t.code)); /* it is one method */
	assert_string_equal(t.frames[0].method->class_name, "java.lang.Object");
	assert_int_equal(compiled((n - 1) % CODE_IMAGE_SIZE, id, false), 1);
	image_u32(&t.image, t.blob + 304, 1);
	assert_int_equal(compiled((n - 1) % CODE_IMAGE_SIZE, id, false), 1);
	assert_int_equal(compiled(0, 7, false), -ESTALE);
	code_free(t.code);
	assert_int_equal(budget.used, 0);
}

/* Not even one method has room: frames have no names, and nothing is wrong. */
static void nothing_has_room(void **state)
{
	struct budget budget = {.max = 4200}; /* of the empty tables */

	(void)state;
	target_fill();
	code_bound(t.code, &budget);
	for (int i = 0; i < 3; i++)
		assert_int_equal(compiled(50, 7, true), -ENOSPC);
	code_free(t.code);
	assert_int_equal(budget.used, 0);
}

static void allocations_may_fail(void **state)
{
	unsigned long n = 0;
	int count;

	(void)state;
	do {
		target_fill();
		alloc_fail_at(n++);
		count = compiled(50, 7, true);
		assert_true(count == 3 || count == -ENOMEM);
		if (alloc_fail->failed)
			assert_int_equal(compiled(50, 7, true), 3);
		code_free(t.code);
	} while (alloc_fail_off());
	assert_int_equal(count, 3);
	assert_true(n > 15);
	n = 0;
	do {
		struct code *c = NULL;

		alloc_fail_at(n++);
		count = code_new(&t.image.mem, &t.layout, &c);
		code_free(c);
	} while (alloc_fail_off());
	assert_true(n > 2 && !count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inlined_frames_are_found),
		cmocka_unit_test(a_return_address_is_exact),
		cmocka_unit_test(levels_and_kinds_are_told),
		cmocka_unit_test(code_that_is_gone_is_stale),
		cmocka_unit_test(what_is_known_needs_no_target),
		cmocka_unit_test(far_segments_lead_back),
		cmocka_unit_test(interpreted_frames_are_found),
		cmocka_unit_test(a_reused_address_gets_its_new_name),
		cmocka_unit_test(code_that_changes_meanwhile_is_stale),
		cmocka_unit_test(a_damaged_nmethod_is_survived),
		cmocka_unit_test(what_is_known_is_bounded),
		cmocka_unit_test(nothing_has_room),
		cmocka_unit_test(allocations_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
