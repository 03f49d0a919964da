/* Spans: small cases with known answers, and random ones against an oracle that keeps them all. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyze/spans/span_kept.h"
#include "analyze/spans/span_name.h"
#include "analyze/spans/spans.h"
#include "log/format/event.h"
#include "log/read/names.h"
#include "tests/unit/alloc_fail.h"

#define NAMES 5
#define TEXTS                                                                                      \
	{                                                                                          \
		"", "GET /a", "GET /b", "POST /a", "req-1 /a", "req-2 /a"                          \
	}

struct fixture {
	struct log_names *names;
	struct spans *spans;
	regex_t expression;
	bool has_expression;
};

static int begin(struct fixture *f, struct spans_options o, const char *expression)
{
	static const char *const texts[NAMES + 1] = TEXTS;
	int err = 0;

	*f = (struct fixture){.names = log_names_new()};
	if (!f->names)
		return -ENOMEM;
	for (unsigned i = 1; i <= NAMES && !err; i++) {
		struct event e = {.id = EVENT_STRING};

		e.v[STRING_STRING].u = i;
		e.v[STRING_TEXT].s = texts[i];
		err = log_names_add(f->names, &e);
	}
	if (err)
		return err;
	if (expression) {
		if (regcomp(&f->expression, expression, REG_EXTENDED))
			return -ENOMEM;
		f->has_expression = true;
		o.thread_name = &f->expression;
	}
	o.names = f->names;
	f->spans = spans_new(&o);
	return f->spans ? 0 : -ENOMEM;
}

static void end(struct fixture *f)
{
	spans_free(f->spans);
	if (f->has_expression)
		regfree(&f->expression);
	log_names_free(f->names);
}

/* What a thread has counted by a moment: enough to tell states apart. */
struct counts {
	uint64_t cpu, blocked, lock;
};

static int add(struct fixture *f, uint16_t id, uint64_t ns, uint32_t thread, uint64_t name,
	       struct counts c)
{
	struct event e = {.id = id, .time_ns = ns, .thread = thread};
	unsigned first = id == EVENT_SPAN_BEGIN      ? SPAN_BEGIN_CPU_NS
			 : id == EVENT_SPAN_END      ? SPAN_END_CPU_NS
			 : id == EVENT_THREAD_RENAME ? THREAD_RENAME_CPU_NS
						     : THREAD_END_CPU_NS;

	if (id == EVENT_SPAN_BEGIN)
		e.v[SPAN_BEGIN_NAME].u = name;
	if (id == EVENT_THREAD_RENAME)
		e.v[THREAD_RENAME_NAME].u = name;
	e.v[first].u = c.cpu;
	e.v[first + SPAN_END_BLOCKED_NS - SPAN_END_CPU_NS].u = c.blocked;
	e.v[first + SPAN_END_LOCK_NS - SPAN_END_CPU_NS].u = c.lock;
	return spans_add(f->spans, &e);
}

static int opens(struct fixture *f, uint64_t ns, uint32_t thread, uint64_t name, struct counts c)
{
	return add(f, EVENT_SPAN_BEGIN, ns, thread, name, c);
}

static int closes(struct fixture *f, uint64_t ns, uint32_t thread, struct counts c)
{
	return add(f, EVENT_SPAN_END, ns, thread, 0, c);
}

static int named(struct fixture *f, uint64_t ns, uint32_t thread, uint64_t name)
{
	return add(f, EVENT_THREAD_RENAME, ns, thread, name, (struct counts){ns, 0, 0});
}

static const struct span_name *find(const struct fixture *f, const char *text)
{
	uint32_t count;
	const struct span_name *const *all = spans_by_name(f->spans, &count);

	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(all[i]->text, text))
			return all[i];
	fail_msg("there is no %s", text);
	return NULL;
}

