#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "log/read/names.h"
#include "tests/unit/alloc_fail.h"

static int add_class(struct log_names *n, uint64_t id, const char *name)
{
	struct event e = {.id = EVENT_CLASS, .field_count = CLASS_FIELD_COUNT};

	e.v[CLASS_CLASS].u = id;
	e.v[CLASS_NAME].s = name;
	return log_names_add(n, &e);
}

static int add_method(struct log_names *n, uint64_t id, const char *name)
{
	struct event e = {.id = EVENT_METHOD, .field_count = METHOD_FIELD_COUNT};

	e.v[METHOD_METHOD].u = id;
	e.v[METHOD_CLASS_NAME].s = "demo.Table";
	e.v[METHOD_NAME].s = name;
	e.v[METHOD_SIGNATURE].s = "(I)Ldemo/Product;";
	e.v[METHOD_SOURCE].s = "Table.java";
	e.v[METHOD_HIDDEN].u = 1;
	return log_names_add(n, &e);
}

static int add_stack(struct log_names *n, uint64_t id, uint64_t caller, uint64_t method)
{
	struct event e = {.id = EVENT_STACK, .field_count = STACK_FIELD_COUNT};

	e.v[STACK_STACK].u = id;
	e.v[STACK_CALLER].u = caller;
	e.v[STACK_FRAME].u = FRAME_TYPE_INLINED;
	e.v[STACK_METHOD].u = method;
	e.v[STACK_BCI].u = 65535;
	e.v[STACK_LINE].u = 51;
	e.v[STACK_INFERRED].u = 1;
	return log_names_add(n, &e);
}

static void test_thread(void **state)
{
	struct log_names *n = log_names_new();
	struct event e = {.id = EVENT_THREAD, .thread = 3};
	const struct log_thread *t;
	char name[] = "worker-1";

	(void)state;
	assert_null(log_names_thread(n, 3));
	e.v[THREAD_TID].u = 123;
	e.v[THREAD_NS_TID].u = 12;
	e.v[THREAD_START_NS].u = 99;
	e.v[THREAD_JAVA_ID].u = 17;
	e.v[THREAD_NAME].s = name;
	e.v[THREAD_DAEMON].u = 1;
	assert_int_equal(log_names_add(n, &e), 0);
	memset(name, 'x', sizeof(name) - 1);
	t = log_names_thread(n, 3);
	assert_non_null(t);
	assert_int_equal(t->tid, 123);
	assert_int_equal(t->ns_tid, 12);
	assert_int_equal(t->start_ns, 99);
	assert_int_equal(t->java_id, 17);
	assert_string_equal(t->name, "worker-1");
	assert_true(t->daemon);
	assert_false(t->existed);
	/* Sent again: the later one counts, and it is still one thread. */
	e.v[THREAD_NAME].s = "renamed";
	assert_int_equal(log_names_add(n, &e), 0);
	assert_string_equal(log_names_thread(n, 3)->name, "renamed");
	assert_int_equal(log_names_count(n, LOG_NAMES_THREAD), 1);
	log_names_free(n);
}

static void test_lock_and_string(void **state)
{
	struct log_names *n = log_names_new();
	struct event lock = {.id = EVENT_LOCK}, string = {.id = EVENT_STRING};
	const struct log_lock *l;

	(void)state;
	lock.v[LOCK_LOCK].u = UINT64_MAX;
	lock.v[LOCK_GROUP].u = LOCK_GROUP_JUC;
	lock.v[LOCK_CLASS].u = 5;
	lock.v[LOCK_IDENTITY].u = LOCK_IDENTITY_HASH;
	lock.v[LOCK_ADDRESS].u = 0xabc;
	lock.v[LOCK_HASH].u = 77;
	assert_int_equal(log_names_add(n, &lock), 0);
	l = log_names_lock(n, UINT64_MAX);
	assert_non_null(l);
	assert_int_equal(l->group, LOCK_GROUP_JUC);
	assert_int_equal(l->class, 5);
	assert_int_equal(l->identity, LOCK_IDENTITY_HASH);
	assert_int_equal(l->address, 0xabc);
	assert_int_equal(l->hash, 77);
	string.v[STRING_STRING].u = 2;
	string.v[STRING_TEXT].s = "G1CollectForAllocation";
	assert_int_equal(log_names_add(n, &string), 0);
	assert_string_equal(log_names_string(n, 2), "G1CollectForAllocation");
	assert_null(log_names_string(n, 1));
	assert_null(log_names_class(n, 2));
	log_names_free(n);
}

