/* What windows of states may take, whatever a log asks for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/threads/state_windows.h"
#include "tests/unit/alloc_fail.h"

#define BEGIN_NS 1000
#define WINDOW_NS 1000
#define FAR_NS (BEGIN_NS + 2ull * COURSE_WINDOWS_MAX * WINDOW_NS)

/* Each thread has one interval, as long as all windows that may be. */
static struct state_windows far_windows(uint32_t threads, uint32_t most)
{
	const struct state_step step = {.states.ns[STATE_RUNNING] = FAR_NS - BEGIN_NS};
	struct state_windows c = {.options = {.from_ns = BEGIN_NS,
					      .to_ns = UINT64_MAX,
					      .window_ns = WINDOW_NS,
					      .sample_ns = WINDOW_NS,
					      .most = most}};

	assert_int_equal(state_windows_moment(&c, BEGIN_NS), 0);
	assert_int_equal(state_windows_moment(&c, FAR_NS), 0);
	for (uint32_t i = 0; i < threads; i++)
		assert_int_equal(state_windows_add(&c, i, BEGIN_NS, FAR_NS, &step), 0);
	assert_int_equal(state_windows_finish(&c), 0);
	return c;
}

static void more_rows_than_fit(void **state)
{
	const uint32_t fit = COURSE_ROWS_MAX / COURSE_WINDOWS_MAX;
	struct state_windows c = far_windows(fit, 0);

	(void)state;
	assert_true(c.full);
	assert_false(c.crowded);
	assert_int_equal(c.row_count, fit * COURSE_WINDOWS_MAX);
	state_windows_free(&c);
	c = far_windows(fit + 1, 0);
	assert_true(c.crowded);
	assert_int_equal(c.row_count, COURSE_ROWS_MAX);
	state_windows_free(&c);
}

/* Windows that nobody has asked for become longer, and all threads have room. */
static void windows_that_become_longer(void **state)
{
	const uint32_t threads = COURSE_ROWS_MAX / 8;
	const struct state_step step = {.states.ns[STATE_RUNNING] = WINDOW_NS};
	struct state_windows c = {.options = {.from_ns = BEGIN_NS,
					      .to_ns = UINT64_MAX,
					      .window_ns = WINDOW_NS,
					      .sample_ns = WINDOW_NS,
					      .from_begin = true,
					      .most = 60}};
	uint64_t sum = 0;

	(void)state;
	for (uint64_t ns = BEGIN_NS; ns <= BEGIN_NS + 20 * WINDOW_NS; ns += WINDOW_NS) {
		assert_int_equal(state_windows_moment(&c, ns), 0);
		for (uint32_t i = 0; i < threads; i++)
			assert_int_equal(state_windows_add(&c, i, ns - WINDOW_NS, ns, &step), 0);
	}
	assert_int_equal(state_windows_finish(&c), 0);
	assert_false(c.crowded);
	for (uint32_t i = 0; i < c.window_count; i++)
		sum += state_windows_states(&c, threads - 1, i).ns[STATE_RUNNING];
	assert_int_equal(sum, 21 * WINDOW_NS);
	state_windows_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_rows_than_fit),
		cmocka_unit_test(windows_that_become_longer),
	};

	return cmocka_run_group_tests_name("analyze_windows", tests, NULL, NULL);
}
