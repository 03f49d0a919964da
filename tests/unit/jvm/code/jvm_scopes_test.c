#include "jvm/code/scopes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "jvm/layout/unsigned5.h"
#include "tests/unit/jvm/jvm_code_image.h"
#include "tests/unit/alloc_fail.h"

static struct image image;

/* A number, as HotSpot 17 writes it. */
static size_t number_put(uint8_t *out, uint32_t value)
{
	size_t n = 0;

	for (; value >= 192 && n < 4; value = (value - 192) >> 6)
		out[n++] = (uint8_t)(192 + ((value - 192) & 63));
	out[n++] = (uint8_t)value;
	return n;
}

static void numbers_are_read(void **state)
{
	static const uint32_t numbers[] = {0,     1,     191,       192,        255,       256,
					   12479, 12480, 0x1234567, 0x7fffffff, 0xffffffff};
	uint8_t bytes[8];
	uint32_t value;

	(void)state;
	for (size_t n = 0; n < sizeof(numbers) / sizeof(*numbers); n++) {
		size_t at = 0, len = number_put(bytes, numbers[n]);

		assert_true(unsigned5_read(bytes, len, &at, 0, &value));
		assert_int_equal(at, len);
		assert_true(value == numbers[n]);
		at = 0;
		assert_false(unsigned5_read(bytes, len - 1, &at, 0, &value));
	}
	/* Five bytes at most, whatever the fifth is. */
	memset(bytes, 0xff, sizeof(bytes));
	assert_true(unsigned5_read(bytes, sizeof(bytes), &(size_t){0}, 0, &value));
}

static uint32_t line_of(const uint8_t *table, size_t len, uint32_t bci)
{
	const struct line_table t = {table, len, 0};
	uint32_t line = 77;
	size_t size;

	assert_int_equal(scopes_line(&t, bci, &line, &size), 0);
	assert_int_equal(size, len);
	return line;
}

static void lines_are_found(void **state)
{
	/* bci 0: line 200 (escape: 0, 400 zigzag); 3: 201; 10: 207; 4: 106, back by (-6, -101). */
	static const uint8_t table[] = {0xff, 0,  192 + 16, 3, 3 << 3 | 1, 7 << 3 | 6,
					0xff, 11, 192 + 9,  0, 0};
	static const uint8_t plain[] = {2 << 3 | 7, 5 << 3 | 3, 0};

	(void)state;
	assert_int_equal(line_of(table, sizeof(table), 0), 200);
	assert_int_equal(line_of(table, sizeof(table), 2), 200);
	assert_int_equal(line_of(table, sizeof(table), 3), 201);
	assert_int_equal(line_of(table, sizeof(table), 4), 106);
	assert_int_equal(line_of(table, sizeof(table), 9), 106);
	assert_int_equal(line_of(table, sizeof(table), 10), 207);
	assert_int_equal(line_of(table, sizeof(table), 60000), 207);
	/* Before the first entry there is none. */
	assert_int_equal(line_of(plain, sizeof(plain), 1), 0);
	assert_int_equal(line_of(plain, sizeof(plain), 2), 7);
	assert_int_equal(line_of(plain, sizeof(plain), 7), 10);
}

/* As Method::line_number_from_bci: an exact match ends the search, else the last of equals counts. */
static void of_equal_entries_one_is_taken(void **state)
{
	/* bci 4: lines 10 and, a step of (0, 1) further, 11. */
	static const uint8_t table[] = {0xff, 8, 20, 0 << 3 | 1, 0};

	(void)state;
	assert_int_equal(line_of(table, sizeof(table), 4), 10);
	assert_int_equal(line_of(table, sizeof(table), 5), 11);
}

static void strange_line_tables_are_refused(void **state)
{
	static const uint8_t table[] = {0xff, 0, 192 + 16, 3, 3 << 3 | 1, 0};
	static const uint8_t large[] = {0xff, 0, 192, 192, 192, 192, 1, 0};
	uint32_t line;

	(void)state;
	for (size_t cut = 0; cut < sizeof(table); cut++) {
		const struct line_table t = {table, cut, 0};

		assert_int_equal(scopes_line(&t, 0, &line, NULL), -EPROTO);
	}
	assert_int_equal(scopes_line(&(struct line_table){large, sizeof(large), 0}, 0, &line, NULL),
			 -EPROTO);
}

/* JDK 20 and later: each byte of a number is one more. */
static void numbers_without_zero_bytes_are_read(void **state)
{
	static const uint8_t table[] = {0xff, 1 + 8, 1 + 22, 0};
	const struct line_table t = {table, sizeof(table), 1};
	uint32_t line;

	(void)state;
	assert_int_equal(scopes_line(&t, 4, &line, NULL), 0);
	assert_int_equal(line, 11);
}

static struct scopes pcs_put(const int32_t *offsets, uint32_t count)
{
	struct scopes s = {.pc_count = count};

	image_clear(&image);
	s.pcs = image_room(&image, 16 * count);
	for (uint32_t i = 0; i < count; i++) {
		image_u32(&image, s.pcs + 16 * i, (uint32_t)offsets[i]);
		image_u32(&image, s.pcs + 16 * i + 4, 100 + i);
	}
	return s;
}

