/*
 * 10,000 machines that somebody watched all the time: CPUs that run threads or are idle, threads that begin, end,
 * sleep and migrate, thefts at random. What the audit makes of samples of them is compared to that: exact must be
 * exact; how wrong proportional is, is printed.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "steal/compare.h"
#include "steal_samples.h"
#include "tests/unit/alloc_fail.h"

#define MACHINES 10000
#define CPUS_MAX 4
#define THREADS_MAX 14
#define PIDS 3

/* What is known of a thread; its number can be used again for the next one. */
struct true_thread {
	int32_t tid, pid;
	uint64_t start_ticks;
	bool alive, told_end, fresh;
	uint64_t cpu_ns, stolen_ns; /* cpu_ns: without stolen time */
	uint64_t base_cpu_ns, base_stolen_ns;
};

struct machine {
	uint64_t seed, now_ns;
	unsigned cpu_count, thread_count, theft_pct;
	uint64_t steal_ns[CPUS_MAX], busy_ns[CPUS_MAX], idle_ns[CPUS_MAX], idle_stolen_ns;
	uint64_t ended_ns[PIDS]; /* CPU time, with what was stolen, of threads that have ended */
	struct true_thread threads[ROWS_MAX - 4];
	bool has_steal; /* of the kernel's CPU times */
};

static uint64_t any(struct machine *m, uint64_t below)
{
	m->seed ^= m->seed << 13;
	m->seed ^= m->seed >> 7;
	m->seed ^= m->seed << 17;
	return m->seed % below;
}

static void begin_thread(struct machine *m, int32_t tid)
{
	struct true_thread *t = &m->threads[m->thread_count++];

	*t = (struct true_thread){.tid = tid,
				  .pid = 100 + (int32_t)any(m, PIDS),
				  .start_ticks = 1 + m->thread_count,
				  .alive = true,
				  .fresh = true};
}

static void make_machine(struct machine *m, uint64_t seed)
{
	memset(m, 0, sizeof(*m));
	m->seed = seed * 0x9e3779b97f4a7c15u + 1;
	m->now_ns = 100 * S;
	m->cpu_count = 1 + (unsigned)any(m, CPUS_MAX);
	m->theft_pct = (unsigned)any(m, 60);
	m->has_steal = any(m, 2);
	for (uint64_t i = 0, n = 1 + any(m, THREADS_MAX); i < n; i++) {
		begin_thread(m, 1000 + (int32_t)i);
		m->threads[i].cpu_ns = any(m, 100 * S);
		m->threads[i].stolen_ns = any(m, 100 * S);
		m->threads[i].base_cpu_ns = m->threads[i].cpu_ns;
		m->threads[i].base_stolen_ns = m->threads[i].stolen_ns;
		m->threads[i].fresh = false;
	}
}

/* One thread may end, and its number be used again at once; or a new one begins. */
static void come_and_go(struct machine *m)
{
	struct true_thread *t = &m->threads[any(m, m->thread_count)];

	if (m->thread_count == ROWS_MAX - 4 || any(m, 6))
		return;
	if (any(m, 2) && t->alive) {
		t->alive = false;
		m->ended_ns[t->pid - 100] += t->cpu_ns + (m->has_steal ? t->stolen_ns : 0);
		if (any(m, 2))
			begin_thread(m, t->tid);
	} else {
		begin_thread(m, 2000 + (int32_t)m->thread_count);
	}
}

/* Every CPU runs one thread, or none, for a while; some of it is stolen. */
static void pass(struct machine *m, uint64_t ns)
{
	bool running[ROWS_MAX] = {false};

	for (unsigned c = 0; c < m->cpu_count; c++) {
		uint64_t stolen = any(m, 100) < m->theft_pct ? any(m, ns + 1) : 0, who = any(m, m->thread_count);
		struct true_thread *t = &m->threads[who];

		if (running[who] || !t->alive || !any(m, 3)) {
			/* A CPU that wants nothing loses nothing, but for the moment in which it wakes up. */
			stolen = any(m, 20) ? 0 : stolen / 10;
			m->steal_ns[c] += stolen;
			m->idle_ns[c] += ns - stolen;
			m->idle_stolen_ns += stolen;
			continue;
		}
		running[who] = true;
		m->steal_ns[c] += stolen;
		t->cpu_ns += ns - stolen;
		t->stolen_ns += stolen;
		m->busy_ns[c] += ns - stolen;
	}
	m->now_ns += ns;
}