/* 1 from 100 to 200, in it 2 from 120 to 150 and from 160 to 165: 10 of these in a lock. */
static void time_of_the_inner_is_not_of_the_outer_itself(void **state)
{
	const struct span_name *outer, *inner;
	const struct span *const *slowest;
	struct fixture f;
	uint32_t count;

	(void)state;
	assert_int_equal(begin(&f, (struct spans_options){.top = 2}, NULL), 0);
	assert_int_equal(opens(&f, 100, 7, 1, (struct counts){1000, 50, 5}), 0);
	assert_int_equal(opens(&f, 120, 7, 2, (struct counts){1015, 55, 5}), 0);
	assert_int_equal(closes(&f, 150, 7, (struct counts){1030, 70, 12}), 0);
	assert_int_equal(opens(&f, 160, 7, 2, (struct counts){1040, 70, 12}), 0);
	assert_int_equal(closes(&f, 165, 7, (struct counts){1042, 73, 15}), 0);
	assert_int_equal(closes(&f, 200, 7, (struct counts){1077, 73, 15}), 0);
	assert_int_equal(spans_finish(f.spans, 300), 0);
	outer = find(&f, "GET /a");
	inner = find(&f, "GET /b");
	assert_int_equal(outer->total_ns, 100);
	assert_int_equal(outer->self_ns, 65);
	assert_int_equal(outer->states.ns[STATE_RUNNING], 77);
	assert_int_equal(outer->states.ns[STATE_LOCK], 10);
	assert_int_equal(outer->states.ns[STATE_OTHER], 13);
	assert_int_equal(outer->self.ns[STATE_RUNNING], 60);
	assert_int_equal(outer->self.ns[STATE_LOCK], 0);
	assert_int_equal(inner->times.count, 2);
	assert_int_equal(inner->total_ns, 35);
	assert_int_equal(inner->states.ns[STATE_LOCK], 10);
	assert_int_equal(states_sum(&inner->states), 35);
	slowest = spans_slowest(f.spans, &count);
	assert_int_equal(count, 2);
	assert_string_equal(slowest[0]->name, "GET /a");
	assert_null(slowest[0]->within);
	assert_int_equal(slowest[1]->ns, 30);
	assert_string_equal(slowest[1]->within, "GET /a");
	assert_int_equal(spans_facts(f.spans).count, 3);
	assert_int_equal(spans_facts(f.spans).error_ns, 0);
	end(&f);
}

/* What does not add up is counted: 30 ns long, 25 of them known. */
static void what_is_missing_is_counted(void **state)
{
	const struct span *const *open;
	struct fixture f;
	uint32_t count;

	(void)state;
	assert_int_equal(begin(&f, (struct spans_options){.top = 9}, NULL), 0);
	assert_int_equal(closes(&f, 90, 7, (struct counts){0}), 0);
	assert_int_equal(opens(&f, 100, 7, 1, (struct counts){0}), 0);
	assert_int_equal(closes(&f, 130, 7, (struct counts){25, 0, 0}), 0);
	assert_int_equal(opens(&f, 140, 7, 1, (struct counts){0}), 0);
	assert_int_equal(opens(&f, 150, 7, 2, (struct counts){0}), 0);
	assert_int_equal(opens(&f, 160, 8, 3, (struct counts){0}), 0);
	assert_int_equal(add(&f, EVENT_THREAD_END, 170, 8, 0, (struct counts){0}), 0);
	assert_int_equal(closes(&f, 171, 8, (struct counts){0}), 0);
	spans_charge(f.spans, 7, 5, 145, 155, 8, 1);
	assert_int_equal(spans_finish(f.spans, 1000), 0);
	assert_int_equal(spans_facts(f.spans).begin_missing, 2);
	assert_int_equal(spans_facts(f.spans).error_ns, 5);
	assert_int_equal(spans_facts(f.spans).open, 3);
	open = spans_open(f.spans, &count);
	assert_int_equal(count, 3);
	assert_string_equal(open[0]->name, "GET /a");
	assert_int_equal(open[0]->ns, 860);
	assert_int_equal(open[0]->blockers.by[0].ns, 10);
	assert_string_equal(open[1]->within, "GET /a");
	assert_int_equal(open[1]->blockers.by[0].ns, 5);
	assert_string_equal(open[2]->name, "POST /a");
	assert_int_equal(open[2]->ns, 10);
	end(&f);
}

