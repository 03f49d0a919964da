/* steal/compare.c: proportional against exact: rows of two sources side by side, and how far they are apart. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "steal/compare.h"
#include "steal_samples.h"
#include "tests/unit/alloc_fail.h"

/* tid, pid, CPU time without stolen time, stolen exactly, stolen proportionally; in ms. */
struct line {
	int32_t tid, pid;
	uint64_t cpu_ms, exact_ms, proportional_ms;
};

static struct steal_span span_of(struct steal_use *to, const struct line *lines, size_t count)
{
	struct steal_span s = {.threads = to, .thread_count = count, .exact = true};

	for (size_t i = 0; i < count; i++) {
		to[i] = (struct steal_use){.tid = lines[i].tid,
					   .pid = lines[i].pid,
					   .start_ticks = 7,
					   .cpu_ns = lines[i].cpu_ms * MS,
					   .stolen_ns = {lines[i].exact_ms * MS, lines[i].proportional_ms * MS}};
		for (int m = 0; m < STEAL_METHOD_COUNT; m++)
			s.threads_ns[m] += to[i].stolen_ns[m];
	}
	return s;
}

static struct steal_error compare(const struct line *lines, size_t count, uint64_t least_ns)
{
	struct steal_use rows[ROWS_MAX];
	struct steal_span s = span_of(rows, lines, count);
	struct steal_error e;

	assert_int_equal(steal_compare(&s, least_ns, &e), 0);
	return e;
}

static void what_is_misplaced(void **state)
{
	/* Hofer, figure 5.1: T3 is charged with half a second of T2's. */
	static const struct line figure[] = {
		{1, 9, 5000, 5000, 5000}, {2, 9, 4000, 5000, 4500}, {3, 9, 1000, 0, 500}};
	static const struct line same[] = {{1, 9, 100, 50, 50}, {2, 8, 100, 20, 20}};
	/* What was stolen while a CPU was idle is shared out, too. */
	static const struct line more[] = {{1, 9, 100, 50, 60}, {2, 8, 100, 20, 30}};
	struct steal_error e = compare(figure, 3, 0);

	(void)state;
	assert_int_equal(e.misplaced_ns, 500 * MS);
	assert_int_equal(e.exact_ns, 10 * S);
	assert_int_equal(e.threads, 3);
	assert_int_equal(e.median_ppm, 125000);
	assert_int_equal(e.max_ppm, 500000);
	assert_int_equal(e.top.tid, 3);
	assert_int_equal(compare(same, 2, 0).misplaced_ns, 0);
	assert_int_equal(compare(more, 2, 0).misplaced_ns, 20 * MS);
	assert_int_equal(compare(figure, 0, 0).misplaced_ns, 0);
}

static void little_use_is_not_judged(void **state)
{
	static const struct line lines[] = {{1, 9, 5000, 500, 400}, {2, 9, 99, 1, 101}, {3, 9, 0, 10, 10}};
	struct steal_error e = compare(lines, 3, 100 * MS);

	(void)state;
	assert_int_equal(e.threads, 1);
	assert_int_equal(e.max_ppm, 20000);
	assert_int_equal(compare(lines, 3, 6 * S).threads, 0);
}

/* Proportional has the ended threads of a process as one row; exact has each. */
static void ended_threads_are_compared_as_one(void **state)
{
	static const struct line lines[] = {{0, 9, 0, 0, 60}, {5, 9, 100, 40, 0}, {6, 9, 100, 20, 0},
					    {7, 8, 100, 30, 0}, {1, 8, 100, 0, 30}};

	(void)state;
	assert_int_equal(compare(lines, 3, 0).misplaced_ns, 0);
	assert_int_equal(compare(lines, 5, 0).misplaced_ns, 30 * MS);
}

static void rows_of_two_sources(void **state)
{
	static const struct line of_exact[] = {{1, 9, 100, 50, 44}, {2, 9, 100, 30, 33}, {5, 9, 10, 1, 2}};
	static const struct line of_other[] = {{0, 9, 10, 0, 3}, {2, 9, 90, 0, 20}, {1, 9, 90, 0, 61}};
	struct steal_use a[3], b[3];
	struct steal_span exact = span_of(a, of_exact, 3), other = span_of(b, of_other, 3), joined;

	(void)state;
	other.others_ns[STEAL_PROPORTIONAL] = 4 * MS;
	assert_int_equal(steal_span_join(&exact, &other, &joined), 0);
	assert_int_equal(joined.thread_count, 4);
	assert_int_equal(row(&joined, 1).stolen_ns[STEAL_PROPORTIONAL], 61 * MS);
	assert_int_equal(row(&joined, 1).stolen_ns[STEAL_EXACT], 50 * MS);
	assert_int_equal(row(&joined, 1).cpu_ns, 100 * MS);
	assert_int_equal(row(&joined, 2).stolen_ns[STEAL_PROPORTIONAL], 20 * MS);
	assert_int_equal(row(&joined, 5).stolen_ns[STEAL_PROPORTIONAL], 0);
	assert_int_equal(row(&joined, 0).stolen_ns[STEAL_PROPORTIONAL], 3 * MS);
	assert_int_equal(row(&joined, 0).cpu_ns, 0);
	assert_int_equal(joined.threads_ns[STEAL_PROPORTIONAL], 84 * MS);
	assert_int_equal(joined.others_ns[STEAL_PROPORTIONAL], 4 * MS);
	assert_int_equal(joined.threads_ns[STEAL_EXACT], 81 * MS);
	assert_int_equal(joined.threads[0].tid, 1); /* the most stolen first */
	free(joined.threads);
	exact.thread_count = other.thread_count = 0;
	assert_int_equal(steal_span_join(&exact, &other, &joined), 0);
	assert_int_equal(joined.thread_count, 0);
	free(joined.threads);
}

static void without_memory(void **state)
{
	static const struct line lines[] = {{1, 9, 100, 50, 44}};
	struct steal_use rows[1];
	struct steal_span s = span_of(rows, lines, 1), joined;
	struct steal_error e;
	unsigned long n = 0;

	(void)state;
	for (bool failed = true; failed; n++) {
		int err;

		alloc_fail_at(n);
		err = steal_compare(&s, 0, &e);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
	}
	assert_int_equal(n, 3);
	alloc_fail_at(0);
	assert_int_equal(steal_span_join(&s, &s, &joined), -ENOMEM);
	assert_true(alloc_fail_off());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_misplaced),
		cmocka_unit_test(little_use_is_not_judged),
		cmocka_unit_test(ended_threads_are_compared_as_one),
		cmocka_unit_test(rows_of_two_sources),
		cmocka_unit_test(without_memory),
	};

	return cmocka_run_group_tests_name("steal_compare", tests, NULL, NULL);
}
