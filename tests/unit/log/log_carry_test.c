/* What each part of a log has with log/state/carried.h, against a model that knows the whole log. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/tables/budget.h"
#include "log/read/names.h"
#include "log/state/carried.h"
#include "log_fixture.h"
#include "tests/unit/alloc_fail.h"

enum { THREADS = 20, LOCKS = 30, CLASSES = 8, STRINGS = 10, METHODS = 25, STACKS = 200 };

static uint64_t seed;

static uint64_t pick(uint64_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % below;
}

/* One part as a reader of it alone has it, and the whole log. */
struct part {
	struct carried_definitions *carry;
	struct log_names *here, *all;
	const struct event *now; /* the event that is being carried */
	unsigned defined, emitted;
	uint64_t last_stack;
};

static void assert_same_text(const char *a, const char *b)
{
	assert_true(!a == !b);
	if (a)
		assert_string_equal(a, b);
}

static void assert_thread(const struct part *p, uint64_t n)
{
	const struct log_thread *a = log_names_thread(p->here, n), *b = log_names_thread(p->all, n);

	assert_true(!a == !b);
	if (!a)
		return;
	assert_same_text(a->name, b->name);
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->java_id, b->java_id);
}

static void assert_lock(const struct part *p, uint64_t n)
{
	const struct log_lock *a = log_names_lock(p->here, n), *b = log_names_lock(p->all, n);

	assert_true(!a == !b);
	if (!a)
		return;
	assert_int_equal(a->address, b->address);
	assert_int_equal(a->class, b->class);
	assert_same_text(log_names_class(p->here, a->class), log_names_class(p->all, b->class));
}

static void assert_stack(const struct part *p, uint64_t n)
{
	const struct log_stack *a, *b;

	for (; n; n = b->caller) {
		a = log_names_stack(p->here, n);
		b = log_names_stack(p->all, n);
		assert_true(!a == !b);
		if (!b)
			return;
		assert_int_equal(a->caller, b->caller);
		assert_int_equal(a->bci, b->bci);
		assert_int_equal(a->method, b->method);
		if (!b->method)
			continue;
		assert_true(!log_names_method(p->here, a->method) ==
			    !log_names_method(p->all, b->method));
		if (log_names_method(p->all, b->method))
			assert_string_equal(log_names_method(p->here, a->method)->name,
					    log_names_method(p->all, b->method)->name);
	}
}

/* All that the event names means the same in the part as in the whole log. */
static void assert_resolved(const struct part *p, const struct event *e)
{
	const struct event_desc *desc = schema_event(e->id);

	assert_thread(p, e->thread);
	for (unsigned i = 0; i < desc->field_count; i++) {
		uint64_t n = e->v[i].u;

		switch (desc->fields[i].type) {
		case FIELD_THREAD:
			assert_thread(p, n);
			break;
		case FIELD_LOCK:
			assert_lock(p, n);
			break;
		case FIELD_CLASS:
			assert_same_text(log_names_class(p->here, n), log_names_class(p->all, n));
			break;
		case FIELD_STRING:
			assert_same_text(log_names_string(p->here, n), log_names_string(p->all, n));
			break;
		case FIELD_STACK:
			assert_stack(p, n);
			break;
		default:
			break;
		}
	}
}

static bool is_definition(const struct event *e)
{
	return e->id <= EVENT_STRING || e->id == EVENT_METHOD || e->id == EVENT_STACK;
}

static int on_definition(void *ctx, const struct event *e)
{
	struct part *p = ctx;

	assert_true(is_definition(e));
	assert_int_equal(e->time_ns, p->now->time_ns);
	/* Callers and methods come before the chains that need them. */
	if (e->id == EVENT_STACK)
		assert_stack(p, e->v[STACK_CALLER].u);
	assert_int_equal(log_names_add(p->here, e), 0);
	p->defined++;
	return 0;
}

