/* jvm/code/unlock.c: which scope of compiled code releases a lock. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "jvm/code/scopes.h"
#include "jvm/layout/code_layout.h"
#include "jvm/target/mem.h"
#include "tests/unit/alloc_fail.h"

#define AT 0x1000
#define PCS 0x800 /* in the image */

static const struct code_layout layout = {.pc_desc_size = 16, .pc_desc_pc = 0, .pc_desc_scope = 4};

static struct {
	uint8_t bytes[0x1000];
	uint32_t size; /* of the scopes so far */
	uint32_t pcs;
} image;

static int image_read(const struct mem *m, uint64_t addr, void *ret, size_t len)
{
	(void)m;
	if (addr < AT || addr - AT > sizeof(image.bytes) || len > sizeof(image.bytes) - (addr - AT))
		return -EFAULT;
	memcpy(ret, image.bytes + (addr - AT), len);
	return 0;
}

static const struct mem memory = {.read = image_read};

static int begin(void **state)
{
	(void)state;
	memset(&image, 0, sizeof(image));
	image.size = 1; /* 0 is no scope */
	return 0;
}

/* Numbers below 192 have one byte. */
static uint32_t scope(uint32_t sender, uint8_t method, uint8_t bci, bool locks)
{
	uint8_t n[] = {(uint8_t)sender, method, bci, 0, 0, locks ? 7 : 0};
	uint32_t at = image.size;

	memcpy(image.bytes + at, n, sizeof(n));
	image.size += sizeof(n);
	return at;
}

static void pc(uint32_t offset, uint32_t scope)
{
	uint32_t desc[4] = {offset, scope};

	memcpy(image.bytes + PCS + 16 * (size_t)image.pcs++, desc, sizeof(desc));
}

static int find(uint32_t offset, uint32_t *ret_scope, bool *ret_only)
{
	struct scopes s = {
		.data = AT, .data_size = image.size, .pcs = AT + PCS, .pc_count = image.pcs};

	return scopes_unlock(&memory, &layout, &s, offset, ret_scope, ret_only);
}

static void the_only_one_that_locks_is_found_from_everywhere(void **state)
{
	uint32_t outer = scope(0, 1, 5, false), inner = scope(outer, 2, 8, true), ret;
	bool only;

	(void)state;
	pc(10, outer);
	pc(20, inner);
	pc(30, outer);
	for (uint32_t offset = 0; offset < 50; offset += 5) {
		assert_int_equal(find(offset, &ret, &only), 0);
		assert_int_equal(ret, inner);
		assert_true(only);
	}
}

static void what_is_inlined_within_the_lock_is_left_out(void **state)
{
	uint32_t locks = scope(0, 1, 5, true), called = scope(locks, 2, 8, false), ret;
	bool only;

	(void)state;
	pc(10, called);
	assert_int_equal(find(40, &ret, &only), 0);
	assert_int_equal(ret, locks);
	assert_true(only);
}

static void bytecode_indices_of_one_method_are_one(void **state)
{
	uint32_t a = scope(0, 1, 5, true), b = scope(0, 1, 9, true), ret;
	bool only;

	(void)state;
	pc(10, a);
	pc(20, b);
	assert_int_equal(find(40, &ret, &only), 0);
	assert_int_equal(ret, b);
	assert_true(only);
}

static void of_several_the_last_before_the_call_is_taken(void **state)
{
	uint32_t root = scope(0, 1, 5, false), ret;
	uint32_t a = scope(root, 2, 8, true), b = scope(root, 3, 8, true);
	bool only;

	(void)state;
	pc(10, root);
	pc(20, a);
	pc(30, b);
	assert_int_equal(find(25, &ret, &only), 0);
	assert_int_equal(ret, a);
	assert_false(only);
	assert_int_equal(find(35, &ret, &only), 0);
	assert_int_equal(ret, b);
	assert_int_equal(find(15, &ret, &only), 0);
	assert_int_equal(ret, a);
}

static void callers_at_other_bytecodes_are_others(void **state)
{
	uint32_t first = scope(0, 1, 5, false), second = scope(0, 1, 6, false), ret;
	uint32_t a = scope(first, 2, 8, true), b = scope(second, 2, 8, true);
	bool only;

	(void)state;
	pc(20, a);
	pc(30, b);
	assert_int_equal(find(25, &ret, &only), 0);
	assert_int_equal(ret, a);
	assert_false(only);
}

static void nothing_that_locks_and_nonsense(void **state)
{
	uint32_t ret = 99;
	bool only;

	(void)state;
	assert_int_equal(find(5, &ret, &only), -ENOENT);
	pc(10, scope(0, 1, 5, false));
	assert_int_equal(find(5, &ret, &only), -ENOENT);
	/* A sender behind its scope, an offset behind the data, data that ends in a scope. */
	pc(20, scope(180, 1, 5, true));
	pc(30, 4000);
	pc(40, image.size - 2);
	assert_int_equal(find(5, &ret, &only), -ENOENT);
	assert_int_equal(ret, 99);
}

static void what_is_too_large_or_unreadable_is_refused(void **state)
{
	struct scopes s = {.data = AT, .data_size = 10, .pcs = AT + PCS, .pc_count = 1u << 20};
	uint32_t ret;
	bool only;

	(void)state;
	assert_int_equal(scopes_unlock(&memory, &layout, &s, 0, &ret, &only), -EPROTO);
	s.pc_count = 1;
	s.data_size = 1u << 30;
	assert_int_equal(scopes_unlock(&memory, &layout, &s, 0, &ret, &only), -EPROTO);
	s.data_size = 10;
	s.data = 1;
	assert_int_equal(scopes_unlock(&memory, &layout, &s, 0, &ret, &only), -EFAULT);
}

static void memory_may_run_out(void **state)
{
	uint32_t ret;
	bool only, failed = true;

	(void)state;
	pc(10, scope(0, 1, 5, true));
	for (unsigned long n = 0; failed; n++) {
		int err;

		alloc_fail_at(n);
		err = find(5, &ret, &only);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
	const struct CMUnitTest tests[] = {
		TEST(the_only_one_that_locks_is_found_from_everywhere),
		TEST(what_is_inlined_within_the_lock_is_left_out),
		TEST(bytecode_indices_of_one_method_are_one),
		TEST(of_several_the_last_before_the_call_is_taken),
		TEST(callers_at_other_bytecodes_are_others),
		TEST(nothing_that_locks_and_nonsense),
		TEST(what_is_too_large_or_unreadable_is_refused),
		TEST(memory_may_run_out),
	};

	return cmocka_run_group_tests_name("unlock", tests, NULL, NULL);
}