static uint64_t kernel_cpu(const struct machine *m, const struct true_thread *t)
{
	return t->cpu_ns + (m->has_steal ? t->stolen_ns : 0);
}

/* As a probe in the scheduler tells it. */
static void sample_exactly(struct machine *m, struct sample *to)
{
	at(to, m->now_ns);
	for (unsigned c = 0; c < m->cpu_count; c++)
		cpu(to, c, m->steal_ns[c], m->busy_ns[c], m->idle_ns[c]);
	to->s.idle_stolen_ns = m->idle_stolen_ns;
	for (unsigned i = 0; i < m->thread_count; i++) {
		struct true_thread *t = &m->threads[i];
		struct steal_thread *told;

		if (t->told_end)
			continue;
		told = thread(to, t->tid, kernel_cpu(m, t), t->stolen_ns);
		told->pid = t->pid;
		told->start_ticks = t->start_ticks;
		told->fresh = t->fresh;
		told->ended = !t->alive;
	}
}

static uint64_t floor_tick(uint64_t ns)
{
	return ns / TICK * TICK;
}

/* As /proc tells it: in ticks, without those that have ended. */
static void sample_coarsely(const struct machine *m, struct sample *to)
{
	at(to, m->now_ns);
	for (unsigned c = 0; c < m->cpu_count; c++)
		cpu(to, c, floor_tick(m->steal_ns[c]), floor_tick(m->busy_ns[c]), floor_tick(m->idle_ns[c]));
	for (int32_t pid = 0; pid < PIDS; pid++) {
		uint64_t ns = m->ended_ns[pid];

		for (unsigned i = 0; i < m->thread_count; i++)
			if (m->threads[i].alive && m->threads[i].pid == 100 + pid)
				ns += kernel_cpu(m, &m->threads[i]);
		process(to, 100 + pid, floor_tick(ns));
	}
	for (unsigned i = 0; i < m->thread_count; i++) {
		const struct true_thread *t = &m->threads[i];
		struct steal_thread *told;

		if (!t->alive)
			continue;
		told = thread(to, t->tid, floor_tick(kernel_cpu(m, t)), 0);
		told->pid = t->pid;
		told->start_ticks = t->start_ticks;
		told->fresh = t->fresh;
	}
}

static void sampled(struct machine *m)
{
	for (unsigned i = 0; i < m->thread_count; i++) {
		m->threads[i].fresh = false;
		m->threads[i].told_end |= !m->threads[i].alive;
	}
}

/* The same sample in another order. */
static void shuffle(struct machine *m, struct sample *s)
{
	for (size_t i = s->s.thread_count; i > 1; i--) {
		size_t other = any(m, i);
		struct steal_thread t = s->threads[other];

		s->threads[other] = s->threads[i - 1];
		s->threads[i - 1] = t;
	}
	for (size_t i = s->s.cpu_count; i > 1; i--) {
		size_t other = any(m, i);
		struct steal_cpu c = s->cpus[other];

		s->cpus[other] = s->cpus[i - 1];
		s->cpus[i - 1] = c;
	}
	for (size_t i = s->s.process_count; i > 1; i--) {
		size_t other = any(m, i);
		struct steal_process p = s->processes[other];

		s->processes[other] = s->processes[i - 1];
		s->processes[i - 1] = p;
	}
}

