/* steal/audit.c: from samples to spans: the published example, counters that go wrong, threads and CPUs that come and
 * go. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "steal/top.h"
#include "steal_samples.h"
#include "tests/unit/alloc_fail.h"

static struct steal_audit *audit_of(const struct steal_source *of)
{
	struct steal_audit *a = NULL;

	assert_int_equal(steal_audit_new(of, false, 4, &a), 0);
	return a;
}

static const struct steal_span *add(struct steal_audit *a, const struct sample *sample)
{
	const struct steal_span *s = NULL;

	assert_int_equal(steal_audit_add(a, &sample->s, &s), 1);
	return s;
}

static void add_first(struct steal_audit *a, const struct sample *sample)
{
	const struct steal_span *s = NULL;

	assert_int_equal(steal_audit_add(a, &sample->s, &s), 0);
	assert_null(s);
}

/* Hofer, figure 5.1: samples at 12 and 22; CPUs 1 and 2 are suspended from 14 to 19; T1 on CPU 1, T2 on CPU 2 until 21,
 * then T3; CPU 3 is idle. has: the kernel leaves stolen time in the threads' times. */
static void figure_5_1(struct sample *first, struct sample *second, bool has)
{
	at(first, 12 * S);
	at(second, 22 * S);
	for (uint32_t n = 1; n <= 3; n++) {
		cpu(first, n, 40 * S, 60 * S, 0);
		cpu(second, n, 40 * S + (n < 3 ? 5 * S : 0), 60 * S + (n < 3 ? 5 * S : 0), n < 3 ? 0 : 10 * S);
	}
	thread(first, 1, 12 * S, 0);
	thread(first, 2, 12 * S, 0);
	thread(first, 3, 0, 0);
	thread(second, 1, 12 * S + (has ? 10 : 5) * S, 5 * S);
	thread(second, 2, 12 * S + (has ? 9 : 4) * S, 5 * S);
	thread(second, 3, 1 * S, 0);
}

static void the_published_example(void **state)
{
	struct steal_audit *a = audit_of(&tick_source);
	struct sample first, second;
	const struct steal_span *s;
	struct steal_use u;

	(void)state;
	figure_5_1(&first, &second, true);
	add_first(a, &first);
	s = add(a, &second);
	assert_int_equal(s->stolen_ns, 10 * S);
	assert_int_equal(row(s, 1).stolen_ns[STEAL_PROPORTIONAL], 5 * S);
	assert_int_equal(row(s, 2).stolen_ns[STEAL_PROPORTIONAL], 4500 * MS);
	assert_int_equal(row(s, 3).stolen_ns[STEAL_PROPORTIONAL], 500 * MS);
	assert_int_equal(s->others_ns[STEAL_PROPORTIONAL], 0);
	u = row(s, 1);
	assert_int_equal(steal_apparent_ns(s, &u, STEAL_PROPORTIONAL), 10 * S);
	assert_int_equal(steal_corrected_ns(s, &u, STEAL_PROPORTIONAL), 5 * S);
	steal_audit_free(a);
}

/* The same schedule with a source that knows, and a kernel that takes stolen time out. */
static void the_published_example_exactly(void **state)
{
	struct steal_audit *a = audit_of(&exact_source);
	struct sample first, second;
	const struct steal_span *s;
	struct steal_use u;

	(void)state;
	figure_5_1(&first, &second, false);
	add_first(a, &first);
	s = add(a, &second);
	assert_int_equal(row(s, 1).stolen_ns[STEAL_EXACT], 5 * S);
	assert_int_equal(row(s, 2).stolen_ns[STEAL_EXACT], 5 * S);
	assert_int_equal(row(s, 3).stolen_ns[STEAL_EXACT], 0);
	assert_int_equal(s->others_ns[STEAL_EXACT], 0);
	u = row(s, 2);
	assert_int_equal(steal_apparent_ns(s, &u, STEAL_EXACT), 9 * S);
	assert_int_equal(steal_corrected_ns(s, &u, STEAL_EXACT), 4 * S);
	/* In proportion to 5, 4 and 1. */
	assert_int_equal(row(s, 2).stolen_ns[STEAL_PROPORTIONAL], 4 * S);
	steal_audit_free(a);
}

