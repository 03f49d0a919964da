/* jvm/target/mem_ahead.c: a little more is read at once, and known until it is forgotten. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "jvm/target/mem_ahead.h"

#define BEGIN UINT64_C(0x10080) /* all from here to END can be read */
#define END UINT64_C(0x20000)

static unsigned reads;
static unsigned char value;

static int read_some(const struct mem *m, uint64_t addr, void *ret, size_t len)
{
	(void)m;
	reads++;
	if (addr < BEGIN || addr > END || len > END - addr)
		return -EFAULT;
	for (size_t i = 0; i < len; i++)
		((unsigned char *)ret)[i] = (unsigned char)((addr + i) * 7 + value);
	return 0;
}

static const struct mem mem = {.read = read_some};

static void expect(struct mem_ahead *a, uint64_t addr, size_t len)
{
	unsigned char got[1000];

	assert_true(len <= sizeof(got));
	assert_int_equal(a->mem.read(&a->mem, addr, got, len), 0);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(got[i], (unsigned char)((addr + i) * 7));
}

static void fields_of_an_object_are_one_read(void **state)
{
	struct mem_ahead a;

	(void)state;
	mem_ahead_open(&a, &mem);
	reads = 0;
	for (uint64_t at = 0; at < 128; at += 8)
		expect(&a, 0x12310 + at, 8);
	assert_int_equal(reads, 1);
	/* Three more, and the first is known still. */
	expect(&a, 0x13000, 4);
	expect(&a, 0x14000, 1);
	expect(&a, 0x15000, 2);
	expect(&a, 0x12310, 8);
	assert_int_equal(reads, 4);
	expect(&a, 0x16000, 8);
	expect(&a, 0x12310, 8);
	assert_int_equal(reads, 6);
}

static void it_is_known_until_it_is_forgotten(void **state)
{
	struct mem_ahead a;
	unsigned char got;

	(void)state;
	mem_ahead_open(&a, &mem);
	expect(&a, 0x12000, 1);
	value = 1;
	expect(&a, 0x12000, 1);
	mem_ahead_forget(&a);
	assert_int_equal(a.mem.read(&a.mem, 0x12000, &got, 1), 0);
	assert_int_equal(got, (unsigned char)(0x12000 * 7 + 1));
	value = 0;
}

/* At the begin and the end of what can be read, and more at once than is kept. */
static void nothing_more_need_be_there(void **state)
{
	struct mem_ahead a;
	char got[8];

	(void)state;
	mem_ahead_open(&a, &mem);
	for (uint64_t at = BEGIN; at < BEGIN + 600; at += 3)
		expect(&a, at, 8);
	for (uint64_t at = END - 600; at <= END - 8; at += 3)
		expect(&a, at, 8);
	expect(&a, 0x12000, 1000);
	expect(&a, 0x12345, 250);
	assert_int_equal(a.mem.read(&a.mem, BEGIN - 1, got, 2), -EFAULT);
	assert_int_equal(a.mem.read(&a.mem, END - 7, got, 8), -EFAULT);
	assert_int_equal(a.mem.read(&a.mem, UINT64_MAX - 3, got, 8), -EFAULT);
	expect(&a, END - 8, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_of_an_object_are_one_read),
		cmocka_unit_test(it_is_known_until_it_is_forgotten),
		cmocka_unit_test(nothing_more_need_be_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
