#include "jvm/layout/klass.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "jvm/layout/unsigned5.h"
#include "tests/unit/jvm/jvm_image.h"
#include "tests/unit/alloc_fail.h"

/* The shape of JDK 17, in so far as it matters. */
static const struct klass_shape shape_17 = {
	.klass_size = 208,
	.klass_name = 24,
	.klass_next_link = 144,
	.klass_super_check_offset = 20,
	.symbol_length = 4,
	.symbol_body = 6,
	.ik_constants = 232,
	.ik_fields = 456,
	.ik_java_fields_count = 310,
	.pool_size = 72,
	.pool_length = 60,
	.u1_data = 4,
	.u2_data = 4,
	.field_slots = 6,
	.field_access = 0,
	.field_name = 1,
	.field_low = 4,
	.field_high = 5,
	.field_tag_size = 2,
	.field_tag_offset = 1,
	.cld_class_loader = 8,
	.cld_next = 112,
	.cld_klasses = 56,
	.cld_head = IMAGE_BASE,
};

#define INSTANCE_KLASS_SIZE 480
#define POOL_ENTRIES 8

static uint64_t symbol_put(struct image *i, const char *text)
{
	uint64_t addr = image_room(i, 6 + (uint32_t)strlen(text));

	image_u16(i, addr + 4, (uint16_t)strlen(text));
	image_put(i, addr + 6, text, strlen(text));
	return addr;
}

static uint64_t klass_put(struct image *i, const char *name, uint64_t next)
{
	uint64_t addr = image_room(i, INSTANCE_KLASS_SIZE);

	image_u64(i, addr + 24, symbol_put(i, name));
	image_u64(i, addr + 144, next);
	return addr;
}

/* A constant pool with the names; index 0 is never used. */
static void pool_put(struct image *i, uint64_t klass, const char *const names[POOL_ENTRIES])
{
	uint64_t pool = image_room(i, 72 + 8 * POOL_ENTRIES);

	image_u64(i, klass + 232, pool);
	image_u32(i, pool + 60, POOL_ENTRIES);
	for (uint32_t n = 1; n < POOL_ENTRIES; n++)
		image_u64(i, pool + 72 + 8 * n, names[n] ? symbol_put(i, names[n]) : 0);
}

static const char *const pool_names[POOL_ENTRIES] = {NULL,    "state",   "I",     "J",
						     "owner", "LOwner;", "later", NULL};

/* static int state; int state (16); Owner owner (0x12345, as a large offset); int later, not laid
 * out. */
static uint64_t class_17(struct image *i)
{
	static const uint16_t slots[] = {
		8,
		1,
		2,
		0,
		100 << 2 | 1,
		0,
		0,
		1,
		2,
		0,
		16 << 2 | 1,
		0,
		2,
		4,
		5,
		0,
		(0x1234 << 2 | 1) & 0xffff,
		0x1234 << 2 >> 16,
		0,
		6,
		2,
		0,
		0,
		0,
		/* Injected: its name is a number of vmSymbols, not an index of the pool. */
		0,
		1,
		3,
		0,
		24 << 2 | 1,
		0,
	};
	uint64_t klass, array;

	image_clear(i);
	image_room(i, 16);
	klass = klass_put(i, "Sync", 0);
	pool_put(i, klass, pool_names);
	array = image_room(i, 4 + sizeof(slots));
	image_u32(i, array, sizeof(slots) / 2);
	image_put(i, array + 4, slots, sizeof(slots));
	image_u64(i, klass + 456, array);
	image_u16(i, klass + 310, 4);
	return klass;
}

static void fields_of_17_are_found(void **state)
{
	static struct image i;
	uint64_t klass = class_17(&i);
	int32_t offset = -1;

	(void)state;
	assert_int_equal(klass_field(&i.mem, &shape_17, klass, "state", "I", &offset), 0);
	assert_int_equal(offset, 16);
	assert_int_equal(klass_field(&i.mem, &shape_17, klass, "owner", "LOwner;", &offset), 0);
	assert_int_equal(offset, 0x1234);
	assert_int_equal(klass_field(&i.mem, &shape_17, klass, "owner", "I", &offset), -ENOENT);
	assert_int_equal(klass_field(&i.mem, &shape_17, klass, "stat", "I", &offset), -ENOENT);
	/* The fifth is injected. */
	assert_int_equal(klass_field(&i.mem, &shape_17, klass, "state", "J", &offset), -ENOENT);
	assert_int_equal(klass_field(&i.mem, &shape_17, klass, "later", "I", &offset), -EAGAIN);
	assert_int_equal(offset, 0x1234);
}