static void test_method(void **state)
{
	struct log_names *n = log_names_new();
	const struct log_method *m;
	char name[] = "lookUp";

	(void)state;
	assert_null(log_names_method(n, 7));
	assert_int_equal(add_method(n, 7, name), 0);
	memset(name, 'x', sizeof(name) - 1);
	m = log_names_method(n, 7);
	assert_non_null(m);
	assert_string_equal(m->class_name, "demo.Table");
	assert_string_equal(m->name, "lookUp");
	assert_string_equal(m->signature, "(I)Ldemo/Product;");
	assert_string_equal(m->source, "Table.java");
	assert_true(m->hidden);
	/* A number is of one kind only, and equal texts are kept once. */
	assert_null(log_names_stack(n, 7));
	assert_null(log_names_class(n, 7));
	assert_int_equal(add_method(n, 8, "search"), 0);
	assert_ptr_equal(log_names_method(n, 8)->class_name, log_names_method(n, 7)->class_name);
	assert_int_equal(add_method(n, 7, "again"), 0);
	assert_string_equal(log_names_method(n, 7)->name, "again");
	assert_int_equal(log_names_count(n, LOG_NAMES_METHOD), 2);
	assert_int_equal(add_method(n, 0, "none"), 0);
	assert_null(log_names_method(n, 0));
	log_names_free(n);
}

static void test_stack(void **state)
{
	struct log_names *n = log_names_new();
	const struct log_stack *s;

	(void)state;
	assert_null(log_names_stack(n, 2));
	assert_int_equal(add_stack(n, 2, 1, 7), 0);
	s = log_names_stack(n, 2);
	assert_non_null(s);
	assert_int_equal(s->caller, 1);
	assert_int_equal(s->frame, FRAME_TYPE_INLINED);
	assert_int_equal(s->method, 7);
	assert_int_equal(s->bci, 65535);
	assert_int_equal(s->line, 51);
	assert_true(s->inferred);
	/* That a caller is not defined is for the reader of the chain to say. */
	assert_null(log_names_stack(n, s->caller));
	assert_null(log_names_stack(n, 0));
	log_names_free(n);
}

/* Whatever a log says, following a chain ends. */
static void test_stack_is_no_circle(void **state)
{
	enum { COUNT = 1000 };
	struct log_names *n = log_names_new();
	uint64_t id, steps;

	(void)state;
	assert_int_equal(add_stack(n, 1, 1, 7), 0);
	assert_int_equal(log_names_stack(n, 1)->caller, 0);
	assert_int_equal(add_stack(n, 2, UINT64_MAX, 7), 0);
	assert_int_equal(log_names_stack(n, 2)->caller, 0);
	assert_int_equal(add_stack(n, UINT64_MAX, UINT64_MAX - 1, 7), 0);
	assert_int_equal(log_names_stack(n, UINT64_MAX)->caller, UINT64_MAX - 1);
	/* Two that name each other, by a later definition. */
	assert_int_equal(add_stack(n, 4, 3, 7), 0);
	assert_int_equal(add_stack(n, 3, 4, 7), 0);
	assert_int_equal(log_names_stack(n, 4)->caller, 3);
	assert_int_equal(log_names_stack(n, 3)->caller, 0);
	for (id = 10; id < 10 + COUNT; id++)
		assert_int_equal(add_stack(n, id, id == 10 ? 0 : id - 1, 7), 0);
	for (id = 9 + COUNT, steps = 0; id; id = log_names_stack(n, id)->caller)
		steps++;
	assert_int_equal(steps, COUNT);
	log_names_free(n);
}

static void test_ignores_others(void **state)
{
	struct log_names *n = log_names_new();
	struct event e = {.id = EVENT_MONITOR_CONTENDED_ENTER, .thread = 1};
	unsigned kind;

	(void)state;
	assert_int_equal(log_names_add(n, &e), 0);
	assert_int_equal(add_class(n, 0, "nothing"), 0);
	for (kind = 0; kind < LOG_NAMES_KIND_COUNT; kind++)
		assert_int_equal(log_names_count(n, kind), 0);
	assert_null(log_names_class(n, 0));
	log_names_free(n);
	log_names_free(NULL);
}