static void pcs_are_found(void **state)
{
	static const int32_t offsets[] = {-1, 5, 9, 30, 129};
	const struct code_layout l = code_image_layout();
	struct scopes s = pcs_put(offsets, 5);
	uint32_t scope = 0, offset = 0;

	(void)state;
	for (uint32_t at = 0; at < 140; at++) {
		int exact = scopes_pc_find(&image.mem, &l, &s, at, true, &scope, &offset);
		bool is = at == 5 || at == 9 || at == 30 || at == 129;

		assert_int_equal(exact, is ? 0 : -EPROTO);
		if (is)
			assert_int_equal(offset, at);
		if (at > 129) {
			assert_int_equal(
				scopes_pc_find(&image.mem, &l, &s, at, false, &scope, &offset),
				-EPROTO);
			continue;
		}
		assert_int_equal(scopes_pc_find(&image.mem, &l, &s, at, false, &scope, &offset), 0);
		assert_int_equal(offset, at <= 5 ? 5 : at <= 9 ? 9 : at <= 30 ? 30 : 129);
		assert_int_equal(scope, at <= 5 ? 101 : at <= 9 ? 102 : at <= 30 ? 103 : 104);
	}
	assert_int_equal(scopes_pc_find(&image.mem, &l, &s, UINT32_MAX, false, &scope, &offset),
			 -EPROTO);
	s.pc_count = 0;
	assert_int_equal(scopes_pc_find(&image.mem, &l, &s, 5, false, &scope, &offset), -EPROTO);
	s.pc_count = 0x0fffffff;
	assert_int_equal(scopes_pc_find(&image.mem, &l, &s, 5, false, &scope, &offset), -EFAULT);
}

/* Three scopes, each inlined into the one before: at 1, 5, 9. */
static const uint8_t chain[] = {0xff, 0, 2, 8, 0xff, 1, 1, 0, 0xff, 5, 2, 255, 0, 0};

static struct scopes chain_put(void)
{
	static const uint64_t metadata[] = {0x1111, 0x2222};
	struct scopes s = {.data_size = sizeof(chain), .metadata_count = 2};

	image_clear(&image);
	s.data = image_room(&image, sizeof(chain));
	image_put(&image, s.data, chain, sizeof(chain));
	s.metadata = image_room(&image, sizeof(metadata));
	image_put(&image, s.metadata, metadata, sizeof(metadata));
	return s;
}

static void scopes_are_read_innermost_first(void **state)
{
	struct scopes s = chain_put();
	struct scope out[4];

	(void)state;
	assert_int_equal(scopes_read(&image.mem, &s, 1, out, 4), 1);
	assert_true(out[0].method == 0x2222 && out[0].bci == 7);
	assert_int_equal(scopes_read(&image.mem, &s, 9, out, 4), 3);
	assert_true(out[0].method == 0x2222 && out[0].bci == 254);
	/* The entry of a synchronized method counts as its beginning. */
	assert_true(out[1].method == 0x1111 && out[1].bci == 0);
	assert_true(out[2].method == 0x2222 && out[2].bci == 7);
	assert_int_equal(scopes_read(&image.mem, &s, 9, out, 2), -EPROTO);
	assert_int_equal(scopes_read(&image.mem, &s, 9, out, 3), 3);
	assert_int_equal(scopes_read(&image.mem, &s, 0, out, 3), -EPROTO);
}

static void strange_scopes_are_refused(void **state)
{
	struct scopes s = chain_put();
	struct scope out[4];

	(void)state;
	assert_int_equal(scopes_read(&image.mem, &s, sizeof(chain), out, 4), -EPROTO);
	assert_int_equal(scopes_read(&image.mem, &s, 0xffffffff, out, 4), -EPROTO);
	s.data_size = 12;
	assert_int_equal(scopes_read(&image.mem, &s, 9, out, 4), -EPROTO);
	s = chain_put();
	s.metadata_count = 1;
	assert_int_equal(scopes_read(&image.mem, &s, 9, out, 4), -EPROTO);
	s = chain_put();
	image.bytes[s.data + 6 - IMAGE_BASE] = 0; /* no method */
	assert_int_equal(scopes_read(&image.mem, &s, 5, out, 4), -EPROTO);
	/* In a circle, and on itself. */
	s = chain_put();
	image.bytes[s.data + 1 - IMAGE_BASE] = 9;
	assert_int_equal(scopes_read(&image.mem, &s, 9, out, 4), -EPROTO);
	image.bytes[s.data + 1 - IMAGE_BASE] = 1;
	assert_int_equal(scopes_read(&image.mem, &s, 1, out, 4), -EPROTO);
	s = chain_put();
	s.data = 0x400;
	assert_int_equal(scopes_read(&image.mem, &s, 9, out, 4), -EFAULT);
	s = chain_put();
	s.metadata = 0x400;
	assert_int_equal(scopes_read(&image.mem, &s, 9, out, 4), -EFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_read),
		cmocka_unit_test(lines_are_found),
		cmocka_unit_test(of_equal_entries_one_is_taken),
		cmocka_unit_test(strange_line_tables_are_refused),
		cmocka_unit_test(numbers_without_zero_bytes_are_read),
		cmocka_unit_test(pcs_are_found),
		cmocka_unit_test(scopes_are_read_innermost_first),
		cmocka_unit_test(strange_scopes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
