/* --where: what a condition chooses, and what is wrong with one; --by and --sort. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/stacks/stacks.h"
#include "log/read/names.h"
#include "report/model/by_list.h"
#include "report/model/where.h"
#include "tests/unit/alloc_fail.h"

/* Chain 1 is Main.run, chain 2 Table.get called by it. */
static struct log_names *names_make(void)
{
	static const char *const classes[] = {"a.Main", "a.Table"}, *const methods[] = {"run",
											"get"};
	struct event thread = {.id = EVENT_THREAD}, class = {.id = EVENT_CLASS},
		     lock = {.id = EVENT_LOCK};
	struct log_names *n = log_names_new();

	for (uint64_t i = 1; i <= 2; i++) {
		struct event method = {.id = EVENT_METHOD}, stack = {.id = EVENT_STACK};

		method.v[METHOD_METHOD].u = i;
		method.v[METHOD_CLASS_NAME].s = classes[i - 1];
		method.v[METHOD_NAME].s = methods[i - 1];
		method.v[METHOD_SIGNATURE].s = method.v[METHOD_SOURCE].s = "";
		stack.v[STACK_STACK].u = i;
		stack.v[STACK_CALLER].u = i - 1;
		stack.v[STACK_FRAME].u = FRAME_TYPE_C1;
		stack.v[STACK_METHOD].u = i;
		thread.thread = (uint32_t)i;
		thread.v[THREAD_NAME].s = i == 1 ? "http-1" : "two words";
		assert_int_equal(log_names_add(n, &method) | log_names_add(n, &stack) |
					 log_names_add(n, &thread),
				 0);
	}
	class.v[CLASS_CLASS].u = lock.v[LOCK_LOCK].u = lock.v[LOCK_CLASS].u = 1;
	class.v[CLASS_NAME].s = "a.Lock";
	assert_int_equal(log_names_add(n, &class) | log_names_add(n, &lock), 0);
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

static const struct cell cells[] = {
	{.lock = 1, .waiter = 1, .holder = 2, .waiter_stack = 2, .holder_stack = 1},
	{.lock = 1, .waiter = 2, .holder = HOLDER_HAND_OVER, .waiter_stack = 1, .after_wait = true},
	{.lock = 1, .waiter = 2, .holder = 1, .monitor = true},
};

/* Of the three cells above, as bits. */
static unsigned chosen(const struct stacks *s, const char *text)
{
	char error[WHERE_ERROR_MAX];
	struct condition *w = NULL;
	struct cell *some;
	uint32_t count;
	unsigned bits = 0;

	assert_int_equal(where_parse(text, &w, error), 0);
	assert_int_equal(where_cells(w,
				     &(struct where_input){.stacks = s, .cells = cells, .count = 3},
				     &some, &count),
			 0);
	for (uint32_t i = 0; i < count; i++)
		for (unsigned k = 0; k < 3; k++)
			bits |= memcmp(&some[i], &cells[k], sizeof(*cells)) ? 0 : 1u << k;
	free(some);
	where_free(w);
	return bits;
}

static void conditions_choose(void **state)
{
	static const struct {
		const char *text;
		unsigned bits;
	} all[] = {
		{"waiter_thread=http-*", 1},
		{"waiter_thread!=http-*", 6},
		{"  waiter_thread = 'two words' ", 6},
		{"waiter_thread=\"two *\"", 6},
		{"not waiter_thread=http-*", 6},
		{"not not waiter_thread=http-*", 1},
		{"waiter_method=a.Table.get", 1},
		{"waiter_stack=a.Main.run", 3}, /* any frame */
		{"waiter_stack!=a.Main.run", 4},
		{"waiter_stack=(unknown)", 0}, /* the parenthesis ends the value */
		{"waiter_stack='(unknown)'", 4},
		{"owner_thread='(hand-over)'", 2},
		{"after_wait=yes", 2},
		{"group=monitor", 4},
		{"lock_class=a.Lock", 7},
		{"lock_class=*Lock and waiter_thread=http-?", 1},
		{"after_wait=yes or group=monitor and waiter_thread=http-*",
		 2}, /* and binds more */
		{"(after_wait=yes or group=monitor) and waiter_thread=http-*", 0},
		{"not (after_wait=yes or group=monitor)", 1},
		{"behind='(none)'", 7},
	};
	char error[WHERE_ERROR_MAX];
	struct condition *w;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (!all[i].bits && strstr(all[i].text, "(unknown)")) {
			assert_int_equal(where_parse(all[i].text, &w, error), -EINVAL);
			continue;
		}
		assert_int_equal(chosen(*state, all[i].text), all[i].bits);
	}
}

