/* Idle turn-taking: what is, what is not, and how much of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/cells/cells.h"
#include "analyze/groups/idle.h"
#include "analyze/stacks/idle_methods.h"
#include "analyze/stacks/stacks.h"
#include "log/read/names.h"
#include "tests/unit/alloc_fail.h"

/* Methods, and chains of them, have these numbers. */
enum {
	SERVE = 1, /* the program's, takes the lock */
	ACCEPT,    /* called by it */
	NET_ACCEPT,
	COUNT_UP, /* takes the same lock for something else */
	SELECT,   /* called by SERVE */
	HANDLE,   /* called back by SELECT */
	NEXT,     /* takes a monitor, and from a queue */
	TAKE,
	UNLOADED,
	IN_UNLOADED, /* ACCEPT, called by unloaded code, called by SERVE */
};
enum { LOCK = 1, CONDITION, OTHER_LOCK };

static const struct {
	uint64_t caller, method;
	const char *class_name, *name;
} chains[] = {
	[SERVE] = {0, SERVE, "web.Server", "serve"},
	[ACCEPT] = {SERVE, ACCEPT, "sun.nio.ch.ServerSocketChannelImpl", "accept"},
	[NET_ACCEPT] = {ACCEPT, NET_ACCEPT, "sun.nio.ch.Net", "accept"},
	[COUNT_UP] = {0, COUNT_UP, "web.Server", "count"},
	[SELECT] = {SERVE, SELECT, "sun.nio.ch.SelectorImpl", "select"},
	[HANDLE] = {SELECT, HANDLE, "web.Handler", "handle"},
	[NEXT] = {0, NEXT, "web.Worker", "next"},
	[TAKE] = {NEXT, TAKE, "java.util.concurrent.LinkedBlockingQueue", "take"},
	[UNLOADED] = {SERVE, 0, NULL, NULL},
	[IN_UNLOADED] = {UNLOADED, ACCEPT, NULL, NULL},
};

static void lock_add(struct log_names *n, uint64_t lock, uint64_t group)
{
	struct event e = {.id = EVENT_LOCK};

	e.v[LOCK_LOCK].u = lock;
	e.v[LOCK_GROUP].u = group;
	assert_int_equal(log_names_add(n, &e), 0);
}

static int setup(void **state)
{
	struct log_names *n = log_names_new();

	assert_non_null(n);
	for (uint64_t i = 1; i < sizeof(chains) / sizeof(*chains); i++) {
		struct event method = {.id = EVENT_METHOD}, stack = {.id = EVENT_STACK};

		method.v[METHOD_METHOD].u = i;
		method.v[METHOD_CLASS_NAME].s = chains[i].class_name;
		method.v[METHOD_NAME].s = chains[i].name;
		method.v[METHOD_SIGNATURE].s = "()V";
		method.v[METHOD_SOURCE].s = "";
		stack.v[STACK_STACK].u = i;
		stack.v[STACK_CALLER].u = chains[i].caller;
		stack.v[STACK_FRAME].u = chains[i].method ? FRAME_TYPE_C1 : FRAME_TYPE_UNRESOLVED;
		stack.v[STACK_METHOD].u = chains[i].method;
		if (chains[i].name)
			assert_int_equal(log_names_add(n, &method), 0);
		assert_int_equal(log_names_add(n, &stack), 0);
	}
	lock_add(n, LOCK, LOCK_GROUP_JUC);
	lock_add(n, CONDITION, LOCK_GROUP_OTHER);
	lock_add(n, OTHER_LOCK, LOCK_GROUP_JUC);
	*state = stacks_new(n);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct log_names *n = (struct log_names *)stacks_names(*state);

	stacks_free(*state);
	log_names_free(n);
	return 0;
}

/* 100 ns: blocked for reasons that are not told, but for what the holder ran. */
static struct cell cell(uint64_t waiter_stack, uint64_t holder_stack, uint64_t running_ns)
{
	return (struct cell){.lock = LOCK,
			     .waiter = 1,
			     .holder = 2,
			     .waiter_stack = waiter_stack,
			     .holder_stack = holder_stack,
			     .blocked_ns = 100,
			     .split = {.running_ns = running_ns, .blocked_ns = 100 - running_ns}};
}

