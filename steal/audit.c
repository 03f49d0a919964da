/*
 * Two ways to say from which threads the hypervisor stole.
 *
 * exact: reported by the source (a probe that reads a CPU's steal clock at each switch).
 *
 * proportional: Hofer, Method Profiling and Lock Contention Profiling (2016), 5.2. For each
 * interval between two samples, what was stolen from all CPUs is divided among all threads as they
 * used the CPUs: steal(T) = steal_total * cpu(T) / cpu_total. The reason given there: who uses most
 * CPU time loses most to suspension, and hypervisors suspend the CPUs of a guest alike. What that
 * needs here:
 * - cpu_total is what /proc/stat has as work of all CPUs, plus the stolen time if the threads' own
 *   times contain it (5.3). Where the kernel takes it out (kernel.c), both sides are without it.
 *   Threads' times can add up to more than that, as the two are not counted alike; then cpu_total
 *   is their sum, so that no more is shared out than was stolen.
 * - A thread that began after the sample before has all of its time in this interval. What a thread
 *   has used after the last sample that it was in is still in its process's time, and is the part
 *   of the row "ended threads" of that process. A process that ended is in nobody's: its share
 *   goes to others_ns, so that it is not shared out among those that are left.
 *
 * The shares add up to what was stolen, to the ns (share.c). Every counter is guarded (guard.c).
 */
#include "steal/audit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "base/tables/store.h"
#include "steal/accounts.h"
#include "steal/share.h"
#include "steal/top_internal.h"

#define RESUMED_NS 100000000ull /* CLOCK_BOOTTIME gained so much on CLOCK_MONOTONIC */

enum { CPU_STEAL, CPU_BUSY, CPU_IDLE, CPU_PART_COUNT };

struct cpu {
	uint32_t cpu;
	uint64_t sample; /* the last that it was in */
	struct guard parts[CPU_PART_COUNT];
	uint64_t step[CPU_PART_COUNT], total[CPU_PART_COUNT];
	bool in_step;
};

struct steal_audit {
	struct steal_source of;
	struct guard_limits cpu_limits, thread_limits;
	uint64_t sample, first_ns, last_ns, end_ns, last_boot_gain_ns;
	struct cpu *cpus; /* by number */
	uint32_t cpu_count, cpu_capacity;
	uint32_t span_capacity, total_capacity; /* of their CPUs */
	struct accounts accounts;
	struct guard idle;
	struct steal_span span, total;
	struct use_list span_threads, total_threads;
	struct share *shares;
	struct account **sharers;
	uint32_t share_capacity, sharer_capacity;
	struct top top;
};

int steal_audit_new(const struct steal_source *of, bool of_process, size_t keep,
		    struct steal_audit **ret)
{
	struct steal_audit *a = calloc(1, sizeof(*a));

	if (!a || accounts_init(&a->accounts) || top_init(&a->top, keep)) {
		steal_audit_free(a);
		return -ENOMEM;
	}
	a->of = *of;
	a->cpu_limits.slack_ns = 2 * of->resolution_ns;
	/* The kernel brings a running thread's time up to date at ticks, however fine it is. */
	a->thread_limits.slack_ns =
		2 * (of->cpu_resolution_ns > of->resolution_ns ? of->cpu_resolution_ns
							       : of->resolution_ns);
	a->cpu_limits.late = a->thread_limits.late = of->exact;
	/* The counters of /proc/stat were longs: those of a 32-bit kernel end there. */
	if (of->resolution_ns > 1)
		a->cpu_limits.wrap_ns = (1ull << 32) * of->resolution_ns;
	a->span.exact = a->total.exact = of->exact;
	a->span.cpu_has_steal = a->total.cpu_has_steal = of->cpu_has_steal;
	a->span.of_process = a->total.of_process = of_process;
	a->span.resolution_ns = a->total.resolution_ns = of->resolution_ns;
	*ret = a;
	return 0;
}

void steal_audit_free(struct steal_audit *a)
{
	if (!a)
		return;
	accounts_free(&a->accounts);
	top_free(&a->top);
	free(a->cpus);
	free(a->span.cpus);
	free(a->total.cpus);
	free(a->span_threads.v);
	free(a->total_threads.v);
	free(a->shares);
	free(a->sharers);
	free(a);
}

