#include "base/text/utf.h"
#include "jvm/layout/layout.h"
#include "jvm/oop.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "jvm_image.h"
#include "tests/unit/alloc_fail.h"

static void latin1_becomes_utf8(void **state)
{
	static const uint8_t text[] = {'w', 0xe4, 'r', 0, 'm'};
	char out[16];

	(void)state;
	assert_int_equal(latin1_to_utf8(text, sizeof(text), out, sizeof(out)), 6);
	assert_string_equal(out, "w\xc3\xa4r?m");
	/* A character that does not fit whole is left out. */
	assert_int_equal(latin1_to_utf8(text, sizeof(text), out, 3), 1);
	assert_string_equal(out, "w");
	assert_int_equal(latin1_to_utf8(text, sizeof(text), out, 1), 0);
	assert_string_equal(out, "");
}

static void utf16_becomes_utf8(void **state)
{
	static const uint16_t text[] = {'a', 0x2603, 0xd83d, 0xde00, 0xd83d, 'b', 0xde00};
	char out[32];

	(void)state;
	assert_int_equal(utf16_to_utf8(text, 7, out, sizeof(out)), 11);
	assert_string_equal(out, "a\xe2\x98\x83\xf0\x9f\x98\x80?b?");
	assert_int_equal(utf16_to_utf8(text, 3, out, sizeof(out)), 5);
	assert_int_equal(utf16_to_utf8(text, 7, out, 8), 4);
	assert_string_equal(out, "a\xe2\x98\x83");
}

#define STRING_KLASS 0x800010ull

/* A String at the image's base + 0x100, its array at + 0x200. */
static uint64_t string_fill(struct image *i, struct jvm_layout *l, bool compressed, uint8_t coder,
			    const void *bytes, uint32_t len)
{
	uint64_t string = IMAGE_BASE + 0x100, array = IMAGE_BASE + 0x200;

	image_clear(i);
	*l = (struct jvm_layout){
		.oop_klass = 8,
		.compressed_klass = compressed,
		.compressed_oops = compressed,
		.narrow_klass_base = 0x800000,
		.narrow_oop_base = IMAGE_BASE - 0x1000,
		.narrow_oop_shift = 3,
		.string_value = compressed ? 20 : 24,
		.string_coder = 16,
		.array_data = ARRAY_DATA_ALIGNED,
	};
	layout_arrays(l);
	if (compressed) {
		image_u32(i, string + 8, 0x10);
		image_u32(i, string + 20, (uint32_t)((array - l->narrow_oop_base) >> 3));
		image_u32(i, array + 12, len);
		image_put(i, array + 16, bytes, len);
	} else {
		image_u64(i, string + 8, STRING_KLASS);
		image_u64(i, string + 24, array);
		image_u32(i, array + 16, len);
		image_put(i, array + 24, bytes, len);
	}
	image_put(i, string + 16, &coder, 1);
	return string;
}

static void strings_are_read(void **state)
{
	static struct image i;
	struct jvm_layout l;
	char out[32];

	(void)state;
	for (int compressed = 0; compressed < 2; compressed++) {
		uint64_t oop = string_fill(&i, &l, compressed, 0, "main", 4);

		assert_int_equal(oop_string(&i.mem, &l, STRING_KLASS, oop, out, sizeof(out)), 0);
		assert_string_equal(out, "main");
		oop = string_fill(&i, &l, compressed, 1, "m\0\x03\x26", 4);
		assert_int_equal(oop_string(&i.mem, &l, STRING_KLASS, oop, out, sizeof(out)), 0);
		assert_string_equal(out, "m\xe2\x98\x83");
		assert_int_equal(oop_string(&i.mem, &l, STRING_KLASS + 8, oop, out, sizeof(out)),
				 -EPROTO);
		string_fill(&i, &l, compressed, 7, "main", 4);
		assert_int_equal(oop_string(&i.mem, &l, STRING_KLASS, oop, out, sizeof(out)),
				 -EPROTO);
		string_fill(&i, &l, compressed, 0, "", 0);
		assert_int_equal(oop_string(&i.mem, &l, STRING_KLASS, oop, out, sizeof(out)), 0);
		assert_string_equal(out, "");
		image_u32(&i, IMAGE_BASE + 0x200 + (compressed ? 12 : 16), 0xffffffff);
		assert_int_equal(oop_string(&i.mem, &l, STRING_KLASS, oop, out, sizeof(out)),
				 -EPROTO);
		assert_int_equal(oop_string(&i.mem, &l, STRING_KLASS, 8, out, sizeof(out)),
				 -EFAULT);
	}
}

