/* jvm/target/mem_lines.c: each line is read once until all are forgotten. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "jvm/target/mem_lines.h"
#include "tests/unit/alloc_fail.h"

#define HOLE 0x7000u /* cannot be read, from here to the next line */
#define END UINT64_C(0x80000000) /* the process has ended, whoever reads here */

static struct mem_lines lines;
static unsigned reads;
static unsigned char value;

static int read_any(const struct mem *m, uint64_t addr, void *ret, size_t len)
{
	(void)m;
	reads++;
	if (addr >= END)
		return -ESRCH;
	if (addr == HOLE)
		return -EFAULT;
	for (size_t i = 0; i < len; i++)
		((unsigned char *)ret)[i] = (unsigned char)(addr + i + value);
	return 0;
}

static const struct mem mem = {.read = read_any};

static void each_line_is_read_once(void **state)
{
	unsigned char got[16];

	(void)state;
	memset(&lines, 0, sizeof(lines));
	reads = 0;
	for (uint64_t addr = 0; addr < 4096; addr++) {
		assert_int_equal(mem_lines_read(&lines, &mem, addr, got, sizeof(got)), 0);
		for (size_t i = 0; i < sizeof(got); i++)
			assert_int_equal(got[i], (unsigned char)(addr + i));
	}
	assert_int_equal(reads, 4096 / MEM_LINE_BYTES + 1);
	assert_int_equal(lines.count, reads);
	value = 3;
	assert_int_equal(mem_lines_read(&lines, &mem, 100, got, 1), 0);
	assert_int_equal(got[0], 100);
	mem_lines_forget(&lines);
	assert_int_equal(mem_lines_read(&lines, &mem, 100, got, 1), 0);
	assert_int_equal(got[0], 103);
	assert_int_equal(lines.count, 1);
	value = 0;
}

static void what_cannot_be_read_is_remembered_too(void **state)
{
	unsigned char got[MEM_LINE_BYTES + 1];

	(void)state;
	mem_lines_forget(&lines);
	reads = 0;
	assert_int_equal(mem_lines_read(&lines, &mem, HOLE - 8, got, 16), -EFAULT);
	assert_int_equal(mem_lines_read(&lines, &mem, HOLE + 8, got, 8), -EFAULT);
	assert_int_equal(reads, 2);
	assert_false(lines.gone);
	assert_int_equal(mem_lines_read(&lines, &mem, UINT64_MAX - 8, got, 16), -EFAULT);
	assert_int_equal(mem_lines_read(&lines, &mem, 0, got, sizeof(got)), -EFAULT);
	assert_int_equal(reads, 2);
	assert_int_equal(mem_lines_read(&lines, &mem, END, got, 8), -EFAULT);
	assert_true(lines.gone);
	mem_lines_forget(&lines);
	assert_false(lines.gone);
}

static void their_number_has_a_bound(void **state)
{
	uint64_t addr = 0, read;

	(void)state;
	mem_lines_forget(&lines);
	while (!mem_lines_read(&lines, &mem, addr * MEM_LINE_BYTES * 3, &read, 8) && addr < MEM_LINES_MAX)
		addr++;
	assert_int_equal(addr, MEM_LINES_MAX - 1);
	assert_int_equal(mem_lines_read(&lines, &mem, MEM_LINE_BYTES, &read, 8), -E2BIG);
	assert_int_equal(mem_lines_read(&lines, &mem, 0, &read, 8), 0);
	mem_lines_forget(&lines);
	assert_int_equal(mem_lines_read(&lines, &mem, MEM_LINE_BYTES, &read, 8), 0);
}

static void generations_come_round(void **state)
{
	uint64_t read;

	(void)state;
	memset(&lines, 0, sizeof(lines));
	assert_int_equal(mem_lines_read(&lines, &mem, 0, &read, 8), 0);
	assert_int_equal(lines.generation, 1);
	lines.generation = UINT32_MAX;
	mem_lines_forget(&lines);
	assert_int_equal(lines.generation, 1);
	reads = 0;
	assert_int_equal(mem_lines_read(&lines, &mem, 0, &read, 8), 0);
	assert_int_equal(reads, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_is_read_once),
		cmocka_unit_test(what_cannot_be_read_is_remembered_too),
		cmocka_unit_test(their_number_has_a_bound),
		cmocka_unit_test(generations_come_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
