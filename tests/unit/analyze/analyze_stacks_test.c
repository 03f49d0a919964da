/* Call chains: which are the same, and which method each is about. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/stacks/stacks.h"
#include "log/read/names.h"
#include "tests/unit/alloc_fail.h"

enum {
	RUN = 1,
	LOOK_UP,
	LOOK_UP_AGAIN, /* the same of another class loader */
	LOOK_UP_OTHER, /* an overload */
	LOCK,
	PARK,
	GET,
	LAMBDA,
	WAIT,
	HASH,
	NOTIFY,
};

static const struct {
	uint64_t number;
	const char *class, *name, *signature;
	bool hidden;
} methods[] = {
	{RUN, "java.lang.Thread", "run", "()V", false},
	{LOOK_UP, "demo.Table", "lookUp", "(I)V", false},
	{LOOK_UP_AGAIN, "demo.Table", "lookUp", "(I)V", false},
	{LOOK_UP_OTHER, "demo.Table", "lookUp", "(J)V", false},
	{LOCK, "java.util.concurrent.locks.ReentrantLock", "lock", "()V", false},
	{PARK, "jdk.internal.misc.Unsafe", "park", "(ZJ)V", false},
	{GET, "java.util.HashMap", "get", "()V", false},
	{LAMBDA, "demo.Table$$Lambda+0x1", "run", "()V", true},
	{WAIT, "java.lang.Object", "wait", "(J)V", false},
	{HASH, "java.lang.Object", "hashCode", "()I", false},
	{NOTIFY, "java.lang.Objects", "wait", "()V", false},
};

#define NO_METHOD 0, 0

/* Number, caller, frame, method, line; in no order. */
static const uint64_t chains[][5] = {
	{1, 0, FRAME_TYPE_INTERPRETED, RUN, 840},
	{2, 1, FRAME_TYPE_C1, LOOK_UP, 42},
	{3, 1, FRAME_TYPE_C2, LOOK_UP_AGAIN, 42},
	{4, 1, FRAME_TYPE_C2, LOOK_UP, 43},
	{5, 1, FRAME_TYPE_C2, LOOK_UP_OTHER, 42},
	{12, 11, FRAME_TYPE_NATIVE, PARK, 0}, /* before its caller */
	{11, 2, FRAME_TYPE_C2, LOCK, 9},
	{13, 11, FRAME_TYPE_C2, LAMBDA, 1},
	{14, 2, FRAME_TYPE_C1, GET, 5},
	{15, 1, FRAME_TYPE_C1, GET, 5},
	{16, 2, FRAME_TYPE_INLINED, WAIT, 3},
	{17, 2, FRAME_TYPE_INLINED, HASH, 3},
	{18, 2, FRAME_TYPE_INLINED, NOTIFY, 3},
	{20, 0, FRAME_TYPE_BROKEN, NO_METHOD},
	{21, 20, FRAME_TYPE_C1, LOCK, 9},
	{22, 20, FRAME_TYPE_C1, GET, 5},
	{23, 7, FRAME_TYPE_C1, LOCK, 9}, /* the log has lost its caller */
	{24, 0, FRAME_TYPE_CUT, NO_METHOD},
	{25, 24, FRAME_TYPE_C1, LOCK, 9},
	{40, 0, FRAME_TYPE_IN_HEAP, NO_METHOD},
	{26, 2, FRAME_TYPE_UNRESOLVED, NO_METHOD},
	{27, 26, FRAME_TYPE_C1, LOCK, 9},
	{28, 26, FRAME_TYPE_C1, GET, 5},
	{29, 2, FRAME_TYPE_C1, 99, 5}, /* the log has lost its method */
	{30, 29, FRAME_TYPE_C1, GET, 5},
	{31, 0, FRAME_TYPE_C1, LAMBDA, 1},
	{32, 0, FRAME_TYPE_C1, LOCK, 8},
	{33, 32, FRAME_TYPE_NATIVE, PARK, 0},
	{34, 31, FRAME_TYPE_C1, LAMBDA, 1},
	{35, 1, 77, LOOK_UP, 42}, /* a kind of a newer spoor */
};