/* From JDK 23 on they follow their array's length at once; a version that is not known is not read
 * where that makes a difference. */
static void bytes_begin_where_the_version_says(void **state)
{
	static struct image i;
	struct jvm_layout l;
	char out[32];
	uint64_t oop = string_fill(&i, &l, false, 0, "main", 4);

	(void)state;
	image_put(&i, IMAGE_BASE + 0x200 + 20, "pack", 4);
	l.array_data = ARRAY_DATA_PACKED;
	layout_arrays(&l);
	assert_int_equal(oop_string(&i.mem, &l, STRING_KLASS, oop, out, sizeof(out)), 0);
	assert_string_equal(out, "pack");
	l.array_data = ARRAY_DATA_UNKNOWN;
	layout_arrays(&l);
	assert_int_equal(oop_string(&i.mem, &l, STRING_KLASS, oop, out, sizeof(out)), -ENOTSUP);
	oop = string_fill(&i, &l, true, 0, "main", 4);
	for (int data = ARRAY_DATA_UNKNOWN; data <= ARRAY_DATA_PACKED; data++) {
		l.array_data = (enum array_data)data;
		layout_arrays(&l);
		assert_int_equal(oop_string(&i.mem, &l, STRING_KLASS, oop, out, sizeof(out)), 0);
		assert_string_equal(out, "main");
	}
}

/* Shenandoah: what is written goes to the copy, and references follow later. */
static void a_copy_is_followed(void **state)
{
	static struct image i;
	struct jvm_layout l;
	uint64_t oop = string_fill(&i, &l, false, 0, "main", 4), handle = IMAGE_BASE + 0x300, ret;
	uint64_t old = IMAGE_BASE + 0x380;

	(void)state;
	image_u64(&i, handle, old);
	image_u64(&i, old, oop | 3);
	assert_int_equal(oop_handle(&i.mem, &l, handle, &ret), 0);
	assert_true(ret == old);
	l.forwards = true;
	assert_int_equal(oop_handle(&i.mem, &l, handle, &ret), 0);
	assert_true(ret == oop);
	assert_int_equal(oop_field(&i.mem, &l, handle, &ret), 0);
	assert_true(ret == oop);
	image_u64(&i, old, 2); /* it has a monitor */
	assert_int_equal(oop_handle(&i.mem, &l, handle, &ret), 0);
	assert_true(ret == old);
	image_u64(&i, handle, 0);
	assert_int_equal(oop_handle(&i.mem, &l, handle, &ret), 0);
	assert_true(ret == 0);
	image_u64(&i, handle, 8);
	assert_int_equal(oop_handle(&i.mem, &l, handle, &ret), -EFAULT);
}

static void null_is_null(void **state)
{
	static struct image i;
	struct jvm_layout l;
	uint64_t value = 1;

	(void)state;
	string_fill(&i, &l, true, 0, "", 0);
	assert_int_equal(oop_field(&i.mem, &l, IMAGE_BASE, &value), 0);
	assert_int_equal(value, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(latin1_becomes_utf8),
		cmocka_unit_test(utf16_becomes_utf8),
		cmocka_unit_test(strings_are_read),
		cmocka_unit_test(bytes_begin_where_the_version_says),
		cmocka_unit_test(a_copy_is_followed),
		cmocka_unit_test(null_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