static void what_is_wrong_is_said(void **state)
{
	static const struct {
		const char *text, *error;
	} all[] = {
		{"", "at character 1: an aspect is missing"},
		{"nothing=1",
		 "at character 1: there is no aspect 'nothing'; there are lock_class, "},
		{"lock", "at character 5: = or != is missing"},
		{"lock=", "at character 6: a value is missing"},
		{"lock='a", "at character 6: the quote has no end"},
		{"(lock=a", "at character 8: a ) is missing"},
		{"lock=a)", "at character 7: 'and' or 'or' is missing"},
		{"lock=a lock=b", "at character 8: 'and' or 'or' is missing"},
		{"lock=a and", "at character 11: an aspect is missing"},
		{"lock=a andlock=b", "at character 8: 'and' or 'or' is missing"},
		{"notlock=a", "at character 1: there is no aspect 'notlock'"},
	};
	char error[WHERE_ERROR_MAX];
	struct condition *w;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		assert_int_equal(where_parse(all[i].text, &w, error), -EINVAL);
		assert_int_equal(strncmp(error, all[i].error, strlen(all[i].error)), 0);
	}
}

static void sizes_are_bounded(void **state)
{
	char error[WHERE_ERROR_MAX], text[16384] = "";
	struct condition *w;

	(void)state;
	for (int i = 0; i < 1000; i++)
		strcat(text, "(");
	assert_int_equal(where_parse(text, &w, error), -EINVAL);
	assert_non_null(strstr(error, "too many parentheses"));
	*text = '\0';
	for (int i = 0; i < 1000; i++)
		strcat(text, "not ");
	assert_int_equal(where_parse(text, &w, error), -EINVAL);
	strcpy(text, "lock=a");
	for (int i = 0; i < 1000; i++)
		strcat(text, " or lock=a");
	assert_int_equal(where_parse(text, &w, error), -EINVAL);
	assert_non_null(strstr(error, "too long"));
}

static void survives_without_memory(void **state)
{
	char error[WHERE_ERROR_MAX];
	struct condition *w = NULL;
	const struct where_input in = {.stacks = *state, .cells = cells, .count = 3};
	struct cell *some = NULL;
	uint32_t count;
	unsigned long n = 0;
	int err;

	for (;; n++) {
		alloc_fail_at(n);
		err = where_parse("not (lock=a or lock!=b) and group=c and waiter_pool!=x", &w,
				  error);
		err = err ? err : where_cells(w, &in, &some, &count);
		if (!alloc_fail_off())
			break;
		assert_int_equal(err, -ENOMEM);
		where_free(w);
		w = NULL;
	}
	assert_int_equal(err, 0);
	assert_true(n > 2);
	where_free(w);
	free(some);
}

static void lists_of_aspects(void **state)
{
	static const struct {
		const char *text, *wrong;
	} bad[] = {
		{"", "there is no aspect ''; there are lock_class, lock, "},
		{"lock,", "there is no aspect ''; there are lock_class, lock, "},
		{"lock_clas", "there is no aspect 'lock_clas'; there are lock_class, lock, "},
		{"lock,group,lock", "the aspect 'lock' is there twice"},
	};
	struct by_list l = {.depth = 0}, all = {.depth = 0};
	char error[BY_LIST_ERROR_MAX], *endless = calloc(1, 100000);

	(void)state;
	assert_int_equal(by_list_add(&l, "owner_method,lock", error), 0);
	assert_int_equal(by_list_add(&l, "in_gc", error), 0);
	assert_int_equal(l.depth, 3);
	assert_true(l.by[0] == ASPECT_OWNER_METHOD && l.by[1] == ASPECT_LOCK);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct by_list some = {.depth = 0};

		assert_int_equal(by_list_add(&some, bad[i].text, error), -EINVAL);
		if (strncmp(error, bad[i].wrong, strlen(bad[i].wrong)) != 0)
			fail_msg("%s", error);
	}
	for (int i = 0; i < ASPECT_COUNT; i++)
		assert_int_equal(by_list_add(&all, aspect_get(i)->name, error), 0);
	assert_int_equal(by_list_add(&all, "lock", error), -EINVAL);
	assert_non_null(endless);
	memset(endless, 'x', 99999);
	assert_int_equal(by_list_add(&l, endless, error), -EINVAL);
	assert_true(strlen(error) < BY_LIST_ERROR_MAX);
	free(endless);
}

static void orders_have_names(void **state)
{
	char names[] = BY_ORDERS;
	int count = 0;

	(void)state;
	for (char *name = strtok(names, ", "); name; name = strtok(NULL, ", "))
		if (strcmp(name, "or") != 0)
			assert_int_equal(by_order(name), count++);
	assert_int_equal(count, GROUP_ORDER_COUNT);
	assert_int_equal(by_order(""), -1);
	assert_int_equal(by_order("p9"), -1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(conditions_choose),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(sizes_are_bounded),
		TEST(survives_without_memory),
		cmocka_unit_test(lists_of_aspects),
		cmocka_unit_test(orders_have_names),
	};

	return cmocka_run_group_tests_name("report_where", tests, NULL, NULL);
}