static void names_can_be_chosen(void **state)
{
	struct fixture f;
	uint32_t count;

	(void)state;
	assert_int_equal(begin(&f, (struct spans_options){.top = 9, .pattern = "GET *"}, NULL), 0);
	for (uint64_t name = 0; name <= 3; name++) {
		assert_int_equal(opens(&f, 100 * name, 7, name, (struct counts){0}), 0);
		assert_int_equal(closes(&f, 100 * name + 50, 7, (struct counts){0}), 0);
	}
	assert_int_equal(spans_finish(f.spans, 1000), 0);
	spans_by_name(f.spans, &count);
	assert_int_equal(count, 2);
	spans_slowest(f.spans, &count);
	assert_int_equal(count, 2);
	assert_int_equal(spans_facts(f.spans).other_names, 2);
	end(&f);
}

/* Thread 7 is req-1 and req-2, then something else; 8 ends as req-1; marks do not matter. */
static void a_name_of_a_thread_is_a_span(void **state)
{
	struct fixture f;

	(void)state;
	assert_int_equal(begin(&f, (struct spans_options){.top = 9, .by_thread_name = true},
			       "^(req)-[0-9]+ (/.*)"),
			 0);
	assert_int_equal(named(&f, 100, 7, 4), 0);
	assert_int_equal(opens(&f, 110, 7, 1, (struct counts){0}), 0);
	assert_int_equal(closes(&f, 120, 7, (struct counts){0}), 0);
	assert_int_equal(named(&f, 150, 7, 5), 0);
	assert_int_equal(named(&f, 170, 7, 1), 0);
	assert_int_equal(named(&f, 200, 8, 4), 0);
	assert_int_equal(named(&f, 300, 7, 5), 0);
	assert_int_equal(add(&f, EVENT_THREAD_END, 230, 8, 0, (struct counts){230, 0, 0}), 0);
	assert_int_equal(spans_finish(f.spans, 1000), 0);
	assert_int_equal(find(&f, "req /a")->times.count, 3);
	assert_int_equal(find(&f, "req /a")->total_ns, 50 + 20 + 30);
	assert_int_equal(find(&f, "req /a")->states.ns[STATE_RUNNING], 100);
	assert_int_equal(spans_facts(f.spans).other_names, 1);
	assert_int_equal(spans_facts(f.spans).open, 1);
	end(&f);
}

static void expressions_cut_names(void **state)
{
	static const struct {
		const char *expression, *text, *wanted;
	} cases[] = {
		{"(GET|POST) [^ ]+", "x GET /a b", "GET"},
		{"GET [^ ]+", "x GET /a b", "GET /a"},
		{"(x)?(y)?z", "yz", "y"},
		{"(a) (b)", "a b", "a b"},
		{"(a*)b", "b", NULL},
		{"^GET", "POST", NULL},
	};
	char buf[SPAN_NAME_BYTES], long_text[2 * SPAN_NAME_BYTES];
	regex_t byte; /* in the locale C */

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		regex_t expression;

		assert_int_equal(regcomp(&expression, cases[i].expression, REG_EXTENDED), 0);
		assert_int_equal(span_name_cut(&expression, cases[i].text, buf),
				 cases[i].wanted != NULL);
		if (cases[i].wanted)
			assert_string_equal(buf, cases[i].wanted);
		regfree(&expression);
	}
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = 0;
	assert_true(span_name_cut(NULL, long_text, buf));
	assert_int_equal(strlen(buf), SPAN_NAME_BYTES - 1);
	/* Not within a character: JSON would refuse the name. */
	memset(long_text, 'x', SPAN_NAME_BYTES - 2);
	memcpy(long_text + SPAN_NAME_BYTES - 2, "\xc3\xa9", 3);
	assert_true(span_name_cut(NULL, long_text, buf));
	assert_int_equal(strlen(buf), SPAN_NAME_BYTES - 2);
	assert_int_equal(regcomp(&byte, "^.(.)", REG_EXTENDED), 0);
	assert_true(span_name_cut(&byte, "\xc3\xa9t\xc3\xa9", buf));
	assert_string_equal(buf, "\xef\xbf\xbd");
	regfree(&byte);
}

/* 1 from 100 to 200, in it 2 from 120 to 150; a wait from 90 to 130 is told at once, one from 140 to
 * 160 when both have ended. */