static struct log_names *names_make(void)
{
	struct log_names *n = log_names_new();

	assert_non_null(n);
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
		struct event e = {.id = EVENT_METHOD};

		e.v[METHOD_METHOD].u = methods[i].number;
		e.v[METHOD_CLASS_NAME].s = methods[i].class;
		e.v[METHOD_NAME].s = methods[i].name;
		e.v[METHOD_SIGNATURE].s = methods[i].signature;
		e.v[METHOD_SOURCE].s = "";
		e.v[METHOD_HIDDEN].u = methods[i].hidden;
		assert_int_equal(log_names_add(n, &e), 0);
	}
	for (size_t i = 0; i < sizeof(chains) / sizeof(*chains); i++) {
		struct event e = {.id = EVENT_STACK};

		e.v[STACK_STACK].u = chains[i][0];
		e.v[STACK_CALLER].u = chains[i][1];
		e.v[STACK_FRAME].u = chains[i][2];
		e.v[STACK_METHOD].u = chains[i][3];
		e.v[STACK_LINE].u = chains[i][4];
		e.v[STACK_BCI].u = i;
		assert_int_equal(log_names_add(n, &e), 0);
	}
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

static void chains_are_equal_by_method_and_line(void **state)
{
	const struct stacks *s = *state;

	assert_int_equal(stacks_chain(s, 2), stacks_chain(s, 3));
	assert_int_equal(stacks_chain(s, 2), stacks_chain(s, 35));
	assert_int_not_equal(stacks_chain(s, 2), stacks_chain(s, 4));
	assert_int_not_equal(stacks_chain(s, 2), stacks_chain(s, 5));
	assert_int_not_equal(stacks_chain(s, 2), stacks_chain(s, 1));
	assert_int_not_equal(stacks_chain(s, 14), stacks_chain(s, 15)); /* of other callers */
	assert_int_equal(stacks_chain(s, 13), stacks_chain(s, 11));     /* a hidden frame */
	assert_int_equal(stacks_chain(s, 31), stacks_chain(s, 34));     /* nothing else */
	assert_int_not_equal(stacks_chain(s, 31), 0);
	assert_int_equal(stacks_chain(s, 21), stacks_chain(s, 23)); /* callers missing */
	assert_int_not_equal(stacks_chain(s, 21), stacks_chain(s, 25));
	assert_int_equal(stacks_chain(s, 0), 0);
	assert_int_equal(stacks_chain(s, 7), 0);
	assert_int_equal(stacks_chain(s, 1000), 0);
	for (uint64_t stack = 0; stack < 50; stack++)
		assert_int_not_equal(stacks_chain(s, stack), stacks_chain(s, STACK_OTHERS));
}

static const char *name(const struct stacks *s, uint32_t method)
{
	const struct log_method *m = stacks_method(s, method);

	return method == STACKS_METHOD_UNKNOWN    ? "?"
	       : method == STACKS_METHOD_UNLOADED ? "unloaded"
						  : m->name;
}

