/* What the call chains come to: the sums, and sentences that stay true. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/stacks/stacks.h"
#include "base/text/strbuf.h"
#include "log/read/names.h"
#include "report/model/finding_model.h"
#include "tests/unit/alloc_fail.h"

/* Chain n is one frame, in Table.n; chain 9 is unloaded code. */
static const char *const names[] = {NULL, "a", "b", "c", "d", "e"};
#define METHODS (sizeof(names) / sizeof(*names) - 1)
#define UNLOADED 9

static struct log_names *names_make(void)
{
	struct log_names *n = log_names_new();
	struct event stack = {.id = EVENT_STACK};

	assert_non_null(n);
	for (uint64_t i = 1; i <= METHODS; i++) {
		struct event method = {.id = EVENT_METHOD};

		method.v[METHOD_METHOD].u = i;
		method.v[METHOD_CLASS_NAME].s = "Table";
		method.v[METHOD_NAME].s = names[i];
		method.v[METHOD_SIGNATURE].s = "()V";
		method.v[METHOD_SOURCE].s = "";
		stack.v[STACK_STACK].u = i;
		stack.v[STACK_FRAME].u = FRAME_TYPE_C1;
		stack.v[STACK_METHOD].u = i;
		assert_int_equal(log_names_add(n, &method) | log_names_add(n, &stack), 0);
	}
	stack.v[STACK_STACK].u = UNLOADED;
	stack.v[STACK_FRAME].u = FRAME_TYPE_UNRESOLVED;
	stack.v[STACK_METHOD].u = 0;
	assert_int_equal(log_names_add(n, &stack), 0);
	return n;
}

static int setup(void **state)
{
	*state = stacks_new(names_make());
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct log_names *n = (struct log_names *)stacks_names(*state);

	stacks_free(*state);
	log_names_free(n);
	return 0;
}

static struct cell cell(uint64_t waiter_stack, uint64_t holder, uint64_t holder_stack,
			uint64_t blocked_ns)
{
	struct cell c = {.lock = 1,
			 .waiter = 2,
			 .holder = holder,
			 .waiter_stack = waiter_stack,
			 .holder_stack = holder_stack,
			 .blocked_ns = blocked_ns,
			 .monitor = true};

	if (holder_is_thread(holder))
		c.stack_from_ns[holder_stack ? HOLDER_STACK_RELEASE : HOLDER_STACK_UNKNOWN] =
			blocked_ns;
	return c;
}

static void says(const struct stacks *s, const struct cell *cells, uint32_t count,
		 const char *expected)
{
	struct strbuf text = {.most = 0};
	struct finding f;

	assert_int_equal(finding_make(s, cells, count, GROUP_BY_WORK, &f), 0);
	assert_int_equal(finding_text(s, &f, &text), 0);
	assert_string_equal(strbuf_text(&text), expected);
	strbuf_free(&text);
}

#define SAYS(cells, expected) says(*state, cells, sizeof(cells) / sizeof(*(cells)), expected)

static void one_method_one_cause(void **state)
{
	const struct cell cells[] = {cell(1, 7, 2, 80), cell(1, 7, 3, 10), cell(2, 7, 1, 4),
				     cell(1, HOLDER_HAND_OVER, 0, 3), cell(1, 7, 0, 3)};
	const struct cell same[] = {cell(1, 7, 1, 100)};
	const struct cell half[] = {cell(1, 7, 2, 50), cell(2, 7, 1, 25), cell(3, 7, 1, 25)};

	SAYS(cells, "96 % of the waiting is in Table.a, and 83 % of that is caused by Table.b.");
	SAYS(same, "100 % of the waiting is in Table.a, and 100 % of that is caused by other "
		   "threads in the same method.");
	SAYS(half, "50 % of the waiting is in Table.a, and 100 % of that is caused by Table.b.");
}

static void what_is_not_known_is_said(void **state)
{
	const struct cell some[] = {cell(1, 7, 2, 80), cell(1, 7, 0, 10),
				    cell(1, HOLDER_UNKNOWN, 0, 5), cell(1, 7, UNLOADED, 5)};
	const struct cell most[] = {cell(1, 7, 2, 30), cell(1, 7, 0, 40),
				    cell(1, HOLDER_UNKNOWN, 0, 30)};
	const struct cell all[] = {cell(1, 7, 0, 40)};
	const struct cell nothing[] = {cell(0, 7, 0, 40), cell(UNLOADED, 7, 2, 10)};
	const struct cell none[] = {cell(1, 7, 2, 0)};

	SAYS(some, "100 % of the waiting is in Table.a, and 80 % of that is caused by Table.b. For "
		   "20 % of that it is not known where the holder was.");
	SAYS(most, "100 % of the waiting is in Table.a. For 70 % of that it is not known where the "
		   "holder was. 30 % of that is caused by Table.b.");
	SAYS(all, "100 % of the waiting is in Table.a. For 100 % of that it is not known where the "
		  "holder was.");
	SAYS(nothing, "For 100 % of the waiting it is not known in which method it is.");
	SAYS(none, "");
}