static void waits_go_to_all_spans_that_they_overlap(void **state)
{
	const struct span *const *slowest;
	struct fixture f;
	uint32_t count;

	(void)state;
	assert_int_equal(begin(&f, (struct spans_options){.top = 2}, NULL), 0);
	assert_int_equal(opens(&f, 100, 7, 1, (struct counts){0}), 0);
	assert_int_equal(opens(&f, 120, 7, 2, (struct counts){0}), 0);
	spans_charge(f.spans, 7, 3, 90, 130, 8, 11);
	spans_charge(f.spans, 9, 3, 90, 130, 8, 11);
	assert_int_equal(closes(&f, 150, 7, (struct counts){10, 20, 20}), 0);
	assert_int_equal(closes(&f, 200, 7, (struct counts){50, 50, 50}), 0);
	spans_charge(f.spans, 7, 3, 140, 160, 8, 11);
	spans_charge(f.spans, 7, 4, 195, 250, 0, 0);
	spans_charge(f.spans, 7, 4, 200, 250, 0, 0);
	assert_int_equal(spans_finish(f.spans, 1000), 0);
	slowest = spans_slowest(f.spans, &count);
	assert_int_equal(count, 2);
	assert_int_equal(slowest[0]->blockers.count, 2);
	assert_int_equal(slowest[0]->blockers.by[0].ns, 30 + 20);
	assert_int_equal(slowest[0]->blockers.by[1].ns, 5);
	assert_int_equal(slowest[1]->blockers.count, 1);
	assert_int_equal(slowest[1]->blockers.by[0].ns, 10 + 10);
	assert_int_equal(find(&f, "GET /a")->blockers.by[0].ns, 50);
	assert_int_equal(find(&f, "GET /b")->blockers.by[0].ns, 20);
	assert_int_equal(spans_facts(f.spans).late_ns, 0);
	end(&f);
}

/* Of more blockers than there is room for the sum is kept. */
static void many_blockers(void **state)
{
	const struct span *const *slowest;
	struct fixture f;
	uint64_t sum;
	uint32_t count;

	(void)state;
	assert_int_equal(begin(&f, (struct spans_options){.top = 1}, NULL), 0);
	assert_int_equal(opens(&f, 0, 7, 1, (struct counts){0}), 0);
	for (uint64_t i = 0; i < 100; i++)
		spans_charge(f.spans, 7, 1 + i, 10 * i, 10 * i + 5, 8, 0);
	assert_int_equal(closes(&f, 1000, 7, (struct counts){0, 1000, 500}), 0);
	assert_int_equal(spans_finish(f.spans, 1000), 0);
	slowest = spans_slowest(f.spans, &count);
	sum = slowest[0]->blockers.rest_ns;
	assert_true(sum > 0);
	for (uint32_t i = 0; i < slowest[0]->blockers.count; i++)
		sum += slowest[0]->blockers.by[i].ns;
	assert_int_equal(sum, 500);
	assert_int_equal(find(&f, "GET /a")->blockers.rest_ns, slowest[0]->blockers.rest_ns);
	end(&f);
}

/* A wait of a span that is not kept any more is counted as late; one of the slowest is not. */
static void waits_may_come_too_late(void **state)
{
	struct fixture f;

	(void)state;
	assert_int_equal(begin(&f, (struct spans_options){.top = 1}, NULL), 0);
	for (uint64_t i = 0; i < SPANS_RECENT_MAX + 2; i++) {
		struct counts c = {0, 20 * i, 20 * i}, then = {0, 20 * i + 10, 20 * i + 10};

		assert_int_equal(opens(&f, 1000 * i, 7, 1, c), 0);
		assert_int_equal(closes(&f, 1000 * i + (i == 1 ? 500 : 100), 7, then), 0);
	}
	spans_charge(f.spans, 7, 3, 10, 30, 8, 0); /* the first, forgotten */
	assert_int_equal(spans_facts(f.spans).late_ns, 20);
	spans_charge(f.spans, 7, 3, 1010, 1030, 8, 0); /* the slowest */
	spans_charge(f.spans, 7, 3, 2010, 2030, 8, 0); /* a recent one */
	spans_charge(f.spans, 7, 3, 2400, 2430, 8, 0); /* between two */
	assert_int_equal(spans_facts(f.spans).late_ns, 20);
	assert_int_equal(spans_finish(f.spans, 1ull << 40), 0);
	assert_int_equal(find(&f, "GET /a")->blockers.by[0].ns, 40);
	end(&f);
}