static void methods_are_those_that_matter(void **state)
{
	static const struct {
		uint64_t stack;
		const char *waiter, *holder;
	} expected[] = {
		{0, "?", "?"},
		{7, "?", "?"},
		{1, "run", "run"}, /* nothing outside the JDK */
		{2, "lookUp", "lookUp"},
		{12, "lookUp", "lookUp"}, /* park, lock */
		{13, "lookUp", "lookUp"},
		{14, "get", "lookUp"},
		{15, "get", "get"},
		{16, "lookUp", "lookUp"},
		{17, "hashCode", "lookUp"},
		{18, "wait", "lookUp"}, /* not Object's */
		{20, "?", "?"},
		{21, "?", "?"},
		{22, "get", "get"},
		{23, "?", "?"},
		{25, "?", "?"},
		{26, "unloaded", "unloaded"},
		{27, "unloaded", "unloaded"},
		{28, "get", "unloaded"},
		{29, "?", "?"},
		{30, "get", "?"}, /* what has no name may be outside the JDK */
		{31, "run", "run"},
		{33, "lock", "lock"}, /* the outermost of internal ones */
	};
	const struct stacks *s = *state;

	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		uint64_t stack = expected[i].stack;

		assert_string_equal(name(s, stacks_waiter_method(s, stack)), expected[i].waiter);
		assert_string_equal(name(s, stacks_holder_method(s, stack)), expected[i].holder);
	}
	assert_int_equal(stacks_waiter_method(s, 3), stacks_waiter_method(s, 5));
	assert_int_not_equal(stacks_waiter_method(s, 31), stacks_waiter_method(s, 1));
	assert_int_equal(stacks_waiter_method(s, STACK_OTHERS), STACKS_METHOD_OTHERS);
	assert_int_equal(stacks_holder_method(s, STACK_OTHERS), STACKS_METHOD_OTHERS);
	assert_null(stacks_method(s, STACKS_METHOD_OTHERS));
}

static void frames_come_from_the_innermost(void **state)
{
	static const struct {
		enum stacks_kind kind;
		bool internal;
	} expected[] = {{STACKS_METHOD, true},
			{STACKS_UNLOADED, false},
			{STACKS_METHOD, false},
			{STACKS_METHOD, false}};
	const struct stacks *s = *state;
	struct stacks_frame f;
	uint64_t stack = 27;

	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		assert_true(stacks_next(s, &stack, &f));
		assert_int_equal(f.kind, expected[i].kind);
		assert_int_equal(f.internal, expected[i].internal);
		assert_int_equal(f.kind == STACKS_METHOD, f.method != NULL);
	}
	assert_false(stacks_next(s, &stack, &f));
	assert_int_equal(f.frame->line, 840);
	stack = 23;
	assert_true(stacks_next(s, &stack, &f) && stacks_next(s, &stack, &f));
	assert_int_equal(f.kind, STACKS_MISSING);
	assert_false(stacks_next(s, &stack, &f));
	stack = 24;
	assert_true(stacks_next(s, &stack, &f));
	assert_int_equal(f.kind, STACKS_CUT);
	stack = 40;
	assert_true(stacks_next(s, &stack, &f));
	assert_int_equal(f.kind, STACKS_IN_HEAP);
	stack = 29;
	assert_true(stacks_next(s, &stack, &f));
	assert_int_equal(f.kind, STACKS_UNKNOWN_METHOD);
	stack = STACK_OTHERS;
	assert_true(stacks_next(s, &stack, &f));
	assert_int_equal(f.kind, STACKS_OTHERS);
	assert_null(f.method);
	assert_false(stacks_next(s, &stack, &f));
}

static void survives_without_memory(void **state)
{
	struct log_names *n = names_make();
	struct stacks *s;
	unsigned long at = 0;

	(void)state;
	for (;; at++) {
		alloc_fail_at(at);
		s = stacks_new(n);
		if (!alloc_fail_off())
			break;
		assert_null(s);
	}
	assert_true(at > 5);
	assert_int_equal(stacks_chain(s, 2), stacks_chain(s, 3));
	stacks_free(s);
	stacks_free(NULL);
	log_names_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(chains_are_equal_by_method_and_line, setup,
						teardown),
		cmocka_unit_test_setup_teardown(methods_are_those_that_matter, setup, teardown),
		cmocka_unit_test_setup_teardown(frames_come_from_the_innermost, setup, teardown),
		cmocka_unit_test(survives_without_memory),
	};

	return cmocka_run_group_tests_name("analyze_stacks", tests, NULL, NULL);
}
