#include "jvm/layout/vmstructs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "jvm/layout/flags.h"
#include "tests/unit/jvm/jvm_image.h"
#include "tests/unit/alloc_fail.h"

static const struct image_field fields[] = {
	{"Klass", "_name", "Symbol*", 0, 24},
	{"Klass", "_beyond", "int", 0, 4000},
	{"Klass", "_untold", NULL, 0, 8},
	{"Nowhere", "_x", "int", 0, 8},
	{"JVMFlag", "flags", "JVMFlag*", 1, IMAGE_BASE + 0x10000},
	{"JVMFlag", "numFlags", "size_t", 1, IMAGE_BASE + 0x10008},
	{"JVMFlag", "_addr", "void*", 0, 0},
	{"JVMFlag", "_name", "const char*", 0, 8},
	{"JVMFlag", "_flags", "JVMFlag::Flags", 0, 16},
	{NULL, NULL, NULL, 0, 0},
};
static const struct image_value types[] = {
	{"Klass", 208}, {"JVMFlag", 24}, {"Empty", 0}, {NULL, 0}};
static const struct image_value ints[] = {{"minus", (uint32_t)-3}, {"both", 1}, {NULL, 0}};
static const struct image_value longs[] = {{"big", 0x7fffffff00}, {"both", 2}, {NULL, 0}};

struct target {
	struct image image;
	uint64_t symbols[VMSYM_COUNT];
};

static void target_fill(struct target *t)
{
	image_clear(&t->image);
	image_tables(&t->image, fields, types, ints, longs, t->symbols);
}

static void tables_are_found(void **state)
{
	static struct target t;
	struct vmstructs *v;
	uint64_t addr;
	int64_t value;
	uint32_t n;

	(void)state;
	target_fill(&t);
	assert_int_equal(vmstructs_load(&t.image.mem, t.symbols, &v), 0);
	assert_int_equal(vmstructs_offset(v, "Klass", "_name", &n), 0);
	assert_int_equal(n, 24);
	assert_int_equal(vmstructs_offset(v, "Klass", "_beyond", &n), -EPROTO);
	assert_int_equal(vmstructs_offset(v, "Nowhere", "_x", &n), -EPROTO);
	assert_int_equal(vmstructs_offset(v, "Klass", "_nam", &n), -ENOENT);
	assert_int_equal(vmstructs_offset(v, "JVMFlag", "flags", &n), -ENOENT);
	assert_int_equal(vmstructs_address(v, "JVMFlag", "flags", &addr), 0);
	assert_true(addr == IMAGE_BASE + 0x10000);
	assert_int_equal(vmstructs_address(v, "Klass", "_name", &addr), -ENOENT);
	assert_string_equal(vmstructs_field_type(v, "Klass", "_name"), "Symbol*");
	assert_null(vmstructs_field_type(v, "Klass", "_untold"));
	assert_null(vmstructs_field_type(v, "Klass", "_none"));
	assert_int_equal(vmstructs_size(v, "Klass", &n), 0);
	assert_int_equal(n, 208);
	assert_int_equal(vmstructs_size(v, "Empty", &n), -ENOENT);
	assert_int_equal(vmstructs_constant(v, "minus", &value), 0);
	assert_int_equal(value, -3);
	assert_int_equal(vmstructs_constant(v, "big", &value), 0);
	assert_true(value == 0x7fffffff00);
	assert_int_equal(vmstructs_constant(v, "none", &value), -ENOENT);
	vmstructs_free(v);
	vmstructs_free(NULL);
}

static void before_relocation_it_says_so(void **state)
{
	static struct target t;
	struct vmstructs *v;
	uint64_t table;

	(void)state;
	target_fill(&t);
	image_u64(&t.image, t.symbols[VMSYM_TYPES], 0);
	assert_int_equal(vmstructs_load(&t.image.mem, t.symbols, &v), -EAGAIN);
	/* Half-way: the first table ends at once, as the others do. */
	target_fill(&t);
	for (enum vmsym s = 0; s < VMSYM_COUNT; s++) {
		if (s != VMSYM_STRUCTS && s != VMSYM_TYPES && s != VMSYM_INTS && s != VMSYM_LONGS)
			continue;
		assert_int_equal(mem_u64(&t.image.mem, t.symbols[s], &table), 0);
		image_u64(&t.image, table, 0);
	}
	assert_int_equal(vmstructs_load(&t.image.mem, t.symbols, &v), -EAGAIN);
}