/* Of any span of any method: no more, no less than was stolen. */
static void assert_conserved(const struct steal_span *s)
{
	uint64_t threads[STEAL_METHOD_COUNT] = {0}, cpus = 0;

	for (size_t i = 0; i < s->thread_count; i++) {
		const struct steal_use *u = &s->threads[i];

		for (int m = 0; m < STEAL_METHOD_COUNT; m++) {
			threads[m] += u->stolen_ns[m];
			assert_true(steal_apparent_ns(s, u, m) >= u->stolen_ns[m]);
			assert_true(steal_corrected_ns(s, u, m) + u->stolen_ns[m] == steal_apparent_ns(s, u, m));
		}
	}
	for (size_t i = 0; i < s->cpu_count; i++)
		cpus += s->cpus[i].stolen_ns;
	assert_true(cpus == s->stolen_ns);
	assert_true(threads[STEAL_PROPORTIONAL] == s->threads_ns[STEAL_PROPORTIONAL]);
	assert_true(threads[STEAL_PROPORTIONAL] + s->others_ns[STEAL_PROPORTIONAL] == s->stolen_ns);
	assert_true(threads[STEAL_EXACT] == s->threads_ns[STEAL_EXACT]);
	if (s->exact)
		assert_true(threads[STEAL_EXACT] + s->idle_stolen_ns + s->others_ns[STEAL_EXACT] == s->stolen_ns);
}

static void assert_same(const struct steal_span *a, const struct steal_span *b)
{
	assert_int_equal(a->thread_count, b->thread_count);
	assert_memory_equal(a->threads, b->threads, a->thread_count * sizeof(*a->threads));
	assert_int_equal(a->cpu_count, b->cpu_count);
	for (size_t i = 0; i < a->cpu_count; i++) {
		assert_int_equal(a->cpus[i].cpu, b->cpus[i].cpu);
		assert_true(a->cpus[i].stolen_ns == b->cpus[i].stolen_ns);
		assert_true(a->cpus[i].busy_ns == b->cpus[i].busy_ns);
	}
	assert_true(a->stolen_ns == b->stolen_ns);
	assert_memory_equal(a->threads_ns, b->threads_ns, sizeof(a->threads_ns));
}

/* To the ns, for every thread that there ever was. */
static void assert_true_to(const struct machine *m, const struct steal_span *total)
{
	unsigned rows = 0;

	assert_true(total->others_ns[STEAL_EXACT] == 0);
	assert_true(total->idle_stolen_ns == m->idle_stolen_ns);
	for (unsigned i = 0; i < m->thread_count; i++) {
		const struct true_thread *t = &m->threads[i];
		const struct steal_use *found = NULL;
		uint64_t stolen = t->stolen_ns - t->base_stolen_ns;
		uint64_t work = t->cpu_ns - t->base_cpu_ns;

		for (size_t k = 0; k < total->thread_count; k++)
			if (total->threads[k].tid == t->tid && total->threads[k].start_ticks == t->start_ticks)
				found = &total->threads[k];
		if (!found) {
			assert_true(!stolen && !work);
			continue;
		}
		rows++;
		assert_true(found->stolen_ns[STEAL_EXACT] == stolen);
		assert_true(steal_corrected_ns(total, found, STEAL_EXACT) == work);
		assert_true(steal_apparent_ns(total, found, STEAL_EXACT) == work + stolen);
	}
	assert_int_equal(rows, total->thread_count);
	for (unsigned c = 0; c < m->cpu_count; c++) {
		assert_true(total->cpus[c].stolen_ns == m->steal_ns[c]);
		assert_true(total->cpus[c].busy_ns == m->busy_ns[c]);
		assert_true(total->cpus[c].idle_ns == m->idle_ns[c]);
	}
}

struct audits {
	struct steal_audit *exact, *shuffled, *coarse;
};

static void add_all(struct machine *m, struct audits *a, bool first)
{
	const struct steal_span *exact, *shuffled, *coarse;
	struct sample s;

	sample_exactly(m, &s);
	assert_int_equal(steal_audit_add(a->exact, &s.s, &exact), first ? 0 : 1);
	shuffle(m, &s);
	assert_int_equal(steal_audit_add(a->shuffled, &s.s, &shuffled), first ? 0 : 1);
	sample_coarsely(m, &s);
	shuffle(m, &s);
	assert_int_equal(steal_audit_add(a->coarse, &s.s, &coarse), first ? 0 : 1);
	sampled(m);
	if (first)
		return;
	assert_conserved(exact);
	assert_conserved(coarse);
	assert_same(exact, shuffled);
	for (int f = 0; f < STEAL_FAULT_COUNT; f++)
		assert_int_equal(exact->faults[f], 0);
}