static void too_deep_and_too_many(void **state)
{
	struct fixture f;
	uint32_t count;

	(void)state;
	assert_int_equal(begin(&f, (struct spans_options){.top = 1}, NULL), 0);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(opens(&f, i, 7, 1, (struct counts){0}), 0);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(closes(&f, 1000 + i, 7, (struct counts){0}), 0);
	assert_int_equal(spans_facts(f.spans).too_deep, 36);
	assert_int_equal(spans_facts(f.spans).count, 64);
	assert_int_equal(spans_facts(f.spans).begin_missing, 0);
	for (uint64_t i = 0; i < SPAN_NAMES_MAX + 10; i++) {
		struct event e = {.id = EVENT_STRING};
		char text[32];

		snprintf(text, sizeof(text), "number %llu", (unsigned long long)i);
		e.v[STRING_STRING].u = 100 + i;
		e.v[STRING_TEXT].s = text;
		assert_int_equal(log_names_add(f.names, &e), 0);
		assert_int_equal(opens(&f, 2000 + i, 7, 100 + i, (struct counts){0}), 0);
		assert_int_equal(closes(&f, 2001 + i, 7, (struct counts){0}), 0);
	}
	assert_int_equal(spans_finish(f.spans, 1ull << 40), 0);
	spans_by_name(f.spans, &count);
	assert_int_equal(count, SPAN_NAMES_MAX);
	assert_int_equal(spans_facts(f.spans).no_room, 11);
	end(&f);
}

/* --- random -------------------------------------------------------------------------------- */

#define THREADS 4
#define DEPTH 6
#define STEPS 3000
#define TOP 40
#define SCHEDULES 40

struct made {
	uint64_t begin, ns, name, inner;
	uint32_t thread;
};

struct oracle {
	struct made open[THREADS][DEPTH], ended[STEPS];
	unsigned depth[THREADS], count;
};

static uint64_t seed;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % n;
}

/* A thread runs all the time; so its states say how much of a span is its own. */
static int step(struct fixture *f, struct oracle *o, uint64_t now)
{
	unsigned t = below(THREADS), *depth = &o->depth[t];
	struct counts c = {now, 0, 0};
	struct made *m;

	if (*depth < DEPTH && (!*depth || below(2))) {
		m = &o->open[t][(*depth)++];
		*m = (struct made){.begin = now, .name = 1 + below(3), .thread = t + 1};
		return opens(f, now, t + 1, m->name, c);
	}
	m = &o->open[t][--*depth];
	m->ns = now - m->begin;
	if (*depth)
		m[-1].inner += m->ns;
	o->ended[o->count++] = *m;
	return closes(f, now, t + 1, c);
}

static int random_schedule(struct fixture *f, struct oracle *o, unsigned steps)
{
	uint64_t now = 1000;
	int err = 0;

	for (unsigned i = 0; i < steps && !err; i++, now += 1 + below(below(20) ? 50 : 5000))
		err = step(f, o, now);
	return err;
}

static int slower(const void *a, const void *b)
{
	const struct made *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
				    : (x->thread > y->thread) - (x->thread < y->thread);
}

static void compare(struct fixture *f, struct oracle *o)
{
	static const char *const texts[NAMES + 1] = TEXTS;
	const struct span *const *slowest;
	uint32_t count;

	qsort(o->ended, o->count, sizeof(*o->ended), slower);
	slowest = spans_slowest(f->spans, &count);
	assert_int_equal(count, o->count < TOP ? o->count : TOP);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(slowest[i]->ns, o->ended[i].ns);
		assert_int_equal(slowest[i]->begin_ns, o->ended[i].begin);
		assert_int_equal(slowest[i]->thread, o->ended[i].thread);
		assert_string_equal(slowest[i]->name, texts[o->ended[i].name]);
	}
	for (uint64_t name = 1; name <= 3; name++) {
		const struct span_name *n = find(f, texts[name]);
		uint64_t total = 0, self = 0, number = 0;

		for (unsigned i = 0; i < o->count; i++) {
			if (o->ended[i].name != name)
				continue;
			number++;
			total += o->ended[i].ns;
			self += o->ended[i].ns - o->ended[i].inner;
		}
		assert_int_equal(n->times.count, number);
		assert_int_equal(n->total_ns, total);
		assert_int_equal(n->states.ns[STATE_RUNNING], total);
		assert_int_equal(n->self_ns, self);
		assert_int_equal(n->self.ns[STATE_RUNNING], self);
	}
}

