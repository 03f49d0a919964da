/* Segments against a list of pointers to their elements, none of which may change. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/tables/segments.h"
#include "tests/unit/alloc_fail.h"

#define COUNT 5000u

struct row {
	uint64_t n;
	char rest[24];
};

static void elements_stay(void **state)
{
	static const struct row zero;
	static struct row *known[COUNT];
	struct segments s = {{NULL}};

	(void)state;
	for (uint32_t i = 0; i < COUNT; i++) {
		assert_int_equal(segments_reserve(&s, i, sizeof(struct row)), 0);
		known[i] = segments_at(&s, i, sizeof(struct row));
		assert_memory_equal(known[i], &zero, sizeof(zero));
		known[i]->n = i + 1;
		known[i]->rest[sizeof(zero.rest) - 1] = 1;
	}
	for (uint32_t i = 0; i < COUNT; i++) {
		assert_ptr_equal(segments_at(&s, i, sizeof(struct row)), known[i]);
		assert_int_equal(known[i]->n, i + 1);
	}
	segments_free(&s);
	segments_free(&s);
}

/* Places at both ends of each segment are next to each other, and the last one is in the directory.
 */
static void ends_of_segments(void **state)
{
	struct segment_position p = segments_find(0);
	uint32_t end = 0;

	(void)state;
	for (unsigned segment = 0; segment < SEGMENTS_MAX; segment++) {
		p = segments_find(end);
		assert_int_equal(p.segment, segment);
		assert_int_equal(p.at, 0);
		assert_int_equal(p.count, 16u << segment);
		end += p.count;
		p = segments_find(end - 1);
		assert_int_equal(p.segment, segment);
		assert_int_equal(p.at, p.count - 1);
	}
	assert_true(end > UINT32_MAX / 4);
}

static void too_many(void **state)
{
	struct segments s = {{NULL}};

	(void)state;
	assert_int_equal(segments_reserve(&s, UINT32_MAX / 4, 1), -ENOMEM);
	assert_int_equal(segments_reserve(&s, UINT32_MAX, 1), -ENOMEM);
	segments_free(&s);
}

static void nth_allocation_fails(void **state)
{
	struct segments s = {{NULL}};
	unsigned failed = 0;

	(void)state;
	for (uint32_t i = 0; i < 500; i++) {
		alloc_fail_at(0);
		failed += segments_reserve(&s, i, sizeof(uint32_t)) == -ENOMEM;
		alloc_fail_off();
		assert_int_equal(segments_reserve(&s, i, sizeof(uint32_t)), 0);
		*(uint32_t *)segments_at(&s, i, sizeof(uint32_t)) = i;
	}
	assert_int_equal(failed, 6); /* 16, 32, ... 512 */
	for (uint32_t i = 0; i < 500; i++)
		assert_int_equal(*(uint32_t *)segments_at(&s, i, sizeof(uint32_t)), i);
	segments_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_stay),
		cmocka_unit_test(ends_of_segments),
		cmocka_unit_test(too_many),
		cmocka_unit_test(nth_allocation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