static void half_loaded_classes_are_survived(void **state)
{
	static struct image i;
	uint64_t klass = class_17(&i);
	int32_t offset;

	(void)state;
	image_u16(&i, klass + 310, 6);
	assert_int_equal(klass_field(&i.mem, &shape_17, klass, "state", "J", &offset), -EPROTO);
	image_u64(&i, klass + 456, 0);
	assert_int_equal(klass_field(&i.mem, &shape_17, klass, "state", "I", &offset), -EAGAIN);
	image_u64(&i, klass + 456, 0x4000);
	assert_int_equal(klass_field(&i.mem, &shape_17, klass, "state", "I", &offset), -EFAULT);
	image_u64(&i, klass + 232, 0);
	assert_int_equal(klass_field(&i.mem, &shape_17, klass, "state", "I", &offset), -EAGAIN);
}

static struct klass_shape shape_21(void)
{
	struct klass_shape s = shape_17;

	s.field_stream = true;
	return s;
}

/* UNSIGNED5, as HotSpot writes it. */
static size_t number_put(uint8_t *out, uint32_t value)
{
	size_t n = 0;

	for (; value >= 191 && n < 4; value = (value - 191) >> 6)
		out[n++] = (uint8_t)(1 + 191 + ((value - 191) & 63));
	out[n++] = (uint8_t)(1 + value);
	return n;
}

static uint64_t class_21(struct image *i, size_t *ret_len, uint64_t *ret_array)
{
	/* Counts, then name, signature, offset, access, flags, and what the flags announce. */
	static const uint32_t numbers[] = {3, 1, 1, 2, 100, 8, 1, 7, 4, 5,  0x1234, 0, 4 | 16,
					   9, 9, 1, 2, 16,  0, 0, 1, 3, 24, 0,      2};
	uint8_t bytes[128];
	size_t len = 0;
	uint64_t klass;

	image_clear(i);
	image_room(i, 16);
	klass = klass_put(i, "Sync", 0);
	pool_put(i, klass, pool_names);
	for (size_t n = 0; n < sizeof(numbers) / sizeof(*numbers); n++)
		len += number_put(bytes + len, numbers[n]);
	*ret_array = image_room(i, 4 + (uint32_t)len);
	image_u32(i, *ret_array, (uint32_t)len);
	image_put(i, *ret_array + 4, bytes, len);
	image_u64(i, klass + 456, *ret_array);
	*ret_len = len;
	return klass;
}

static void fields_of_21_are_found(void **state)
{
	static struct image i;
	const struct klass_shape s = shape_21();
	uint64_t array, klass;
	int32_t offset;
	size_t len;

	(void)state;
	klass = class_21(&i, &len, &array);
	assert_int_equal(klass_field(&i.mem, &s, klass, "state", "I", &offset), 0);
	assert_int_equal(offset, 16);
	assert_int_equal(klass_field(&i.mem, &s, klass, "owner", "LOwner;", &offset), 0);
	assert_int_equal(offset, 0x1234);
	assert_int_equal(klass_field(&i.mem, &s, klass, "state", "J", &offset), -ENOENT);
	for (size_t cut = 1; cut < len - 5; cut++) {
		image_u32(&i, array, (uint32_t)cut);
		assert_int_equal(klass_field(&i.mem, &s, klass, "state", "J", &offset), -EPROTO);
	}
}

static void unsigned5_is_read(void **state)
{
	static const uint32_t numbers[] = {0,   1,     190,   191,    192,       254,
					   255, 12414, 12415, 0xffff, 0x1234567, 0xffffffff};
	uint8_t bytes[8];
	uint32_t value;

	(void)state;
	for (size_t n = 0; n < sizeof(numbers) / sizeof(*numbers); n++) {
		size_t at = 0, len = number_put(bytes, numbers[n]);

		assert_true(unsigned5_read(bytes, len, &at, 1, &value));
		assert_int_equal(at, len);
		assert_true(value == numbers[n]);
		at = 0;
		assert_false(unsigned5_read(bytes, len - 1, &at, 1, &value));
	}
	bytes[0] = 0;
	assert_false(unsigned5_read(bytes, 1, &(size_t){0}, 1, &value));
}