static void strange_tables_are_refused(void **state)
{
	static struct target t;
	struct vmstructs *v;

	(void)state;
	target_fill(&t);
	image_u64(&t.image, t.symbols[VMSYM_STRUCT_STRIDE], 100000);
	assert_int_equal(vmstructs_load(&t.image.mem, t.symbols, &v), -EPROTO);
	target_fill(&t);
	image_u64(&t.image, t.symbols[VMSYM_STRUCT_OFFSET], 44);
	assert_int_equal(vmstructs_load(&t.image.mem, t.symbols, &v), -EPROTO);
	target_fill(&t);
	image_u64(&t.image, t.symbols[VMSYM_STRUCTS], 0x1234);
	assert_int_equal(vmstructs_load(&t.image.mem, t.symbols, &v), -EFAULT);
	target_fill(&t);
	t.symbols[VMSYM_TYPE_STRIDE] = 0;
	assert_int_equal(vmstructs_load(&t.image.mem, t.symbols, &v), -EFAULT);
}

/* An offset that wraps around lies before the table. */
static void offsets_lie_within_an_entry(void **state)
{
	static const enum vmsym all[] = {
		VMSYM_STRUCT_TYPE, VMSYM_STRUCT_FIELD, VMSYM_STRUCT_OFFSET, VMSYM_STRUCT_ADDRESS,
		VMSYM_TYPE_NAME,   VMSYM_TYPE_SIZE,    VMSYM_INT_NAME,      VMSYM_INT_VALUE,
		VMSYM_LONG_NAME,   VMSYM_LONG_VALUE};
	static struct target t;
	struct vmstructs *v;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		for (uint64_t before = 1; before <= 16; before++) {
			target_fill(&t);
			image_u64(&t.image, t.symbols[all[i]], -before);
			assert_int_equal(vmstructs_load(&t.image.mem, t.symbols, &v), -EPROTO);
		}
}

/* Whoever looks for its end in each of 60,000 names of one text of 60 MiB has no time left. */
static void names_without_an_end_are_none(void **state)
{
	static struct image i;
	struct mem_span span;
	const char *name;

	(void)state;
	image_clear(&i);
	memset(i.bytes, 'a', sizeof(i.bytes) - 4096);
	i.bytes[2000] = 0;
	i.bytes[5000] = 0;
	assert_int_equal(mem_span_read(&i.mem, IMAGE_BASE, IMAGE_BASE + 0x10000, &span), 0);
	assert_null(mem_span_string(&span, IMAGE_BASE));
	assert_null(mem_span_string(&span, IMAGE_BASE + 0x8000));
	assert_null(mem_span_string(&span, IMAGE_BASE + 2001));
	name = mem_span_string(&span, IMAGE_BASE + 2000 - 1023);
	assert_non_null(name);
	assert_int_equal(strlen(name), 1023);
	assert_null(mem_span_string(&span, IMAGE_BASE + 2000 - 1024));
	assert_null(mem_span_string(&span, IMAGE_BASE - 1));
	free(span.bytes);
	assert_int_equal(mem_span_read(&i.mem, IMAGE_BASE, IMAGE_BASE + (60u << 20), &span),
			 -E2BIG);
}

/* Every single byte of the tables may be wrong: no read outside, no endless loop. */
static void damage_is_survived(void **state)
{
	static struct target t;
	struct vmstructs *v;
	uint32_t n;

	(void)state;
	target_fill(&t);
	for (uint32_t at = 0; at < t.image.used; at++) {
		uint8_t was = t.image.bytes[at];

		t.image.bytes[at] ^= 0xff;
		if (!vmstructs_load(&t.image.mem, t.symbols, &v)) {
			vmstructs_offset(v, "Klass", "_name", &n);
			vmstructs_free(v);
		}
		t.image.bytes[at] = was;
	}
}

static void allocations_may_fail(void **state)
{
	static struct target t;
	struct vmstructs *v = NULL;
	unsigned long n = 0;
	int err;

	(void)state;
	target_fill(&t);
	do {
		alloc_fail_at(n++);
		err = vmstructs_load(&t.image.mem, t.symbols, &v);
		assert_true(err == 0 || err == -ENOMEM);
	} while (alloc_fail_off());
	assert_int_equal(err, 0);
	assert_true(n > 5);
	vmstructs_free(v);
}

/* Puts a flag table behind the tables of t. */
static struct vmstructs *flags_add(struct target *t)
{
	static const char *const names[] = {"UseG1GC", "DTraceMonitorProbes", "MaxHeapSize"};
	struct vmstructs *v;
	uint64_t table;