/* What others have used of the CPUs has its share, too. */
static void the_rest_is_the_others(void **state)
{
	struct steal_audit *a = audit_of(&tick_source);
	struct sample m;
	const struct steal_span *s;

	(void)state;
	at(&m, 10 * S);
	cpu(&m, 0, 0, 0, 0);
	thread(&m, 1, 0, 0);
	add_first(a, &m);
	at(&m, 20 * S);
	cpu(&m, 0, 2 * S, 8 * S, 0);
	thread(&m, 1, 4 * S, 0);
	s = add(a, &m);
	assert_int_equal(row(s, 1).stolen_ns[STEAL_PROPORTIONAL], 800 * MS);
	assert_int_equal(s->others_ns[STEAL_PROPORTIONAL], 1200 * MS);
	assert_int_equal(s->threads_ns[STEAL_PROPORTIONAL], 800 * MS);
	/* Nobody has run, and still something was stolen. */
	at(&m, 30 * S);
	cpu(&m, 0, 3 * S, 8 * S, 9 * S);
	thread(&m, 1, 4 * S, 0);
	s = add(a, &m);
	assert_int_equal(s->others_ns[STEAL_PROPORTIONAL], 1 * S);
	assert_int_equal(s->thread_count, 0);
	steal_audit_free(a);
}