/* The growth of a counter, and what was wrong with it. */
static uint64_t step(struct steal_audit *a, struct guard *g, uint64_t value_ns,
		     const struct guard_limits *limits)
{
	static const enum steal_fault faults[GUARD_VERDICT_COUNT] = {
		[GUARD_WRAPPED] = STEAL_WRAPPED,
		[GUARD_BACKWARDS] = STEAL_DECREASED,
		[GUARD_JUMPED] = STEAL_JUMPED,
	};
	uint64_t growth_ns;
	enum guard_verdict verdict =
		guard_step(g, value_ns, a->span.to_ns, a->end_ns, limits, &growth_ns);

	if (verdict != GUARD_OK)
		a->span.faults[faults[verdict]]++;
	return growth_ns;
}

/* Where the CPU is, or would be. */
static uint32_t cpu_index(const struct steal_audit *a, uint32_t cpu)
{
	uint32_t from = 0, to = a->cpu_count;

	while (from < to) {
		uint32_t middle = (from + to) / 2;

		if (a->cpus[middle].cpu < cpu)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static struct cpu *cpu_of(struct steal_audit *a, uint32_t cpu)
{
	uint32_t i = cpu_index(a, cpu), count = a->cpu_count;

	if (i < count && a->cpus[i].cpu == cpu)
		return &a->cpus[i];
	if (array_grow(&a->cpus, &a->cpu_capacity, count, sizeof(*a->cpus)) ||
	    array_grow(&a->span.cpus, &a->span_capacity, count, sizeof(*a->span.cpus)) ||
	    array_grow(&a->total.cpus, &a->total_capacity, count, sizeof(*a->total.cpus)))
		return NULL;
	memmove(&a->cpus[i + 1], &a->cpus[i], (count - i) * sizeof(*a->cpus));
	a->cpu_count++;
	a->cpus[i] = (struct cpu){.cpu = cpu};
	return &a->cpus[i];
}

static int add_cpu(struct steal_audit *a, const struct steal_cpu *c)
{
	const uint64_t values[CPU_PART_COUNT] = {c->steal_ns, c->busy_ns, c->idle_ns};
	struct cpu *cpu = cpu_of(a, c->cpu);
	bool known = cpu && cpu->sample && cpu->sample + 1 == a->sample;

	if (!cpu)
		return -ENOMEM;
	if (cpu->sample == a->sample) {
		a->span.faults[STEAL_TWICE]++;
		return 0;
	}
	for (int i = 0; i < CPU_PART_COUNT; i++) {
		if (known)
			cpu->step[i] = step(a, &cpu->parts[i], values[i], &a->cpu_limits);
		else
			guard_set(&cpu->parts[i], values[i], a->span.to_ns);
		cpu->total[i] += cpu->step[i];
	}
	if (!known && a->sample > 1)
		a->span.faults[STEAL_CPU_ONLINE]++;
	cpu->sample = a->sample;
	cpu->in_step = known;
	return 0;
}

static struct steal_cpu_use cpu_use(uint32_t cpu, const uint64_t parts[CPU_PART_COUNT])
{
	return (struct steal_cpu_use){cpu, parts[CPU_STEAL], parts[CPU_BUSY], parts[CPU_IDLE]};
}

static int add_cpus(struct steal_audit *a, const struct steal_sample *s)
{
	struct steal_span *span = &a->span;
	int err = 0;

	for (size_t i = 0; i < a->cpu_count; i++) {
		memset(a->cpus[i].step, 0, sizeof(a->cpus[i].step));
		a->cpus[i].in_step = false;
	}
	for (size_t i = 0; i < s->cpu_count && !err; i++)
		err = add_cpu(a, &s->cpus[i]);
	span->cpu_count = 0;
	for (size_t i = 0; i < a->cpu_count; i++) {
		const struct cpu *c = &a->cpus[i];

		if (c->sample + 1 == a->sample && a->sample > 1)
			span->faults[STEAL_CPU_OFFLINE]++;
		if (!c->in_step)
			continue;
		span->cpus[span->cpu_count++] = cpu_use(c->cpu, c->step);
		span->stolen_ns += c->step[CPU_STEAL];
		span->busy_ns += c->step[CPU_BUSY];
		span->idle_ns += c->step[CPU_IDLE];
	}
	return err;
}

/* NULL: no memory. */
static struct account *account_of(struct steal_audit *a, const struct account_key *key,
				  const char comm[STEAL_COMM_MAX])
{
	struct account *one = accounts_find(&a->accounts, key);
	bool is_new = !one;

	if (!one)
		one = accounts_add(&a->accounts, key);
	if (one) {
		one->is_new = is_new;
		memcpy(one->comm, comm, sizeof(one->comm));
	}
	return one;
}

static int begin_processes(struct steal_audit *a, const struct steal_sample *s)
{
	for (size_t i = 0; i < s->process_count; i++) {
		const struct steal_process *p = &s->processes[i];
		struct account_key key = {.pid = p->pid, .start_ticks = p->start_ticks};
		struct account *one = account_of(a, &key, p->comm);

		if (!one || accounts_set_process(&a->accounts, one))
			return -ENOMEM;
		one->sample = a->sample;
	}
	return 0;
}

/* What the process has beyond the counters of its threads that are known. */
static int64_t rest_of(const struct account *process, uint64_t cpu_ns)
{
	return (int64_t)(cpu_ns - process->known_ns);
}

/* A row of many threads, which no time limits. */
static const struct guard_limits of_many = {.slack_ns = 1ull << 62};

static int add_thread(struct steal_audit *a, const struct steal_thread *t)
{
	const struct guard_limits *limits = t->tid ? &a->thread_limits : &of_many;
	struct account_key key = {.tid = t->tid, .pid = t->pid, .start_ticks = t->start_ticks};
	struct account *one = account_of(a, &key, t->comm);
	struct account *process = accounts_process(&a->accounts, t->pid);

	if (!one)
		return -ENOMEM;
	if (one->sample == a->sample) {
		a->span.faults[STEAL_TWICE]++;
		return 0;
	}
	if (one->is_new && (!t->fresh || a->sample == 1)) {
		guard_set(&one->cpu, t->cpu_ns, a->span.to_ns);
		guard_set(&one->stolen, t->stolen_ns, a->span.to_ns);
		if (process) {
			process->known_ns += t->cpu_ns;
			/* Until now, that was in what the process had beyond its threads. */
			process->rest_ns = (int64_t)((uint64_t)process->rest_ns - t->cpu_ns);
		}
		if (a->sample > 1)
			a->span.faults[STEAL_LATE]++;
	} else {
		if (one->is_new) {
			guard_set(&one->cpu, 0, a->last_ns);
			guard_set(&one->stolen, 0, a->last_ns);
		}
		if (process)
			process->known_ns += t->cpu_ns - one->cpu.value_ns;
		one->step_cpu_ns = step(a, &one->cpu, t->cpu_ns, limits);
		one->step_stolen_ns = step(a, &one->stolen, t->stolen_ns, limits);
	}
	one->sample = a->sample;
	one->ended = t->ended;
	return 0;
}

/* Threads that have ended since their last sample: more than the process ever had beyond what is
 * known of its threads. Ticks make that go up and down a little; only a new height counts. */
static void add_process(struct steal_audit *a, const struct steal_process *p)
{
	struct account *one = accounts_process(&a->accounts, p->pid);
	int64_t rest = rest_of(one, p->cpu_ns);
	uint64_t passed = (a->end_ns - a->last_ns) * (a->cpu_count ? a->cpu_count : 1);
	uint64_t growth;

	if (one->is_new && (!p->fresh || a->sample == 1)) {
		one->rest_ns = rest;
		return;
	}
	if (rest <= one->rest_ns)
		return;
	growth = (uint64_t)rest - (uint64_t)one->rest_ns;
	one->rest_ns = rest;
	if (growth > passed + passed / 8 + a->thread_limits.slack_ns + a->cpu_limits.slack_ns)
		a->span.faults[STEAL_JUMPED]++;
	else
		one->step_cpu_ns = growth;
}

static int add_threads(struct steal_audit *a, const struct steal_sample *s)
{
	struct account *one;
	int err;

	for (one = accounts_next(&a->accounts, NULL); one; one = accounts_next(&a->accounts, one))
		one->step_cpu_ns = one->step_stolen_ns = one->step_share_ns = 0;
	err = begin_processes(a, s);
	for (size_t i = 0; i < s->thread_count && !err; i++)
		err = add_thread(a, &s->threads[i]);
	for (size_t i = 0; i < s->process_count && !err; i++)
		add_process(a, &s->processes[i]);
	return err;
}

/* Room for so many shares. */
static int make_room(struct steal_audit *a, uint32_t count)
{
	if (!count)
		return 0;
	if (array_grow(&a->shares, &a->share_capacity, count - 1, sizeof(*a->shares)))
		return -ENOMEM;
	return array_grow(&a->sharers, &a->sharer_capacity, count - 1, sizeof(struct account *));
}

static int compare_key(const void *a, const void *b)
{
	const struct account_key *x = &(*(struct account *const *)a)->key;
	const struct account_key *y = &(*(struct account *const *)b)->key;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->start_ticks > y->start_ticks) - (x->start_ticks < y->start_ticks);
}

static int compare_share(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* The published formula, for this interval. */
static int share_proportionally(struct steal_audit *a)
{
	struct steal_span *span = &a->span;
	uint64_t whole = span->busy_ns + (a->of.cpu_has_steal ? span->stolen_ns : 0);
	struct account *one;
	size_t count = 0;
	int err = make_room(a, store_count(a->accounts.all));

	if (err)
		return err;
	for (one = accounts_next(&a->accounts, NULL); one; one = accounts_next(&a->accounts, one))
		if (one->step_cpu_ns)
			a->sharers[count++] = one;
	if (count)
		qsort(a->sharers, count, sizeof(struct account *), compare_key);
	for (size_t i = 0; i < count; i++)
		a->shares[i] = (struct share){.weight = a->sharers[i]->step_cpu_ns, .key = i};
	span->others_ns[STEAL_PROPORTIONAL] = share_out(span->stolen_ns, whole, a->shares, count);
	span->threads_ns[STEAL_PROPORTIONAL] =
		span->stolen_ns - span->others_ns[STEAL_PROPORTIONAL];
	if (count)
		qsort(a->shares, count, sizeof(*a->shares), compare_share);
	for (size_t i = 0; i < count; i++)
		a->sharers[i]->step_share_ns = a->shares[i].part;
	return 0;
}

static void sum_exact(struct steal_audit *a, const struct steal_sample *s)
{
	struct steal_span *span = &a->span;
	const struct account *one;
	uint64_t charged;

	if (!a->of.exact)
		return;
	for (one = accounts_next(&a->accounts, NULL); one; one = accounts_next(&a->accounts, one))
		span->threads_ns[STEAL_EXACT] += one->step_stolen_ns;
	/* Many CPUs are idle at once: their sum has no limit that the guard would know. */
	if (s->idle_stolen_ns >= a->idle.value_ns)
		span->idle_stolen_ns = s->idle_stolen_ns - a->idle.value_ns;
	else
		span->faults[STEAL_DECREASED]++;
	guard_set(&a->idle, s->idle_stolen_ns, s->time_ns);
	charged = span->threads_ns[STEAL_EXACT] + span->idle_stolen_ns;
	if (charged > span->stolen_ns)
		span->faults[STEAL_EXCEEDED]++;
	else
		span->others_ns[STEAL_EXACT] = span->stolen_ns - charged;
}

/* The rows of the interval; and the accounts get their sums. */
static int list_threads(struct steal_audit *a)
{
	struct account *one;
	struct steal_use *u;

	a->span_threads.count = 0;
	for (one = accounts_next(&a->accounts, NULL); one; one = accounts_next(&a->accounts, one)) {
		if (!one->step_cpu_ns && !one->step_stolen_ns)
			continue;
		one->cpu_ns += one->step_cpu_ns;
		one->stolen_ns[STEAL_EXACT] += one->step_stolen_ns;
		one->stolen_ns[STEAL_PROPORTIONAL] += one->step_share_ns;
		u = use_list_add(&a->span_threads);
		if (!u)
			return -ENOMEM;
		u->tid = one->key.tid;
		u->pid = one->key.pid;
		u->start_ticks = one->key.start_ticks;
		u->cpu_ns = one->step_cpu_ns;
		u->stolen_ns[STEAL_EXACT] = one->step_stolen_ns;
		u->stolen_ns[STEAL_PROPORTIONAL] = one->step_share_ns;
		memcpy(u->comm, one->comm, sizeof(u->comm));
	}
	use_sort(a->span_threads.v, a->span_threads.count, a->of.exact);
	a->span.threads = a->span_threads.v;
	a->span.thread_count = a->span_threads.count;
	return 0;
}

static void add_to_total(struct steal_audit *a)
{
	const struct steal_span *s = &a->span;
	struct steal_span *t = &a->total;

	t->stolen_ns += s->stolen_ns;
	t->busy_ns += s->busy_ns;
	t->idle_ns += s->idle_ns;
	t->idle_stolen_ns += s->idle_stolen_ns;
	for (int m = 0; m < STEAL_METHOD_COUNT; m++) {
		t->threads_ns[m] += s->threads_ns[m];
		t->others_ns[m] += s->others_ns[m];
	}
	for (int i = 0; i < STEAL_FAULT_COUNT; i++)
		t->faults[i] += s->faults[i];
}

static void begin_span(struct steal_audit *a, const struct steal_sample *s)
{
	struct steal_span *span = &a->span;
	uint64_t gain = s->boot_ns - s->time_ns;

	span->from_ns = a->last_ns;
	span->to_ns = s->time_ns;
	a->end_ns = s->end_ns > s->time_ns ? s->end_ns : s->time_ns;
	span->stolen_ns = span->busy_ns = span->idle_ns = span->idle_stolen_ns = 0;
	memset(span->threads_ns, 0, sizeof(span->threads_ns));
	memset(span->others_ns, 0, sizeof(span->others_ns));
	memset(span->faults, 0, sizeof(span->faults));
	if (a->sample > 1 && (int64_t)(gain - a->last_boot_gain_ns) > (int64_t)RESUMED_NS)
		span->faults[STEAL_RESUMED]++;
	a->last_boot_gain_ns = gain;
}

/* The sample at which all begins. */
static void begin(struct steal_audit *a, const struct steal_sample *s)
{
	a->first_ns = s->time_ns;
	guard_set(&a->idle, s->idle_stolen_ns, s->time_ns);
	top_begin(&a->top, s);
}

int steal_audit_add(struct steal_audit *a, const struct steal_sample *s,
		    const struct steal_span **ret)
{
	int err;

	if (a->sample && s->time_ns <= a->last_ns)
		return -EINVAL;
	a->sample++;
	begin_span(a, s);
	err = add_cpus(a, s);
	if (!err)
		err = add_threads(a, s);
	if (!err && a->sample > 1) {
		sum_exact(a, s);
		err = share_proportionally(a);
		if (!err)
			err = list_threads(a);
	}
	if (!err)
		err = accounts_fold(&a->accounts, a->sample);
	if (err)
		return err;
	a->last_ns = s->time_ns;
	if (a->sample == 1) {
		begin(a, s);
		return 0;
	}
	add_to_total(a);
	top_add_interval(&a->top, &a->span);
	top_add_thefts(&a->top, s);
	*ret = &a->span;
	return 1;
}

int steal_audit_total(struct steal_audit *a, const struct steal_span **ret)
{
	struct steal_span *t = &a->total;
	int err;

	a->total_threads.count = 0;
	err = accounts_total(&a->accounts, &a->total_threads);
	if (err)
		return err;
	use_sort(a->total_threads.v, a->total_threads.count, a->of.exact);
	t->threads = a->total_threads.v;
	t->thread_count = a->total_threads.count;
	t->cpu_count = a->cpu_count;
	for (size_t i = 0; i < a->cpu_count; i++)
		t->cpus[i] = cpu_use(a->cpus[i].cpu, a->cpus[i].total);
	t->from_ns = a->first_ns;
	t->to_ns = a->last_ns;
	*ret = t;
	return 0;
}

const struct steal_top *steal_audit_top(const struct steal_audit *a, size_t *ret_count)
{
	*ret_count = a->top.interval_count;
	return a->top.intervals;
}

uint64_t steal_audit_threads_lost(const struct steal_audit *a)
{
	const struct top *w = &a->top;

	return w->threads_lost > w->threads_lost_base ? w->threads_lost - w->threads_lost_base : 0;
}

void steal_audit_thefts(const struct steal_audit *a, struct steal_thefts *ret)
{
	const struct top *w = &a->top;

	for (int i = 0; i < STEAL_SLOTS; i++)
		ret->counts[i] = w->histogram[i] > w->histogram_base[i]
					 ? w->histogram[i] - w->histogram_base[i]
					 : 0;
	ret->lost = w->lost > w->lost_base ? w->lost - w->lost_base : 0;
	ret->longest = w->thefts;
	ret->longest_count = w->theft_count;
}