	table = image_room(&t->image, 3 * 24);
	image_u64(&t->image, IMAGE_BASE + 0x10000, table);
	image_u64(&t->image, IMAGE_BASE + 0x10008, 3);
	for (uint32_t i = 0; i < 3; i++) {
		image_u64(&t->image, table + i * 24, IMAGE_BASE + 0x10010 + i * 8);
		image_u64(&t->image, table + i * 24 + 8, image_string(&t->image, names[i]));
	}
	image_u64(&t->image, IMAGE_BASE + 0x10010, 1);
	image_u64(&t->image, IMAGE_BASE + 0x10020, 0x40000000ull | 77);
	assert_int_equal(vmstructs_load(&t->image.mem, t->symbols, &v), 0);
	return v;
}

static struct vmstructs *flags_fill(struct target *t)
{
	target_fill(t);
	return flags_add(t);
}

/* JVMFlag::_flags is not there, or reaches past its entry. */
static void flags_without_origin(void **state)
{
	struct image_field own[sizeof(fields) / sizeof(*fields)];
	static struct target t;

	(void)state;
	for (int beyond = 0; beyond < 2; beyond++) {
		struct flag_table flags = {0};
		struct vmstructs *v;

		memcpy(own, fields, sizeof(own));
		for (size_t i = 0; own[i].type; i++)
			if (!strcmp(own[i].name, "_flags")) {
				own[i].name = beyond ? "_flags" : "_hidden";
				own[i].value = 21;
			}
		image_clear(&t.image);
		image_tables(&t.image, own, types, ints, longs, t.symbols);
		v = flags_add(&t);
		assert_int_equal(flag_table_load(&t.image.mem, v, &flags), 0);
		assert_int_equal(flags.count, 3);
		assert_true(flag_find(&flags, "MaxHeapSize")->addr != 0);
		assert_true(flag_find(&flags, "MaxHeapSize")->origin == 0);
		flag_table_free(&flags);
		vmstructs_free(v);
	}
}

static void flags_are_found_by_name(void **state)
{
	static struct target t;
	struct vmstructs *v = flags_fill(&t);
	struct flag_table flags = {0};
	bool on;

	(void)state;
	assert_null(flag_find(&flags, "UseG1GC"));
	assert_int_equal(flag_table_load(&t.image.mem, v, &flags), 0);
	assert_int_equal(flags.count, 3);
	assert_int_equal(flag_bool(&t.image.mem, &flags, "UseG1GC", &on), 0);
	assert_true(on);
	assert_int_equal(flag_bool(&t.image.mem, &flags, "DTraceMonitorProbes", &on), 0);
	assert_false(on);
	assert_int_equal(flag_bool(&t.image.mem, &flags, "MaxHeapSize", &on), -EINVAL);
	assert_int_equal(flag_bool(&t.image.mem, &flags, "NoSuchFlag", &on), -ENOENT);
	image_u64(&t.image, flag_find(&flags, "DTraceMonitorProbes")->origin, 77);
	image_u64(&t.image, flag_find(&flags, "MaxHeapSize")->origin, 78);
	assert_true(flag_find(&flags, "MaxHeapSize")->origin -
			    flag_find(&flags, "UseG1GC")->origin ==
		    48);
	assert_int_equal(flag_bool(&t.image.mem, &flags, "UseG1GC", &on), 0);
	flag_table_free(&flags);
	image_u64(&t.image, IMAGE_BASE + 0x10000, 0);
	assert_int_equal(flag_table_load(&t.image.mem, v, &flags), -EAGAIN);
	image_u64(&t.image, IMAGE_BASE + 0x10000, 8);
	assert_int_equal(flag_table_load(&t.image.mem, v, &flags), -EFAULT);
	image_u64(&t.image, IMAGE_BASE + 0x10008, 1ull << 40);
	assert_int_equal(flag_table_load(&t.image.mem, v, &flags), -ENOTSUP);
	vmstructs_free(v);
}

static void flag_allocations_may_fail(void **state)
{
	static struct target t;
	struct vmstructs *v = flags_fill(&t);
	struct flag_table flags = {0};
	unsigned long n = 0;
	int err;

	(void)state;
	do {
		alloc_fail_at(n++);
		err = flag_table_load(&t.image.mem, v, &flags);
		assert_true(err == 0 || err == -ENOMEM);
	} while (alloc_fail_off());
	assert_int_equal(err, 0);
	flag_table_free(&flags);
	vmstructs_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_found),
		cmocka_unit_test(before_relocation_it_says_so),
		cmocka_unit_test(strange_tables_are_refused),
		cmocka_unit_test(offsets_lie_within_an_entry),
		cmocka_unit_test(names_without_an_end_are_none),
		cmocka_unit_test(damage_is_survived),
		cmocka_unit_test(allocations_may_fail),
		cmocka_unit_test(flags_are_found_by_name),
		cmocka_unit_test(flags_without_origin),
		cmocka_unit_test(flag_allocations_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