/* How much of what was stolen from threads each method of sampling has put on the wrong thread, in ppm. */
struct errors {
	uint64_t fine[MACHINES], coarse[MACHINES], one[MACHINES];
	size_t count;
};

static uint64_t misplaced(const struct steal_error *e)
{
	return e->misplaced_ns * 1000000 / e->exact_ns;
}

static void note_errors(struct audits *a, struct errors *to)
{
	const struct steal_span *exact, *coarse;
	struct steal_span joined;
	struct steal_error fine, rough;

	assert_int_equal(steal_audit_total(a->exact, &exact), 0);
	assert_int_equal(steal_audit_total(a->coarse, &coarse), 0);
	assert_conserved(exact);
	assert_conserved(coarse);
	assert_int_equal(steal_compare(exact, 100 * MS, &fine), 0);
	assert_int_equal(steal_span_join(exact, coarse, &joined), 0);
	assert_int_equal(steal_compare(&joined, 100 * MS, &rough), 0);
	free(joined.threads);
	assert_true(fine.exact_ns == exact->threads_ns[STEAL_EXACT]);
	if (fine.exact_ns < 100 * MS)
		return;
	to->fine[to->count] = misplaced(&fine);
	to->coarse[to->count] = misplaced(&rough);
	to->one[to->count++] = fine.threads ? fine.median_ppm : 0;
}

static void watch_machine(uint64_t seed, struct errors *errors)
{
	struct steal_source fed = exact_source, proc = tick_source;
	struct audits a = {0};
	const struct steal_span *total;
	struct machine m;

	make_machine(&m, seed);
	fed.cpu_has_steal = proc.cpu_has_steal = m.has_steal;
	assert_int_equal(steal_audit_new(&fed, false, 5, &a.exact), 0);
	assert_int_equal(steal_audit_new(&fed, false, 5, &a.shuffled), 0);
	assert_int_equal(steal_audit_new(&proc, false, 5, &a.coarse), 0);
	add_all(&m, &a, true);
	for (uint64_t i = 0, n = 1 + any(&m, 12); i < n; i++) {
		for (uint64_t k = 0, steps = 1 + any(&m, 30); k < steps; k++) {
			pass(&m, 1 + any(&m, 20 * MS));
			come_and_go(&m);
		}
		add_all(&m, &a, false);
	}
	assert_int_equal(steal_audit_total(a.exact, &total), 0);
	assert_true_to(&m, total);
	note_errors(&a, errors);
	steal_audit_free(a.exact);
	steal_audit_free(a.shuffled);
	steal_audit_free(a.coarse);
}

static int compare_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print_distribution(const char *what, uint64_t *v, size_t count)
{
	qsort(v, count, sizeof(*v), compare_number);
	print_message("# %s: 10 %% of the schedules %.1f %% or less, 50 %% %.1f %%, 90 %% %.1f %%, all %.1f %%\n", what,
		      (double)v[count / 10] / 1e4, (double)v[count / 2] / 1e4, (double)v[count * 9 / 10] / 1e4,
		      (double)v[count - 1] / 1e4);
}

static void ten_thousand_machines(void **state)
{
	struct errors *errors = calloc(1, sizeof(*errors));

	(void)state;
	assert_non_null(errors);
	for (uint64_t seed = 1; seed <= MACHINES; seed++)
		watch_machine(seed, errors);
	assert_true(errors->count > MACHINES / 2);
	print_distribution("misplaced by proportional, counters in ns", errors->fine, errors->count);
	print_distribution("misplaced by proportional, counters in ticks", errors->coarse, errors->count);
	print_distribution("error of a thread's corrected CPU time (median)", errors->one, errors->count);
	/* It is an estimate, and sampling cannot see more; but it is far better than chance. */
	assert_true(errors->fine[errors->count / 2] < 500000);
	free(errors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ten_thousand_machines),
	};

	return cmocka_run_group_tests_name("steal_oracle", tests, NULL, NULL);
}