/* One CPU that is stolen from, one that goes on; each case is what the first one's counter does. */
static void counters_of_cpus_that_go_wrong(void **state)
{
	static const struct {
		uint64_t before, after, stolen_ns;
		enum steal_fault fault;
	} cases[] = {
		{50 * S, 2 * S, 0, STEAL_DECREASED},
		{50 * S, 500 * S, 0, STEAL_JUMPED},
		{0, UINT64_MAX, 0, STEAL_JUMPED},
		{(1ull << 32) * TICK - TICK, 4 * TICK, 5 * TICK, STEAL_WRAPPED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct steal_audit *a = audit_of(&tick_source);
		const struct steal_span *s;
		struct sample m;

		at(&m, 10 * S);
		cpu(&m, 0, cases[i].before, 0, 0);
		cpu(&m, 1, 7 * S, 0, 0);
		add_first(a, &m);
		at(&m, 11 * S);
		cpu(&m, 0, cases[i].after, S / 2, 0);
		cpu(&m, 1, 7 * S + 30 * MS, S / 2, 0);
		s = add(a, &m);
		assert_int_equal(s->stolen_ns, cases[i].stolen_ns + 30 * MS);
		assert_int_equal(s->faults[cases[i].fault], 1);
		/* After that, all is well again. */
		at(&m, 12 * S);
		cpu(&m, 0, cases[i].after == UINT64_MAX ? UINT64_MAX : cases[i].after + 20 * MS, S, 0);
		cpu(&m, 1, 7 * S + 30 * MS, S, 0);
		s = add(a, &m);
		assert_int_equal(s->stolen_ns, cases[i].after == UINT64_MAX ? 0 : 20 * MS);
		for (int f = 0; f < STEAL_FAULT_COUNT; f++)
			assert_int_equal(s->faults[f], 0);
		steal_audit_free(a);
	}
}

/* A thread that migrates is told the same counter by another CPU's clock, which may be behind. */
static void counters_of_threads_that_go_wrong(void **state)
{
	struct steal_audit *a = audit_of(&exact_source);
	const struct steal_span *s;
	struct sample m;

	(void)state;
	at(&m, 10 * S);
	cpu(&m, 0, 0, 0, 0);
	thread(&m, 1, 5 * S, 2 * S);
	thread(&m, 2, 5 * S, 2 * S);
	add_first(a, &m);
	at(&m, 11 * S);
	cpu(&m, 0, 100 * MS, 900 * MS, 0);
	thread(&m, 1, 5 * S + 300 * MS, 1 * S);
	thread(&m, 2, 99 * S, 2 * S + 100 * MS);
	s = add(a, &m);
	assert_int_equal(row(s, 1).stolen_ns[STEAL_EXACT], 0);
	assert_int_equal(row(s, 1).cpu_ns, 300 * MS);
	assert_int_equal(row(s, 2).stolen_ns[STEAL_EXACT], 100 * MS);
	assert_int_equal(row(s, 2).cpu_ns, 0);
	assert_int_equal(s->faults[STEAL_DECREASED], 1);
	assert_int_equal(s->faults[STEAL_JUMPED], 1);
	steal_audit_free(a);
}

/* The sums of threads and CPUs are two things that a source tells; that they disagree is said. */
static void more_from_threads_than_from_cpus(void **state)
{
	struct steal_audit *a = audit_of(&exact_source);
	const struct steal_span *s;
	struct sample m;

	(void)state;
	at(&m, 10 * S);
	cpu(&m, 0, 0, 0, 0);
	thread(&m, 1, 0, 0);
	add_first(a, &m);
	at(&m, 11 * S);
	cpu(&m, 0, 10 * MS, 0, 0);
	thread(&m, 1, 0, 30 * MS);
	s = add(a, &m);
	assert_int_equal(s->faults[STEAL_EXCEEDED], 1);
	assert_int_equal(s->others_ns[STEAL_EXACT], 0);
	assert_int_equal(s->stolen_ns, 10 * MS);
	steal_audit_free(a);
}

static void a_cpu_goes_offline_and_comes_back(void **state)
{
	struct steal_audit *a = audit_of(&tick_source);
	const struct steal_span *s;
	struct sample m;

	(void)state;
	at(&m, 10 * S);
	cpu(&m, 0, 0, 0, 0);
	cpu(&m, 1, 1 * S, 1 * S, 1 * S);
	add_first(a, &m);
	at(&m, 11 * S);
	cpu(&m, 0, 100 * MS, 900 * MS, 0);
	s = add(a, &m);
	assert_int_equal(s->cpu_count, 1);
	assert_int_equal(s->faults[STEAL_CPU_OFFLINE], 1);
	/* Back, and its counter is from another life. */
	at(&m, 12 * S);
	cpu(&m, 0, 200 * MS, 1800 * MS, 0);
	cpu(&m, 1, 700 * S, 5 * MS, 0);
	s = add(a, &m);
	assert_int_equal(s->stolen_ns, 100 * MS);
	assert_int_equal(s->cpu_count, 1);
	assert_int_equal(s->faults[STEAL_CPU_ONLINE], 1);
	assert_int_equal(s->faults[STEAL_JUMPED], 0);
	at(&m, 13 * S);
	cpu(&m, 0, 200 * MS, 2800 * MS, 0);
	cpu(&m, 1, 700 * S + 50 * MS, 205 * MS, 0);
	s = add(a, &m);
	assert_int_equal(s->cpu_count, 2);
	assert_int_equal(s->stolen_ns, 50 * MS);
	assert_int_equal(steal_audit_total(a, &s), 0);
	assert_int_equal(s->stolen_ns, 250 * MS);
	assert_int_equal(s->cpus[1].stolen_ns, 50 * MS);
	steal_audit_free(a);
}

static void a_thread_number_is_used_again(void **state)
{
	struct steal_audit *a = audit_of(&exact_source);
	const struct steal_span *s;
	struct steal_thread *t;
	struct sample m;

	(void)state;
	at(&m, 10 * S);
	cpu(&m, 0, 0, 0, 0);
	thread(&m, 1, 5 * S, 1 * S);
	add_first(a, &m);
	at(&m, 11 * S);
	cpu(&m, 0, 60 * MS, 400 * MS, 0);
	thread(&m, 1, 5 * S + 100 * MS, 1 * S + 20 * MS)->ended = true;
	t = thread(&m, 1, 300 * MS, 40 * MS);
	t->start_ticks = 8;
	t->fresh = true;
	s = add(a, &m);
	assert_int_equal(s->thread_count, 2);
	assert_int_equal(s->threads[0].stolen_ns[STEAL_EXACT], 40 * MS);
	assert_int_equal(s->threads[0].start_ticks, 8);
	assert_int_equal(s->threads[1].stolen_ns[STEAL_EXACT], 20 * MS);
	assert_int_equal(s->others_ns[STEAL_EXACT], 0);
	steal_audit_free(a);
}

static void a_late_thread_is_counted_from_its_first_sample_on(void **state)
{
	struct steal_audit *a = audit_of(&exact_source);
	const struct steal_span *s;
	struct sample m;

	(void)state;
	at(&m, 10 * S);
	cpu(&m, 0, 0, 0, 0);
	add_first(a, &m);
	at(&m, 11 * S);
	cpu(&m, 0, 0, 1 * S, 0);
	thread(&m, 1, 500 * MS, 400 * MS);
	s = add(a, &m);
	assert_int_equal(s->thread_count, 0);
	assert_int_equal(s->faults[STEAL_LATE], 1);
	at(&m, 12 * S);
	cpu(&m, 0, 100 * MS, 2 * S, 0);
	thread(&m, 1, 700 * MS, 500 * MS);
	s = add(a, &m);
	assert_int_equal(row(s, 1).cpu_ns, 200 * MS);
	assert_int_equal(row(s, 1).stolen_ns[STEAL_EXACT], 100 * MS);
	steal_audit_free(a);
}

/* Between two samples a thread that is known ends, and another comes and goes: their process has the time. */
static void threads_end_between_two_samples(void **state)
{
	struct steal_audit *a = audit_of(&tick_source);
	const struct steal_span *s;
	struct sample m;

	(void)state;
	at(&m, 10 * S);
	cpu(&m, 0, 0, 0, 0);
	process(&m, 100, 50 * S); /* of that, 20 s of threads that ended long ago */
	thread(&m, 1, 20 * S, 0);
	thread(&m, 2, 10 * S, 0);
	add_first(a, &m);
	at(&m, 11 * S);
	cpu(&m, 0, 100 * MS, 900 * MS, 0);
	process(&m, 100, 50 * S + 1 * S);
	thread(&m, 1, 20 * S + 600 * MS, 0);
	s = add(a, &m);
	assert_int_equal(s->thread_count, 2);
	assert_int_equal(row(s, 1).stolen_ns[STEAL_PROPORTIONAL], 60 * MS);
	assert_int_equal(row(s, 0).cpu_ns, 400 * MS);
	assert_int_equal(row(s, 0).pid, 100);
	assert_string_equal(row(s, 0).comm, "P100");
	assert_int_equal(row(s, 0).stolen_ns[STEAL_PROPORTIONAL], 40 * MS);
	/* Rounded to ticks, the process is now behind its threads, and then not any more. */
	at(&m, 12 * S);
	cpu(&m, 0, 100 * MS, 1900 * MS, 0);
	process(&m, 100, 51 * S + 90 * MS);
	thread(&m, 1, 20 * S + 700 * MS, 0);
	s = add(a, &m);
	assert_int_equal(row(s, 0).cpu_ns, 0);
	at(&m, 13 * S);
	cpu(&m, 0, 100 * MS, 2900 * MS, 0);
	process(&m, 100, 51 * S + 200 * MS);
	thread(&m, 1, 20 * S + 800 * MS, 0);
	s = add(a, &m);
	assert_int_equal(row(s, 0).cpu_ns, 0);
	assert_int_equal(steal_audit_total(a, &s), 0);
	assert_int_equal(row(s, 1).cpu_ns, 800 * MS);
	assert_int_equal(row(s, 0).cpu_ns, 400 * MS);
	steal_audit_free(a);
}

/* A thread that was missed at first was in what the process had beyond its threads; what ends later is seen. */
static void a_thread_that_was_missed_at_first(void **state)
{
	struct steal_audit *a = audit_of(&tick_source);
	const struct steal_span *s;
	struct sample m;

	(void)state;
	at(&m, 10 * S);
	cpu(&m, 0, 0, 0, 0);
	process(&m, 100, 30 * S);
	thread(&m, 1, 20 * S, 0);
	add_first(a, &m);
	at(&m, 11 * S);
	cpu(&m, 0, 0, 1 * S, 0);
	process(&m, 100, 30 * S);
	thread(&m, 1, 20 * S, 0);
	thread(&m, 2, 10 * S, 0);
	s = add(a, &m);
	assert_int_equal(s->thread_count, 0);
	assert_int_equal(s->faults[STEAL_LATE], 1);
	at(&m, 12 * S);
	cpu(&m, 0, 0, 2 * S, 0);
	process(&m, 100, 30 * S + 700 * MS);
	thread(&m, 1, 20 * S, 0);
	thread(&m, 2, 10 * S + 500 * MS, 0);
	s = add(a, &m);
	assert_int_equal(row(s, 2).cpu_ns, 500 * MS);
	assert_int_equal(row(s, 0).cpu_ns, 200 * MS);
	steal_audit_free(a);
}

static void a_fresh_process_has_all_of_its_time(void **state)
{
	struct steal_audit *a = audit_of(&tick_source);
	const struct steal_span *s;
	struct sample m;

	(void)state;
	at(&m, 10 * S);
	cpu(&m, 0, 0, 0, 0);
	add_first(a, &m);
	at(&m, 11 * S);
	cpu(&m, 0, 500 * MS, 500 * MS, 0);
	process(&m, 100, 800 * MS)->fresh = true;
	thread(&m, 5, 200 * MS, 0)->fresh = true;
	s = add(a, &m);
	assert_int_equal(row(s, 5).stolen_ns[STEAL_PROPORTIONAL], 100 * MS);
	assert_int_equal(row(s, 0).stolen_ns[STEAL_PROPORTIONAL], 300 * MS);
	steal_audit_free(a);
}

static void a_suspended_machine_is_told(void **state)
{
	struct steal_audit *a = audit_of(&tick_source);
	const struct steal_span *s;
	struct sample m;

	(void)state;
	at(&m, 10 * S);
	cpu(&m, 0, 0, 0, 0);
	add_first(a, &m);
	at(&m, 11 * S)->boot_ns += 3600 * S;
	cpu(&m, 0, 0, 0, 0);
	s = add(a, &m);
	assert_int_equal(s->faults[STEAL_RESUMED], 1);
	at(&m, 12 * S)->boot_ns += 3600 * S;
	cpu(&m, 0, 0, 0, 0);
	s = add(a, &m);
	assert_int_equal(s->faults[STEAL_RESUMED], 0);
	steal_audit_free(a);
}

static void samples_that_are_not_later_are_not_taken(void **state)
{
	struct steal_audit *a = audit_of(&tick_source);
	const struct steal_span *s = NULL;
	struct sample m;

	(void)state;
	at(&m, 10 * S);
	cpu(&m, 0, 0, 0, 0);
	add_first(a, &m);
	at(&m, 10 * S);
	cpu(&m, 0, 5 * S, 0, 0);
	assert_int_equal(steal_audit_add(a, &m.s, &s), -EINVAL);
	assert_null(s);
	at(&m, 11 * S);
	cpu(&m, 0, 10 * MS, 0, 0);
	cpu(&m, 0, 90 * MS, 0, 0);
	s = add(a, &m);
	assert_int_equal(s->stolen_ns, 10 * MS);
	assert_int_equal(s->faults[STEAL_TWICE], 1);
	steal_audit_free(a);
}

static void the_worst_and_the_longest(void **state)
{
	static const uint64_t stolen_ms[] = {5, 30, 0, 30, 10, 20, 1};
	struct steal_audit *a = audit_of(&exact_source);
	const struct steal_top *top;
	struct steal_thefts thefts;
	struct sample m;
	uint64_t all = 0;
	size_t count;

	(void)state;
	at(&m, 10 * S);
	cpu(&m, 0, 0, 0, 0);
	m.s.histogram[20] = 1000; /* before the audit */
	m.s.thefts_lost = 5;
	add_first(a, &m);
	for (uint64_t i = 0; i < sizeof(stolen_ms) / sizeof(*stolen_ms); i++) {
		all += stolen_ms[i] * MS;
		at(&m, (11 + i) * S);
		cpu(&m, 0, all, (1 + i) * 100 * MS, 0);
		thread(&m, 7, (1 + i) * 100 * MS, all)->fresh = !i;
		m.s.histogram[20] = 1000 + i;
		m.s.histogram[63] = 1;
		m.s.thefts_lost = 6;
		m.s.theft_count = 1;
		m.thefts[0] = (struct steal_theft){.time_ns = (10 + i) * S, .ns = stolen_ms[i] * MS, .tid = 7};
		add(a, &m);
	}
	top = steal_audit_top(a, &count);
	assert_int_equal(count, 4);
	assert_int_equal(top[0].stolen_ns, 30 * MS);
	assert_int_equal(top[0].from_ns, 11 * S);
	assert_int_equal(top[1].from_ns, 13 * S);
	assert_int_equal(top[3].stolen_ns, 10 * MS);
	assert_int_equal(top[0].victim.tid, 7);
	assert_int_equal(top[0].wanted_ns, 130 * MS);
	steal_audit_thefts(a, &thefts);
	assert_int_equal(thefts.counts[20], 6);
	assert_int_equal(thefts.counts[63], 1);
	assert_int_equal(thefts.lost, 1);
	assert_int_equal(thefts.longest_count, 4);
	assert_int_equal(thefts.longest[0].time_ns, 11 * S);
	assert_int_equal(thefts.longest[1].time_ns, 13 * S);
	assert_int_equal(thefts.longest[3].ns, 10 * MS);
	steal_audit_free(a);
}

/* A tick per CPU may be the clock's step: it does not pass a threshold by itself. */
static void thresholds_are_passed_beyond_doubt(void **state)
{
	struct steal_span s = {.stolen_ns = 60 * MS, .busy_ns = 940 * MS, .resolution_ns = 1};
	struct steal_cpu_use cpus[2] = {{.stolen_ns = 30 * MS}, {.stolen_ns = 30 * MS}};
	struct steal_use threads[2] = {{.cpu_ns = 90 * MS, .stolen_ns = {10 * MS}}, {.cpu_ns = 100 * MS}};
	struct steal_measure m;

	(void)state;
	s.cpus = cpus;
	s.cpu_count = 2;
	m = steal_measure(&s, STEAL_EXACT);
	assert_int_equal(m.wanted_ns, 1 * S);
	assert_true(steal_passed(&m, 59999));
	assert_false(steal_passed(&m, 60000));
	s.resolution_ns = TICK;
	m = steal_measure(&s, STEAL_EXACT);
	assert_int_equal(m.doubt_ns, 2 * TICK);
	assert_true(steal_passed(&m, 39999));
	assert_false(steal_passed(&m, 40000));
	s.stolen_ns = 0;
	m = steal_measure(&s, STEAL_EXACT);
	assert_false(steal_passed(&m, 0));
	/* Of a process. */
	s.of_process = true;
	s.resolution_ns = 1;
	s.threads = threads;
	s.thread_count = 2;
	s.threads_ns[STEAL_EXACT] = 10 * MS;
	m = steal_measure(&s, STEAL_EXACT);
	assert_int_equal(m.stolen_ns, 10 * MS);
	assert_int_equal(m.wanted_ns, 200 * MS);
	assert_true(steal_passed(&m, 49999));
}

/* A machine that starts a thousand threads in each interval: accounts go, their sums stay. */
static void threads_without_end(void **state)
{
	enum { INTERVALS = 150, THREADS = 1000 };
	struct steal_thread *threads = calloc(THREADS, sizeof(*threads));
	struct steal_audit *a = audit_of(&exact_source);
	uint64_t cpu_ns = 0, stolen_ns = 0, rows_cpu_ns = 0;
	const struct steal_span *s;
	struct sample m;

	(void)state;
	assert_non_null(threads);
	at(&m, 10 * S);
	cpu(&m, 0, 0, 0, 0);
	add_first(a, &m);
	for (uint64_t i = 0; i < INTERVALS; i++) {
		for (uint64_t k = 0; k < THREADS; k++) {
			threads[k] = (struct steal_thread){.tid = 100 + (int32_t)k,
							   .pid = 1,
							   .start_ticks = 1 + i,
							   .cpu_ns = 1000 + k + i,
							   .stolen_ns = k,
							   .fresh = true,
							   .ended = true};
			cpu_ns += threads[k].cpu_ns;
			stolen_ns += k;
		}
		at(&m, (11 + i) * S);
		cpu(&m, 0, stolen_ns, cpu_ns, 0);
		m.s.threads = threads;
		m.s.thread_count = THREADS;
		s = add(a, &m);
		assert_int_equal(s->thread_count, THREADS);
	}
	assert_int_equal(steal_audit_total(a, &s), 0);
	assert_true(s->thread_count < INTERVALS * THREADS);
	for (size_t i = 0; i < s->thread_count; i++)
		rows_cpu_ns += s->threads[i].cpu_ns;
	assert_int_equal(rows_cpu_ns, cpu_ns);
	assert_int_equal(s->threads_ns[STEAL_EXACT], stolen_ns);
	assert_true(row(s, STEAL_TID_FOLDED).cpu_ns > 0);
	/* The best known are still there. */
	assert_int_equal(row(s, 100 + THREADS - 1).stolen_ns[STEAL_EXACT], THREADS - 1);
	steal_audit_free(a);
	free(threads);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Mostly what a counter does, sometimes anything. */
static uint64_t any_counter(uint64_t *seed, uint64_t time_ns)
{
	uint64_t wild = next_random(seed) >> next_random(seed) % 64;

	return next_random(seed) % 8 ? time_ns / 2 + next_random(seed) % S : wild;
}

/* Whatever the counters say: no CPU and no thread has more than the time that passed, and sums are conserved. */
static void counters_that_say_anything(void **state)
{
	uint64_t seed = 42, faults = 0;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		bool exact = round % 2;
		struct steal_audit *a = audit_of(exact ? &exact_source : &tick_source);
		const struct steal_span *s;
		uint64_t now = 100 * S;
		struct sample m;

		for (int i = 0; i < 6; i++) {
			uint64_t shares = 0, passed, limit;

			now += 1 + next_random(&seed) % (2 * S);
			at(&m, now);
			for (uint32_t c = 0; c < 3; c++)
				if (next_random(&seed) % 5)
					cpu(&m, c, any_counter(&seed, now), any_counter(&seed, now),
					    any_counter(&seed, now));
			for (int32_t t = 1; t < 6; t++)
				if (next_random(&seed) % 5)
					thread(&m, t, any_counter(&seed, now), any_counter(&seed, now))->fresh =
						next_random(&seed) % 2;
			process(&m, 100, any_counter(&seed, now));
			m.s.idle_stolen_ns = any_counter(&seed, now);
			if (steal_audit_add(a, &m.s, &s) == 0)
				continue;
			passed = exact ? now - 100 * S : s->to_ns - s->from_ns;
			limit = passed + passed / 8 + 2 * TICK;
			for (size_t c = 0; c < s->cpu_count; c++)
				assert_true(s->cpus[c].stolen_ns <= limit && s->cpus[c].busy_ns <= limit);
			for (size_t t = 0; t < s->thread_count; t++) {
				const struct steal_use *u = &s->threads[t];

				assert_true(u->cpu_ns <= 4 * (now - 100 * S + 2 * TICK));
				assert_true(u->stolen_ns[STEAL_PROPORTIONAL] <= s->stolen_ns);
				shares += u->stolen_ns[STEAL_PROPORTIONAL];
			}
			assert_true(shares + s->others_ns[STEAL_PROPORTIONAL] == s->stolen_ns);
			for (int f = 0; f < STEAL_FAULT_COUNT; f++)
				faults += s->faults[f];
		}
		steal_audit_free(a);
	}
	assert_true(faults > 1000);
}

/* Every allocation of a whole audit fails once. */
static void without_memory(void **state)
{
	unsigned long n = 0;
	bool failed = true;

	(void)state;
	for (; failed; n++) {
		struct steal_audit *a = NULL;
		const struct steal_span *s;
		struct sample m;
		int err;

		alloc_fail_at(n);
		err = steal_audit_new(&exact_source, false, 4, &a);
		for (uint64_t i = 0; i < 4 && err >= 0; i++) {
			at(&m, (10 + i) * S);
			for (uint32_t c = 0; c <= i * 8; c++)
				cpu(&m, c, i * 10 * MS, i * S / 4, 0);
			process(&m, 100, i * S);
			for (int32_t t = 1; t < 40; t++)
				thread(&m, t, i * MS, i * MS)->fresh = true;
			err = steal_audit_add(a, &m.s, &s);
		}
		if (err >= 0)
			err = steal_audit_total(a, &s);
		failed = alloc_fail_off();
		assert_true(failed ? err == -ENOMEM : err == 0);
		steal_audit_free(a);
	}
	assert_true(n > 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_published_example),
		cmocka_unit_test(the_published_example_exactly),
		cmocka_unit_test(the_rest_is_the_others),
		cmocka_unit_test(counters_of_cpus_that_go_wrong),
		cmocka_unit_test(counters_of_threads_that_go_wrong),
		cmocka_unit_test(more_from_threads_than_from_cpus),
		cmocka_unit_test(a_cpu_goes_offline_and_comes_back),
		cmocka_unit_test(a_thread_number_is_used_again),
		cmocka_unit_test(a_late_thread_is_counted_from_its_first_sample_on),
		cmocka_unit_test(threads_end_between_two_samples),
		cmocka_unit_test(a_thread_that_was_missed_at_first),
		cmocka_unit_test(a_fresh_process_has_all_of_its_time),
		cmocka_unit_test(a_suspended_machine_is_told),
		cmocka_unit_test(samples_that_are_not_later_are_not_taken),
		cmocka_unit_test(the_worst_and_the_longest),
		cmocka_unit_test(thresholds_are_passed_beyond_doubt),
		cmocka_unit_test(threads_without_end),
		cmocka_unit_test(counters_that_say_anything),
		cmocka_unit_test(without_memory),
	};

	return cmocka_run_group_tests_name("steal_audit", tests, NULL, NULL);
}