static void only_new_classes_are_looked_at(void **state)
{
	static struct image i;
	struct klass_walk w = {0};
	struct klass_query wanted[] = {{"a/B", 0}, {"a/C", 0}};
	uint64_t boot, app, a, b, c;

	(void)state;
	image_clear(&i);
	image_room(&i, 16);
	/* Nothing is there yet. */
	assert_int_equal(klass_walk(&i.mem, &shape_17, &w, wanted, 2), 0);
	boot = image_room(&i, 152);
	app = image_room(&i, 152);
	image_u64(&i, IMAGE_BASE, app);
	image_u64(&i, app + 8, 0x1234);
	image_u64(&i, app + 112, boot);
	a = klass_put(&i, "a/A", 0);
	image_u64(&i, boot + 56, a);
	assert_int_equal(klass_walk(&i.mem, &shape_17, &w, wanted, 2), 0);
	assert_true(w.boot == boot && w.seen == a);
	b = klass_put(&i, "a/B", a);
	image_u64(&i, boot + 56, b);
	/* Whoever goes on to the old ones finds this. */
	image_u64(&i, a + 24, symbol_put(&i, "a/C"));
	assert_int_equal(klass_walk(&i.mem, &shape_17, &w, wanted, 2), 1);
	assert_true(wanted[0].klass == b && !wanted[1].klass && w.seen == b);
	c = klass_put(&i, "a/C", b);
	image_u64(&i, boot + 56, c);
	assert_int_equal(klass_walk(&i.mem, &shape_17, &w, wanted, 2), 1);
	assert_true(wanted[1].klass == c);
	assert_int_equal(klass_walk(&i.mem, &shape_17, &w, wanted, 2), 0);
}

static void a_broken_list_ends(void **state)
{
	static struct image i;
	struct klass_walk w = {0};
	struct klass_query wanted = {"a/B", 0};
	uint64_t boot, a;

	(void)state;
	image_clear(&i);
	image_room(&i, 16);
	boot = image_room(&i, 152);
	image_u64(&i, IMAGE_BASE, boot);
	a = klass_put(&i, "a/A", 0);
	image_u64(&i, boot + 56, a);
	image_u64(&i, a + 144, 0x8);
	assert_int_equal(klass_walk(&i.mem, &shape_17, &w, &wanted, 1), -EFAULT);
	assert_true(w.seen == 0);
	/* In a circle: it is walked a million times, and in all walks together four. */
	image_u64(&i, a + 144, a);
	w.steps = 0;
	assert_int_equal(klass_walk(&i.mem, &shape_17, &w, &wanted, 1), 0);
	assert_int_equal(w.steps, 1000000);
	w.steps = KLASS_STEPS_MAX - 10;
	w.seen = 0;
	assert_int_equal(klass_walk(&i.mem, &shape_17, &w, &wanted, 1), 0);
	assert_int_equal(w.steps, KLASS_STEPS_MAX);
	w = (struct klass_walk){.steps = KLASS_STEPS_MAX - 5};
	image_u64(&i, boot + 112, boot);
	assert_int_equal(klass_walk(&i.mem, &shape_17, &w, &wanted, 1), 0);
	assert_int_equal(w.steps, KLASS_STEPS_MAX);
	image_u64(&i, boot + 112, 0);
	/* The last loader has to be the boot loader. */
	w = (struct klass_walk){0};
	image_u64(&i, boot + 8, 0x1234);
	assert_int_equal(klass_walk(&i.mem, &shape_17, &w, &wanted, 1), -EPROTO);
}

static void allocations_may_fail(void **state)
{
	static struct image i;
	uint64_t klass = class_17(&i);
	unsigned long n = 0;
	int32_t offset;
	int err;

	(void)state;
	do {
		alloc_fail_at(n++);
		err = klass_field(&i.mem, &shape_17, klass, "state", "I", &offset);
		assert_true(err == 0 || err == -ENOMEM);
	} while (alloc_fail_off());
	assert_int_equal(err, 0);
	assert_true(n > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_of_17_are_found),
		cmocka_unit_test(half_loaded_classes_are_survived),
		cmocka_unit_test(fields_of_21_are_found),
		cmocka_unit_test(unsigned5_is_read),
		cmocka_unit_test(only_new_classes_are_looked_at),
		cmocka_unit_test(a_broken_list_ends),
		cmocka_unit_test(allocations_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