static void agrees_with_the_oracle(void **state)
{
	static struct oracle o;

	(void)state;
	for (unsigned n = 0; n < SCHEDULES; n++) {
		struct fixture f;

		seed = n;
		o = (struct oracle){0};
		assert_int_equal(begin(&f, (struct spans_options){.top = TOP}, NULL), 0);
		assert_int_equal(random_schedule(&f, &o, STEPS), 0);
		assert_int_equal(spans_finish(f.spans, UINT64_MAX), 0);
		assert_int_equal(spans_facts(f.spans).count, o.count);
		compare(&f, &o);
		end(&f);
	}
}

static uint64_t any_number(void)
{
	uint64_t number = (uint64_t)below(1u << 31) << 33 ^ (uint64_t)below(1u << 31) << 2;

	return number >> below(64);
}

/* What a damaged log may have: times that go back, counts that do, numbers that mean nothing. */
static void any_events_do(void **state)
{
	static const uint16_t ids[] = {EVENT_SPAN_BEGIN, EVENT_SPAN_BEGIN, EVENT_SPAN_END,
				       EVENT_THREAD_END};
	struct fixture f;
	uint64_t begun = 0, ended = 0;

	(void)state;
	seed = 11;
	assert_int_equal(begin(&f, (struct spans_options){.top = 7}, NULL), 0);
	for (unsigned i = 0; i < 100000; i++) {
		uint16_t id = ids[below(below(50) ? 3 : 4)];
		struct counts c = {any_number(), any_number(), any_number()};

		assert_int_equal(add(&f, id, any_number(), below(5), any_number() % 9, c), 0);
		begun += id == EVENT_SPAN_BEGIN;
		ended += id == EVENT_SPAN_END;
		spans_charge(f.spans, below(5), below(3), any_number(), any_number(), below(3),
			     below(3));
	}
	assert_int_equal(spans_finish(f.spans, any_number()), 0);
	assert_int_equal(begun, spans_facts(f.spans).count + spans_facts(f.spans).open +
					spans_facts(f.spans).too_deep);
	assert_true(ended >= spans_facts(f.spans).count + spans_facts(f.spans).begin_missing);
	end(&f);
}

static bool survives(unsigned long fail_at)
{
	static struct oracle o;
	struct fixture f;
	bool failed;
	int err;

	seed = 5;
	o = (struct oracle){0};
	alloc_fail_at(fail_at);
	err = begin(&f, (struct spans_options){.top = 3}, NULL);
	if (!err)
		err = random_schedule(&f, &o, 60);
	if (!err)
		err = spans_finish(f.spans, 1ull << 40);
	failed = alloc_fail_off();
	assert_int_equal(err, failed ? -ENOMEM : 0);
	end(&f);
	return !failed;
}

static void survives_without_memory(void **state)
{
	unsigned long n = 0;

	(void)state;
	while (!survives(n))
		n++;
	assert_true(n > 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_of_the_inner_is_not_of_the_outer_itself),
		cmocka_unit_test(what_is_missing_is_counted),
		cmocka_unit_test(names_can_be_chosen),
		cmocka_unit_test(a_name_of_a_thread_is_a_span),
		cmocka_unit_test(expressions_cut_names),
		cmocka_unit_test(waits_go_to_all_spans_that_they_overlap),
		cmocka_unit_test(many_blockers),
		cmocka_unit_test(waits_may_come_too_late),
		cmocka_unit_test(too_deep_and_too_many),
		cmocka_unit_test(agrees_with_the_oracle),
		cmocka_unit_test(any_events_do),
		cmocka_unit_test(survives_without_memory),
	};

	return cmocka_run_group_tests_name("analyze_spans", tests, NULL, NULL);
}