static void test_many(void **state)
{
	enum { COUNT = 5000 };
	struct log_names *n = log_names_new();
	char name[32];
	unsigned i;

	(void)state;
	for (i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "Class%u", i);
		assert_int_equal(add_class(n, 1 + i * 64ull, name), 0);
	}
	assert_int_equal(log_names_count(n, LOG_NAMES_CLASS), COUNT);
	for (i = 0; i < COUNT; i++) {
		assert_int_equal(log_names_id(n, LOG_NAMES_CLASS, i), 1 + i * 64ull);
		snprintf(name, sizeof(name), "Class%u", i);
		assert_string_equal(log_names_class(n, 1 + i * 64ull), name);
		assert_null(log_names_class(n, 2 + i * 64ull));
	}
	log_names_free(n);
}

static void test_nth_allocation_fails(void **state)
{
	struct log_names *n;
	bool failed = true;
	unsigned nth, i;
	char name[32];
	int err;

	(void)state;
	for (nth = 0; failed; nth++) {
		alloc_fail_at(nth);
		n = log_names_new();
		err = n ? 0 : -ENOMEM;
		for (i = 1; i < 100 && !err; i++) {
			snprintf(name, sizeof(name), "\xff%u", i);
			err = add_class(n, i, name);
			if (!err)
				err = add_method(n, i, name);
			if (!err)
				err = add_stack(n, i, i - 1, i);
		}
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		if (n && failed && i > 2) {
			/* What was known before is known still, and adding works again. */
			assert_string_equal(log_names_class(n, 1), "\xef\xbf\xbd"
								   "1");
			assert_int_equal(add_class(n, i, "again"), 0);
			assert_string_equal(log_names_class(n, i), "again");
			assert_string_equal(log_names_method(n, 1)->name, "\xef\xbf\xbd"
									  "1");
			assert_int_equal(log_names_stack(n, 1)->method, 1);
			assert_int_equal(add_method(n, i, "again"), 0);
			assert_string_equal(log_names_method(n, i)->name, "again");
			assert_int_equal(add_stack(n, i, i - 1, i), 0);
			assert_int_equal(log_names_stack(n, i)->caller, i - 1);
		}
		log_names_free(n);
	}
	assert_true(nth > 200);
}

static unsigned frames_of(const struct log_names *n, uint64_t id)
{
	const struct log_stack *s;
	unsigned frames = 0;

	for (; id; frames++, id = s ? s->caller : 0)
		s = log_names_stack(n, id);
	return frames;
}

/* In any order, and when they are defined again, no chain is longer than that, or not by much. */
static void test_long_chains_are_cut(void **state)
{
	enum { COUNT = 100000 };

	(void)state;
	for (int order = 0; order < 3; order++) {
		struct log_names *n = log_names_new();
		unsigned most = 0;

		for (unsigned i = 1; i <= COUNT && order == 2; i++)
			assert_int_equal(add_stack(n, i, 0, 1), 0);
		for (unsigned i = 1; i <= COUNT; i++) {
			unsigned id = order ? COUNT + 1 - i : i;

			assert_int_equal(add_stack(n, id, id - 1, 1), 0);
		}
		for (unsigned i = 1; i <= COUNT; i += 97) {
			unsigned frames = frames_of(n, i);

			most = frames > most ? frames : most;
		}
		assert_in_range(most, order ? 100 : LOG_STACK_DEPTH_MAX - 97,
				order ? 2 * LOG_STACK_DEPTH_MAX : LOG_STACK_DEPTH_MAX);
		if (!order) {
			assert_int_equal(log_names_stack(n, LOG_STACK_DEPTH_MAX)->depth,
					 LOG_STACK_DEPTH_MAX);
			assert_int_equal(log_names_stack(n, LOG_STACK_DEPTH_MAX + 1)->frame,
					 FRAME_TYPE_CUT);
		}
		log_names_free(n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_lock_and_string),
		cmocka_unit_test(test_method),
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_stack_is_no_circle),
		cmocka_unit_test(test_long_chains_are_cut),
		cmocka_unit_test(test_ignores_others),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_nth_allocation_fails),
	};

	return cmocka_run_group_tests_name("log_names", tests, NULL, NULL);
}