static void hand_over_is_named_apart(void **state)
{
	const struct cell most[] = {cell(1, HOLDER_HAND_OVER, 0, 60), cell(1, 7, 2, 36),
				    cell(1, 7, 0, 4)};
	const struct cell second[] = {cell(1, HOLDER_HAND_OVER, 0, 30), cell(1, 7, 2, 20),
				      cell(1, 7, 0, 50)};

	SAYS(most, "100 % of the waiting is in Table.a. 60 % of that is hand-over: the lock had "
		   "been released, and nobody was seen taking it yet. 36 % of that is caused by "
		   "Table.b.");
	SAYS(second, "100 % of the waiting is in Table.a. For 50 % of that it is not known where "
		     "the holder was. 30 % of that is hand-over: the lock had been released, and "
		     "nobody was seen taking it yet. 20 % of that is caused by Table.b.");
}

static void several_methods_are_shares_of_the_whole(void **state)
{
	const struct cell cells[] = {cell(1, 7, 2, 30), cell(1, 7, 3, 10),
				     cell(2, 7, 2, 25), cell(3, 7, 1, 11),
				     cell(4, 7, 1, 4),  cell(2, HOLDER_HAND_OVER, 0, 10),
				     cell(3, 7, 0, 10)};
	const struct cell unknown[] = {cell(0, 7, 2, 60), cell(1, 7, 2, 40)};
	const struct cell nobody[] = {cell(1, 7, 0, 40), cell(2, 7, 0, 30), cell(3, 7, 0, 30)};

	SAYS(cells, "30 % of the waiting is in Table.a and caused by Table.b; 25 % is in Table.b "
		    "and caused by other threads in the same method; 11 % is in Table.c and caused "
		    "by Table.a. 10 % is hand-over: released, and nobody seen taking it yet. For "
		    "10 % it is not known where the holder was.");
	SAYS(unknown, "For 60 % of the waiting it is not known in which method it is. 40 % of the "
		      "waiting is in Table.a and caused by Table.b.");
	SAYS(nobody,
	     "40 % of the waiting is in Table.a. For 100 % it is not known where the holder "
	     "was.");
}

static void sums_are_of_contention(void **state)
{
	struct cell cells[] = {cell(1, 7, 2, 30), cell(77, 7, 78, 20), cell(0, 7, 0, 10),
			       cell(1, HOLDER_HAND_OVER, 0, 5), cell(1, 7, 2, 1000)};
	struct strbuf text = {.most = 0};
	struct finding f;

	cells[4].monitor = false; /* only parked */
	assert_int_equal(finding_make(*state, cells, 5, GROUP_BY_WORK, &f), 0);
	assert_int_equal(f.total_ns, 65);
	assert_int_equal(f.waiter_known_ns, 35);
	assert_int_equal(f.held_ns, 60);
	assert_int_equal(f.from_ns[HOLDER_STACK_RELEASE], 30);
	assert_int_equal(f.from_ns[HOLDER_STACK_UNKNOWN], 30); /* one that the log has lost, too */
	assert_int_equal(finding_sources_text(&f, &text), 0);
	assert_string_equal(strbuf_text(&text),
			    "The waiter's call chain is known for 53.8 % of the blocked time; "
			    "the holder's for 50.0 % of that with a known holder: 50.0 % when "
			    "it released the lock.");
	strbuf_free(&text);
}

static void pairs_are_the_largest(void **state)
{
	struct cell cells[25];
	struct finding f;

	for (unsigned i = 0; i < 25; i++)
		cells[i] = cell(1 + i / 5, 7, 1 + i % 5, 1 + i * 7 % 25);
	assert_int_equal(finding_make(*state, cells, 25, GROUP_BY_WORK, &f), 0);
	assert_int_equal(f.pair_count, FINDING_PAIRS_MAX);
	for (unsigned i = 0; i < FINDING_PAIRS_MAX; i++)
		assert_int_equal(f.pairs[i].blocked_ns, 25 - i);
}

static void survives_without_memory(void **state)
{
	const struct cell cells[] = {cell(1, 7, 2, 30), cell(2, 7, 1, 20)};
	struct strbuf text = {.most = 0};
	struct finding f;
	unsigned long n = 0;
	int err;

	for (;; n++) {
		alloc_fail_at(n);
		err = finding_make(*state, cells, 2, GROUP_BY_WORK, &f);
		err = err ? err : finding_text(*state, &f, &text);
		err = err ? err : finding_sources_text(&f, &text);
		if (!alloc_fail_off())
			break;
		assert_int_equal(err, -ENOMEM);
		strbuf_free(&text);
	}
	strbuf_free(&text);
	assert_int_equal(err, 0);
	assert_true(n > 4);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_method_one_cause),     TEST(what_is_not_known_is_said),
		TEST(hand_over_is_named_apart), TEST(several_methods_are_shares_of_the_whole),
		TEST(sums_are_of_contention),   TEST(pairs_are_the_largest),
		TEST(survives_without_memory),
	};

	return cmocka_run_group_tests_name("report_finding", tests, NULL, NULL);
}
