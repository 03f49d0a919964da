/* Counts that step back: what was moved from one state to another, and the windows that it was in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/threads/state_windows.h"
#include "tests/unit/alloc_fail.h"

static void assert_move(const struct state_move *move, enum state from, enum state to, uint64_t ns)
{
	assert_int_equal(move->from, from);
	assert_int_equal(move->to, to);
	assert_int_equal(move->ns, ns);
}

/* A move is what one state has given to another; counts that begin anew have given nothing. */
static void moves_of_a_step(void **state)
{
	struct states from = {{[STATE_RUNNING] = 100, [STATE_THROTTLED] = 50, [STATE_PAUSE] = 7}};
	struct states to = {{[STATE_RUNNING] = 60,
			     [STATE_STOLEN] = 30,
			     [STATE_SLEEP] = 30,
			     [STATE_RUNNABLE] = 50,
			     [STATE_PAUSE] = 9}};
	struct state_step step = states_step(&from, &to);

	(void)state;
	assert_int_equal(states_sum(&step.states), 179 - 157);
	assert_int_equal(step.states.ns[STATE_SLEEP], 20);
	assert_int_equal(step.states.ns[STATE_PAUSE], 2);
	assert_int_equal(step.move_count, 3);
	assert_move(&step.moves[0], STATE_RUNNING, STATE_STOLEN, 30);
	assert_move(&step.moves[1], STATE_THROTTLED, STATE_RUNNABLE, 50);
	assert_move(&step.moves[2], STATE_RUNNING, STATE_SLEEP, 10);
	step = states_step(&to, &(struct states){0});
	assert_int_equal(states_sum(&step.states), 0);
	assert_int_equal(step.move_count, 0);
}

/* All states lack something but one, and then all but one have grown. */
static void as_many_moves_as_states(void **state)
{
	struct states even = {{0}}, one = {{0}};
	struct state_step step;

	(void)state;
	for (int i = 0; i < STATE_COUNT; i++)
		even.ns[i] = 5;
	for (int i = 0; i < STATE_COUNT; i++) {
		one = (struct states){0};
		one.ns[i] = UINT64_MAX;
		step = states_step(&even, &one);
		assert_int_equal(step.move_count, STATE_COUNT - 1);
		step = states_step(&one, &even);
		assert_int_equal(step.move_count, STATE_COUNT - 1);
		assert_int_equal(states_sum(&step.states), 0);
	}
}

/* A thread's counts at the moments of its samples, and of its end. */
struct told {
	uint64_t ns, running, stolen;
	bool is_end;
};

static struct state_windows windows_of(uint64_t window_ns, const struct told *told, size_t count)
{
	struct state_windows w = {.options = {.to_ns = UINT64_MAX,
					      .window_ns = window_ns,
					      .sample_ns = 1000,
					      .from_begin = true}};
	struct states last = {{0}};
	uint64_t last_ns = 0;

	for (size_t i = 0; i < count; i++) {
		struct states now = {
			{[STATE_RUNNING] = told[i].running, [STATE_STOLEN] = told[i].stolen}};
		struct state_step step = states_step(&last, &now);

		if (!told[i].is_end)
			assert_int_equal(state_windows_moment(&w, told[i].ns), 0);
		assert_int_equal(state_windows_add(&w, 0, last_ns, told[i].ns, &step), 0);
		last = now;
		last_ns = told[i].ns;
	}
	assert_int_equal(state_windows_finish(&w), 0);
	return w;
}

static void assert_window(const struct state_windows *w, uint32_t window, uint64_t running,
			  uint64_t stolen)
{
	struct states s = state_windows_states(w, 0, window);

	assert_int_equal(s.ns[STATE_RUNNING], running);
	assert_int_equal(s.ns[STATE_STOLEN], stolen);
	assert_int_equal(states_sum(&s), running + stolen);
}

/*
 * For 1900 of 4000 its CPU was the hypervisor's, which is known at the end only: at 2000 and 3000 it
 * seemed to run. What was told of these windows is put right, and each is as long as it was.
 */
static void a_theft_that_is_told_later(void **state)
{
	const struct told told[] = {{1000, 1000, 0, false},
				    {2000, 2000, 0, false},
				    {3000, 3000, 0, false},
				    {4000, 2100, 1900, false}};
	struct state_windows w = windows_of(1000, told, 4);

	(void)state;
	assert_int_equal(w.window_count, 4);
	assert_window(&w, 0, 1000, 0);
	assert_window(&w, 1, 1000, 0);
	assert_window(&w, 2, 100, 900);
	assert_window(&w, 3, 0, 1000);
	state_windows_free(&w);
}

/* What is not in a window yet is put right, too. */
static void a_theft_that_the_end_tells(void **state)
{
	const struct told told[] = {{1000, 1000, 0, false},
				    {1400, 1400, 0, true},
				    {1500, 900, 600, true},
				    {1600, 1000, 600, true}};
	struct state_windows w = windows_of(2000, told, 4);

	(void)state;
	assert_int_equal(w.window_count, 1);
	assert_window(&w, 0, 1000, 600);
	state_windows_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves_of_a_step),
		cmocka_unit_test(as_many_moves_as_states),
		cmocka_unit_test(a_theft_that_is_told_later),
		cmocka_unit_test(a_theft_that_the_end_tells),
	};

	return cmocka_run_group_tests_name("analyze_steps", tests, NULL, NULL);
}