static void turns_are_idle(void **state)
{
	struct cell in_jdk = cell(ACCEPT, NET_ACCEPT, 0), outside = cell(SERVE, NET_ACCEPT, 30);
	struct cell released = cell(ACCEPT, ACCEPT, 0), queue = cell(NEXT, TAKE, 0);

	assert_int_equal(idle_turn_ns(*state, &in_jdk), 100);
	assert_int_equal(idle_turn_ns(*state, &outside), 70); /* what it ran is work */
	assert_int_equal(idle_turn_ns(*state, &released), 100);
	queue.blocked_on = CONDITION;
	queue.split.reason_ns[BLOCKED_REASON_PARK] = 90;
	assert_int_equal(idle_turn_ns(*state, &queue), 100);
}

static void work_is_not_idle(void **state)
{
	const struct cell none[] = {
		cell(COUNT_UP, NET_ACCEPT, 0),  /* it wants something else */
		cell(SERVE, SERVE, 0),          /* the holder does not wait for work */
		cell(SERVE, HANDLE, 0),         /* nor does the action that select() calls */
		cell(NEXT, NET_ACCEPT, 0),      /* the waiter's method is not on the way */
		cell(ACCEPT, IN_UNLOADED, 100), /* it runs */
		cell(SERVE, IN_UNLOADED, 0),    /* nobody knows what is between */
		cell(0, NET_ACCEPT, 0),
		cell(ACCEPT, 0, 0),
		cell(STACK_OTHERS, NET_ACCEPT, 0),
		cell(ACCEPT, STACK_OTHERS, 0),
		cell(UNLOADED, IN_UNLOADED, 0),
	};

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_int_equal(idle_turn_ns(*state, &none[i]), 0);
}

static void a_holder_behind_a_lock_is_not_idle(void **state)
{
	struct cell c = cell(ACCEPT, NET_ACCEPT, 0);

	c.split.reason_ns[BLOCKED_REASON_LOCK] = 40;
	c.split.reason_ns[BLOCKED_REASON_PAUSE] = 10;
	c.split.reason_ns[BLOCKED_REASON_PARK] = 20;
	assert_int_equal(idle_turn_ns(*state, &c), 50);
	c.blocked_on = OTHER_LOCK;
	assert_int_equal(idle_turn_ns(*state, &c), 30);
	c.split.reason_ns[BLOCKED_REASON_PARK] = 2000; /* of a damaged log */
	assert_int_equal(idle_turn_ns(*state, &c), 0);
}

static bool is_idle(const char *class_name, const char *name)
{
	const struct log_method m = {.class_name = class_name, .name = name};

	return idle_method(&m);
}

static void methods_are_known_by_class_and_name(void **state)
{
	(void)state;
	assert_true(is_idle("java.net.ServerSocket", "accept"));
	assert_true(is_idle("java.net.PlainSocketImpl", "socketAccept"));
	assert_true(is_idle("java.util.concurrent.ArrayBlockingQueue", "poll"));
	assert_true(is_idle("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue",
			    "take"));
	assert_true(is_idle("sun.nio.ch.EPollSelectorImpl", "doSelect"));
	assert_true(is_idle("io.netty.channel.epoll.Native", "epollWait"));
	assert_false(is_idle("java.net.ServerSocketX", "accept"));
	assert_false(is_idle("my.java.net.ServerSocket", "accept"));
	assert_false(is_idle("java.net.ServerSocket", "bind"));
	assert_false(is_idle("java.util.concurrent.LinkedBlockingQueue", "put"));
	assert_false(is_idle("java.net.SocketImpl", "read"));
	assert_false(is_idle("java.", "accept"));
	assert_false(is_idle("", ""));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(turns_are_idle),
		TEST(work_is_not_idle),
		TEST(a_holder_behind_a_lock_is_not_idle),
		cmocka_unit_test(methods_are_known_by_class_and_name),
	};

	return cmocka_run_group_tests_name("analyze_idle", tests, NULL, NULL);
}