/* Its text is *ret_text, NULL: it has none; the caller's. */
static void define_any(struct event *e, unsigned n, char **ret_text)
{
	static const uint16_t kinds[] = {EVENT_THREAD, EVENT_CLASS,  EVENT_LOCK,
					 EVENT_STRING, EVENT_METHOD, EVENT_STACK};
	const struct event_desc *desc = schema_event(kinds[pick(6)]);
	uint64_t time_ns = e->time_ns;

	fixture_event(desc, FIXTURE_PLAIN, e);
	e->time_ns = time_ns;
	assert_true(asprintf(ret_text, "name %u", n) > 0);
	for (unsigned i = 0; i < desc->field_count; i++)
		if (desc->fields[i].type == FIELD_STR)
			e->v[i].s = *ret_text;
	e->thread = e->id == EVENT_THREAD ? 1 + (uint32_t)pick(THREADS) : 0;
	if (e->id == EVENT_CLASS)
		e->v[CLASS_CLASS].u = 1 + pick(CLASSES);
	if (e->id == EVENT_STRING)
		e->v[STRING_STRING].u = 1 + pick(STRINGS);
	if (e->id == EVENT_METHOD)
		e->v[METHOD_METHOD].u = 1 + pick(METHODS);
	if (e->id == EVENT_LOCK) {
		e->v[LOCK_LOCK].u = 1 + pick(LOCKS);
		e->v[LOCK_CLASS].u = pick(CLASSES + 1);
		e->v[LOCK_ADDRESS].u = n;
	}
}

/* Numbers of chains are given once, as the recorder does it. */
static void define_stack(struct event *e, uint64_t *last)
{
	e->v[STACK_STACK].u = ++*last;
	e->v[STACK_CALLER].u = pick(*last);
	e->v[STACK_METHOD].u = pick(METHODS + 1);
	e->v[STACK_BCI].u = pick(1000);
}

static void enter(struct event *e, uint64_t stacks)
{
	e->id = EVENT_MONITOR_CONTENDED_ENTER;
	e->thread = 1 + (uint32_t)pick(THREADS);
	e->v[MONITOR_CONTENDED_ENTER_LOCK].u = 1 + pick(LOCKS);
	e->v[MONITOR_CONTENDED_ENTER_OWNER].u = pick(THREADS + 1);
	e->v[MONITOR_CONTENDED_ENTER_STACK].u = pick(stacks + 1);
	e->v[MONITOR_CONTENDED_ENTER_OWNER_STACK].u = pick(stacks + 1);
}

/* Definitions in any order, used before or after, defined anew, over many parts. */
static void test_definitions(void **state)
{
	struct part p = {0};
	unsigned again = 0;

	(void)state;
	seed = 7;
	p.all = log_names_new();
	p.here = log_names_new();
	assert_int_equal(carried_new(NULL, &p.carry), 0);
	for (unsigned n = 0; n < 20000; n++) {
		struct event e = {.time_ns = 1000 + n};
		char *text = NULL;

		p.now = &e;
		if (!pick(n < 2000 ? 2 : 30)) {
			define_any(&e, n, &text);
			if (e.id == EVENT_STACK)
				define_stack(&e, &p.last_stack);
			assert_int_equal(log_names_add(p.all, &e), 0);
		} else {
			enter(&e, p.last_stack);
		}
		p.defined = 0;
		assert_int_equal(carried_event(p.carry, &e, on_definition, &p), 0);
		if (is_definition(&e))
			assert_true(p.defined >= 1);
		else
			again += p.defined;
		assert_resolved(&p, &e);
		free(text);
		if (n % 500 == 499) {
			carried_cut(p.carry);
			log_names_free(p.here);
			p.here = log_names_new();
		}
	}
	assert_true(again > 1000);
	carried_free(p.carry);
	log_names_free(p.here);
	log_names_free(p.all);
}

/* --- what is open ----------------------------------------------------------------------------- */

struct emitted {
	struct event events[256];
	unsigned count;
};

static int collect(void *ctx, const struct event *e)
{
	struct emitted *out = ctx;

	assert_true(out->count < 256);
	out->events[out->count++] = *e;
	return 0;
}

static void add(struct carried_definitions *c, uint16_t id, uint32_t thread, uint64_t time_ns,
		uint64_t first)
{
	struct event e = {.id = id, .thread = thread, .time_ns = time_ns};
	struct emitted out = {.count = 0};

	if (schema_event(id)->field_count)
		e.v[0].u = first;
	assert_int_equal(carried_event(c, &e, collect, &out), 0);
	assert_int_equal(out.count, 0);
}

static void assert_open(struct carried_definitions *c, const uint64_t *times, unsigned count)
{
	struct emitted out = {.count = 0};

	assert_int_equal(carried_open(c, collect, &out), 0);
	assert_int_equal(out.count, count);
	for (unsigned i = 0; i < count; i++) {
		unsigned found = 0;

		for (unsigned k = 0; k < count; k++)
			found += out.events[k].time_ns == times[i];
		assert_int_equal(found, 1);
	}
}

#define OPEN(c, ...)                                                                               \
	assert_open(c, (const uint64_t[]){__VA_ARGS__},                                            \
		    sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void test_open(void **state)
{
	struct carried_definitions *c = NULL;

	(void)state;
	assert_int_equal(carried_new(NULL, &c), 0);
	assert_open(c, NULL, 0);
	add(c, EVENT_MONITOR_WAIT_BEGIN, 1, 10, 5);
	add(c, EVENT_MONITOR_CONTENDED_ENTER, 1, 11, 5);
	add(c, EVENT_MONITOR_CONTENDED_ENTER, 2, 12, 5);
	add(c, EVENT_PARK_BEGIN, 3, 13, 0);
	OPEN(c, 10, 11, 12, 13);
	add(c, EVENT_MONITOR_CONTENDED_ENTERED, 1, 20, 5);
	add(c, EVENT_PARK_END, 4, 21, 0); /* of nothing that is known */
	OPEN(c, 10, 12, 13);
	add(c, EVENT_PARK_BEGIN, 3, 22, 0); /* the end is lost */
	OPEN(c, 10, 12, 22);
	add(c, EVENT_THREAD_SAMPLE, 3, 23, 1);
	add(c, EVENT_THREAD_SAMPLE, 3, 24, 2);
	add(c, EVENT_CPU_SAMPLE, 0, 25, 0);
	add(c, EVENT_CPU_SAMPLE, 0, 26, 1);
	add(c, EVENT_CPU_SAMPLE, 0, 27, 1);
	OPEN(c, 10, 12, 22, 24, 25, 27);
	add(c, EVENT_THREAD_END, 3, 28, 0);
	OPEN(c, 10, 12, 25, 27);
	add(c, EVENT_COLLECTION_BEGIN, 7, 30, 17);
	add(c, EVENT_COLLECTION_BEGIN, 8, 31, 18);
	add(c, EVENT_COLLECTION_END, 9, 32, 17);
	OPEN(c, 10, 12, 25, 27, 31);
	carried_free(c);
}

/* Inner ones end first; they come out behind those that they are in. */
static void test_nested(void **state)
{
	struct emitted out = {.count = 0};
	struct carried_definitions *c = NULL;
	unsigned i;

	(void)state;
	assert_int_equal(carried_new(NULL, &c), 0);
	for (i = 0; i < 100; i++) /* deeper than what is kept */
		add(c, EVENT_SPAN_BEGIN, 1, 100 + i, 1 + i);
	assert_int_equal(carried_open(c, collect, &out), 0);
	assert_int_equal(out.count, 64);
	for (i = 0; i < out.count; i++)
		assert_int_equal(out.events[i].time_ns, 100 + i);
	for (i = 0; i < 98; i++)
		add(c, EVENT_SPAN_END, 1, 200 + i, 0);
	OPEN(c, 100, 101);
	add(c, EVENT_SPAN_END, 1, 300, 0);
	add(c, EVENT_SPAN_BEGIN, 1, 301, 9);
	OPEN(c, 100, 301);
	add(c, EVENT_SPAN_END, 1, 302, 0);
	add(c, EVENT_SPAN_END, 1, 303, 0);
	add(c, EVENT_SPAN_END, 1, 304, 0); /* one too many */
	assert_open(c, NULL, 0);
	carried_free(c);
}

/* What is open brings its definitions with it, and its text is its own. */
static void test_open_is_defined(void **state)
{
	struct event e = {.id = EVENT_CLASS, .time_ns = 1};
	char text[] = "a name";
	struct emitted out = {.count = 0};
	struct carried_definitions *c = NULL;

	(void)state;
	assert_int_equal(carried_new(NULL, &c), 0);
	e.v[CLASS_CLASS].u = 3;
	e.v[CLASS_NAME].s = text;
	assert_int_equal(carried_event(c, &e, collect, &out), 0);
	e = (struct event){.id = EVENT_LOCK, .time_ns = 2};
	e.v[LOCK_LOCK].u = 4;
	e.v[LOCK_CLASS].u = 3;
	assert_int_equal(carried_event(c, &e, collect, &out), 0);
	assert_int_equal(out.count, 2);
	e = (struct event){.id = EVENT_NOTE, .time_ns = 3};
	e.v[NOTE_TEXT].s = text;
	assert_int_equal(carried_event(c, &e, collect, &out), 0);
	add(c, EVENT_MONITOR_CONTENDED_ENTER, 1, 10, 4);
	memset(text, 'x', strlen(text));
	carried_cut(c);
	out.count = 0;
	assert_int_equal(carried_open(c, collect, &out), 0);
	assert_int_equal(out.count, 4);
	assert_int_equal(out.events[0].id, EVENT_NOTE);
	assert_string_equal(out.events[0].v[NOTE_TEXT].s, "a name");
	assert_int_equal(out.events[1].id, EVENT_CLASS);
	assert_string_equal(out.events[1].v[CLASS_NAME].s, "a name");
	assert_int_equal(out.events[1].time_ns, 10);
	assert_int_equal(out.events[2].id, EVENT_LOCK);
	assert_int_equal(out.events[3].id, EVENT_MONITOR_CONTENDED_ENTER);
	carried_free(c);
}

static struct event defined(uint16_t id, uint64_t number, uint64_t refers, const char *text)
{
	struct event e = {.id = id, .time_ns = 1};

	if (id == EVENT_THREAD) {
		e.thread = (uint32_t)number;
		e.v[THREAD_NAME].s = text;
	} else if (id == EVENT_CLASS) {
		e.v[CLASS_CLASS].u = number;
		e.v[CLASS_NAME].s = text;
	} else if (id == EVENT_LOCK) {
		e.v[LOCK_LOCK].u = number;
		e.v[LOCK_CLASS].u = refers;
	} else if (id == EVENT_METHOD) {
		e.v[METHOD_METHOD].u = number;
		e.v[METHOD_CLASS_NAME].s = e.v[METHOD_NAME].s = text;
		e.v[METHOD_SIGNATURE].s = e.v[METHOD_SOURCE].s = "";
	} else if (id == EVENT_STACK) {
		e.v[STACK_STACK].u = number;
		e.v[STACK_CALLER].u = refers;
		e.v[STACK_METHOD].u = 7;
	}
	return e;
}

static void give(struct carried_definitions *c, const struct event *e, struct emitted *out)
{
	out->count = 0;
	assert_int_equal(carried_event(c, e, collect, out), 0);
}

static void give_definition(struct carried_definitions *c, uint16_t id, uint64_t number,
			    uint64_t refers)
{
	struct event e = defined(id, number, refers, "text");
	struct emitted out;

	give(c, &e, &out);
}

/* How many definitions come with an event that names all of these in a new part. */
static unsigned comes_with(struct carried_definitions *c, uint32_t thread, uint64_t lock,
			   uint64_t stack, struct emitted *out)
{
	struct event e = {.id = EVENT_MONITOR_CONTENDED_EXIT, .thread = thread, .time_ns = 9};

	e.v[MONITOR_CONTENDED_EXIT_LOCK].u = lock;
	e.v[MONITOR_CONTENDED_EXIT_STACK].u = stack;
	carried_cut(c);
	give(c, &e, out);
	return out->count;
}

/* What the recorder has forgotten goes when no other definition needs it. */
static void test_forget(void **state)
{
	struct carried_definitions *c = NULL;
	struct emitted out;

	(void)state;
	assert_int_equal(carried_new(NULL, &c), 0);
	give_definition(c, EVENT_THREAD, 1, 0);
	give_definition(c, EVENT_CLASS, 2, 0);
	give_definition(c, EVENT_LOCK, 3, 2);
	give_definition(c, EVENT_METHOD, 7, 0);
	give_definition(c, EVENT_STACK, 4, 0);
	give_definition(c, EVENT_STACK, 5, 4);
	assert_int_equal(comes_with(c, 1, 3, 5, &out), 6);
	carried_forget(c, EVENT_CLASS, 2);
	carried_forget(c, EVENT_STACK, 4);
	carried_forget(c, EVENT_METHOD, 7);
	assert_int_equal(comes_with(c, 1, 3, 5, &out), 6);
	assert_int_equal(comes_with(c, 1, 3, 4, &out), 5);
	carried_forget(c, EVENT_LOCK, 3);
	assert_int_equal(comes_with(c, 1, 3, 5, &out), 4);
	give_definition(c, EVENT_LOCK, 8, 2); /* its class is gone: it has none */
	assert_int_equal(comes_with(c, 0, 8, 0, &out), 1);
	assert_int_equal(out.events[0].v[LOCK_CLASS].u, 0);
	carried_forget(c, EVENT_STACK, 5); /* with its caller and their method */
	assert_int_equal(comes_with(c, 0, 0, 4, &out), 0);
	carried_forget(c, EVENT_THREAD, 1);
	carried_forget(c, EVENT_THREAD, 1);
	carried_forget(c, EVENT_THREAD, 77);
	carried_forget(c, EVENT_NOTE, 1);
	assert_int_equal(comes_with(c, 1, 0, 0, &out), 0);
	carried_free(c);
}

/* Whoever writes may ask what a number stands for. */
static void test_find(void **state)
{
	struct carried_definitions *c = NULL;
	struct event e;

	(void)state;
	assert_int_equal(carried_new(NULL, &c), 0);
	assert_false(carried_find(c, EVENT_THREAD, 1, &e));
	give_definition(c, EVENT_THREAD, 1, 0);
	give_definition(c, EVENT_CLASS, 2, 0);
	give_definition(c, EVENT_LOCK, 3, 2);
	assert_true(carried_find(c, EVENT_THREAD, 1, &e));
	assert_int_equal(e.thread, 1);
	assert_string_equal(e.v[THREAD_NAME].s, "text");
	assert_true(carried_find(c, EVENT_LOCK, 3, &e));
	assert_int_equal(e.v[LOCK_CLASS].u, 2);
	assert_true(carried_find(c, EVENT_CLASS, 2, &e));
	assert_int_equal(e.v[CLASS_CLASS].u, 2);
	assert_false(carried_find(c, EVENT_LOCK, 2, &e));
	assert_false(carried_find(c, EVENT_LOCK, 0, &e));
	assert_false(carried_find(c, EVENT_NOTE, 1, &e));
	carried_forget(c, EVENT_THREAD, 1);
	assert_false(carried_find(c, EVENT_THREAD, 1, &e));
	carried_free(c);
}

/* An event that is open for longer than what it names is known names it no more. */
static void test_open_and_forgotten(void **state)
{
	struct event enter = {.id = EVENT_MONITOR_CONTENDED_ENTER, .thread = 1, .time_ns = 3};
	struct carried_definitions *c = NULL;
	struct emitted out;

	(void)state;
	assert_int_equal(carried_new(NULL, &c), 0);
	give_definition(c, EVENT_THREAD, 1, 0);
	give_definition(c, EVENT_LOCK, 3, 0);
	give_definition(c, EVENT_STACK, 4, 0);
	enter.v[MONITOR_CONTENDED_ENTER_LOCK].u = 3;
	enter.v[MONITOR_CONTENDED_ENTER_STACK].u = 4;
	give(c, &enter, &out);
	carried_forget(c, EVENT_STACK, 4);
	carried_cut(c);
	out.count = 0;
	assert_int_equal(carried_open(c, collect, &out), 0);
	assert_int_equal(out.count, 3);
	assert_int_equal(out.events[2].v[MONITOR_CONTENDED_ENTER_LOCK].u, 3);
	assert_int_equal(out.events[2].v[MONITOR_CONTENDED_ENTER_STACK].u, 0);
	carried_free(c);
}

/* Classes beyond the budget: those that the recorder has forgotten go, though locks name them. */
static void test_budget(void **state)
{
	struct budget budget = {.max = 256 * 1024};
	struct carried_definitions *c = NULL;
	unsigned without = 0;
	struct emitted out;

	(void)state;
	assert_int_equal(carried_new(&budget, &c), 0);
	for (uint64_t n = 1; n <= 10000; n++) {
		give_definition(c, EVENT_CLASS, n, 0);
		give_definition(c, EVENT_LOCK, n, n);
		carried_forget(c, EVENT_CLASS, n);
		assert_true(budget.most <= budget.max);
	}
	for (uint64_t n = 1; n <= 10000; n++) {
		unsigned count = comes_with(c, 0, n, 0, &out);

		without += count == 1;
		assert_int_equal(out.events[count - 1].v[LOCK_CLASS].u, count == 1 ? 0 : n);
	}
	assert_in_range(without, 5000, 9900);
	carried_free(c);
	assert_int_equal(budget.used, 0);
}

static int run(void)
{
	struct emitted out = {.count = 0};
	struct carried_definitions *c = NULL;
	struct event e;
	int err = carried_new(NULL, &c);

	for (unsigned n = 0; !err && fixture_nth(n, &e); n++) {
		out.count = 0;
		err = carried_event(c, &e, collect, &out);
		if (!err && n % 40 == 39) {
			carried_cut(c);
			out.count = 0;
			err = carried_open(c, collect, &out);
		}
	}
	if (c)
		carried_free(c);
	return err;
}

static void test_no_memory(void **state)
{
	unsigned long n = 0;
	bool failed;
	int err;

	(void)state;
	do {
		alloc_fail_at(n++);
		err = run();
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
	} while (failed);
	assert_true(n > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_definitions),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_open_is_defined),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_open_and_forgotten),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
