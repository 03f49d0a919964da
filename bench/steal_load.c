/*
 * A load that knows from inside what was stolen from it: the workload of Hofer, ch. 5.4, natively.
 *
 *     steal_load [-b] [-c CPUS] [-g GAP_US] [-n ITERATIONS] [-o FILE] [-s SECONDS] [-t] [-w]
 *
 * T1 to T4 take turns between bursts and waits of 50, 100, 500 and 1000 ms, T5 is always busy, T6 takes
 * random turns of up to 100 ms, T7 to T36 are idle. A burst is a fixed amount of work, so many units of
 * a few microseconds: the threads do the same in every run, however long it takes them. SECONDS is for
 * how long T5 would need alone, an iteration; the bursts of T1 to T4 and T6 are shorter where there are
 * less than the four CPUs of the original (-c). With -b, instead: one thread for each CPU, bound to it,
 * busy for SECONDS.
 *
 * Each thread reads the clock after every unit. Two readings that are further apart than GAP_US: either
 * it was switched out in between (its own counts of switches say so), or it never left its CPU, and the
 * CPU itself was away: stolen. What the kernel says of its CPU time over the same gap is told, too: a
 * kernel that counts steal as CPU time so tells theft even where there was a switch. What is not in
 * a burst is looked at in the same way, as a gap with a switch: a thief also comes while a thread
 * looks at the clocks, or is on its way to sleep. In all of them are interrupts, too.
 *
 * With -w it says "ready PID", waits for a line on stdin before it begins, and after the result for
 * another one (or the end) before its threads end. The result is one line of JSON, on stdout, or in
 * FILE, and then "done" on stdout. With -t it has each gap: when it began and ended (CLOCK_MONOTONIC),
 * how much of it was stolen, and whether there was a switch in it.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull
#define THREADS_MAX 1024
#define PATTERNS 6
#define IDLE 30
#define UNIT_NS 2000
#define SLOTS 64
#define GAPS_MAX 16384
#define LOOKS_MAX 16

enum kind { KIND_TURNS, KIND_BUSY, KIND_RANDOM, KIND_IDLE, KIND_BOUND };

struct gap {
	uint64_t begin_ns, end_ns, stolen_ns;
	bool clear;
};

struct worker {
	pthread_t pthread;
	enum kind kind;
	uint64_t turn_ns; /* burst and wait together are twice as long */
	int cpu;          /* KIND_BOUND */
	char name[16];
	uint64_t random;

	int tid;
	uint64_t units;
	uint64_t own_ns; /* in units without a gap */
	/* Gaps without a switch, and what was CPU time of them, says the kernel; those with one. */
	uint64_t clear, clear_ns, clear_cpu_ns;
	uint64_t unclear, unclear_ns, unclear_cpu_ns;
	uint64_t longest_ns;
	uint64_t histogram[SLOTS];
	uint64_t begin_ns, end_ns, cpu_ns;
	struct rusage begin_usage, usage;

	long switches; /* as of the last gap */
	uint64_t gap_cpu_ns, gap_own_ns, gap_end_ns;

	struct gap *gaps; /* with -t */
	unsigned gap_count, gaps_lost;
};

static struct {
	bool bound, timeline, wait;
	unsigned cpus, iterations;
	uint64_t gap_ns, span_ns;
	FILE *out;
	uint64_t rounds; /* of work in a unit */
	double unit_ns;
	struct worker workers[THREADS_MAX];
	unsigned count;
	pthread_barrier_t begin, done, end;
} load = {.iterations = 1, .gap_ns = 50000, .span_ns = 10 * NS_PER_S};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void work(uint64_t rounds)
{
	uint64_t x = rounds | 1;

	for (uint64_t i = 0; i < rounds; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	__asm__ volatile("" : : "r"(x));
}

/* How much work takes UNIT_NS when nobody disturbs: the least of many tries. */
static void calibrate(void)
{
	uint64_t least = UINT64_MAX, rounds = 64;

	while (least == UINT64_MAX || (least < UNIT_NS && rounds < 1u << 30)) {
		if (least != UINT64_MAX)
			rounds += rounds / 8;
		least = UINT64_MAX;
		for (int i = 0; i < 200; i++) {
			uint64_t begin = now_ns(), took;

			work(rounds);
			took = now_ns() - begin;
			least = took < least ? took : least;
		}
	}
	load.rounds = rounds;
	load.unit_ns = (double)least;
}

static long switches(struct rusage *usage)
{
	getrusage(RUSAGE_THREAD, usage);
	return usage->ru_nvcsw + usage->ru_nivcsw;
}

static void keep(struct worker *w, uint64_t begin_ns, uint64_t end_ns, uint64_t stolen_ns,
		 bool clear)
{
	if (!load.timeline)
		return;
	if (w->gap_count == GAPS_MAX) {
		w->gaps_lost++;
		return;
	}
	w->gaps[w->gap_count++] = (struct gap){begin_ns, end_ns, stolen_ns, clear};
}

static uint64_t less(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

/* From one moment to another, with so much own work in it. */
static void gap(struct worker *w, uint64_t from_ns, uint64_t to_ns, uint64_t worked_ns)
{
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t lost = less(to_ns - from_ns, worked_ns), counted;
	struct rusage usage;
	long count = switches(&usage);

	w->own_ns += worked_ns;
	counted = less(cpu - w->gap_cpu_ns, w->own_ns - w->gap_own_ns);
	if (count == w->switches) {
		w->clear++;
		w->clear_ns += lost;
		w->clear_cpu_ns += counted;
		w->histogram[63 - __builtin_clzll(lost | 1)]++;
		if (lost > w->longest_ns)
			w->longest_ns = lost;
		keep(w, from_ns, to_ns, lost, true);
	} else {
		w->unclear++;
		w->unclear_ns += lost;
		w->unclear_cpu_ns += counted;
		keep(w, from_ns, to_ns, counted, false);
	}
	w->switches = count;
	w->gap_cpu_ns = cpu;
	w->gap_own_ns = w->own_ns;
}

/* A gap, and those in which it was looked at; how long that takes by itself is nobody's. Where it
 * takes longer than a gap (an emulator on a busy machine), there would be no end. The clock when
 * all is known. */
static uint64_t gaps(struct worker *w, uint64_t from_ns, uint64_t to_ns, uint64_t worked_ns)
{
	uint64_t cpu, now = to_ns;
	int looks = 0;

	do {
		gap(w, from_ns, now, worked_ns);
		worked_ns = 0;
		from_ns = now;
		cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		now = now_ns();
	} while (now - from_ns > load.gap_ns && ++looks < LOOKS_MAX);
	w->gap_cpu_ns = cpu;
	return now;
}

/* Between two bursts: on the way to sleep and back. */
static uint64_t resume(struct worker *w)
{
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), now = now_ns();

	if (w->gap_end_ns && cpu - w->gap_cpu_ns > w->own_ns - w->gap_own_ns + load.gap_ns) {
		w->switches = -1;
		return gaps(w, w->gap_end_ns, now, 0);
	}
	w->switches = switches(&w->usage);
	w->gap_cpu_ns = cpu;
	w->gap_own_ns = w->own_ns;
	cpu = now;
	now = now_ns();
	return now - cpu > load.gap_ns ? gaps(w, cpu, now, 0) : now;
}

/* Works for so many units, or until a time. */
static void burst(struct worker *w, uint64_t units, uint64_t until_ns)
{
	uint64_t before = resume(w), now;

	for (uint64_t i = 0; i < units && before < until_ns; i++) {
		work(load.rounds);
		now = now_ns();
		w->units++;
		if (now - before > load.gap_ns)
			now = gaps(w, before, now, (uint64_t)load.unit_ns);
		else
			w->own_ns += now - before;
		before = now;
	}
	w->gap_end_ns = before;
}

static uint64_t units_of(uint64_t ns)
{
	return (uint64_t)((double)ns / load.unit_ns);
}

/* The part of four CPUs that there is. */
static uint64_t scaled(uint64_t ns)
{
	return load.cpus < 4 ? ns * load.cpus / 4 : ns;
}

static void pause_ns(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static uint64_t random_below(struct worker *w, uint64_t below)
{
	w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
	return (w->random >> 33) % below;
}

static void turns(struct worker *w)
{
	uint64_t left = scaled(load.span_ns / 2);

	while (left) {
		uint64_t turn = w->turn_ns, on;

		if (w->kind == KIND_RANDOM)
			turn = 1 + random_below(w, 100 * NS_PER_MS);
		on = scaled(turn);
		on = on < left ? on : left;
		burst(w, units_of(on), UINT64_MAX);
		left -= on;
		if (w->kind == KIND_RANDOM)
			turn = 1 + random_below(w, 100 * NS_PER_MS);
		pause_ns(2 * turn - scaled(turn));
	}
}

static void *run(void *arg)
{
	struct worker *w = arg;

	w->tid = (int)syscall(SYS_gettid);
	pthread_setname_np(pthread_self(), w->name);
	for (unsigned i = 0; i < load.iterations; i++) {
		pthread_barrier_wait(&load.begin);
		if (!i) {
			switches(&w->begin_usage);
			w->begin_ns = now_ns();
			w->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		}
		if (w->kind == KIND_BOUND)
			burst(w, UINT64_MAX, now_ns() + load.span_ns);
		else if (w->kind == KIND_BUSY)
			burst(w, units_of(load.span_ns), UINT64_MAX);
		else if (w->kind != KIND_IDLE)
			turns(w);
		if (w->kind != KIND_IDLE)
			w->gap_end_ns = resume(w);
		if (i + 1 == load.iterations) {
			w->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - w->cpu_ns;
			w->end_ns = now_ns();
			switches(&w->usage);
		}
		pthread_barrier_wait(&load.done);
	}
	pthread_barrier_wait(&load.end);
	return NULL;
}

static struct worker *add(enum kind kind, uint64_t turn_ns, int cpu)
{
	struct worker *w = &load.workers[load.count++];
	struct gap *gaps = NULL;

	if (load.timeline) {
		gaps = calloc(GAPS_MAX, sizeof(*gaps));
		if (!gaps) {
			perror("gaps");
			exit(1);
		}
		memset(gaps, 0, GAPS_MAX * sizeof(*gaps)); /* no page is to come later */
	}
	*w = (struct worker){
		.kind = kind, .turn_ns = turn_ns, .cpu = cpu, .random = load.count, .gaps = gaps};
	snprintf(w->name, sizeof(w->name), "T%u", load.count);
	return w;
}

static void choose(void)
{
	static const uint64_t turn_ms[] = {50, 100, 500, 1000};
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	if (load.bound) {
		for (int cpu = 0; cpu < CPU_SETSIZE && load.count < THREADS_MAX; cpu++)
			if (CPU_ISSET(cpu, &set))
				add(KIND_BOUND, 0, cpu);
		return;
	}
	for (size_t i = 0; i < sizeof(turn_ms) / sizeof(*turn_ms); i++)
		add(KIND_TURNS, turn_ms[i] * NS_PER_MS, -1);
	add(KIND_BUSY, 0, -1);
	add(KIND_RANDOM, 0, -1);
	for (int i = 0; i < IDLE; i++)
		add(KIND_IDLE, 0, -1);
}

static int start(struct worker *w)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int err;

	pthread_attr_init(&attr);
	if (w->cpu >= 0) {
		CPU_ZERO(&set);
		CPU_SET(w->cpu, &set);
		pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	}
	err = pthread_create(&w->pthread, &attr, run, w);
	pthread_attr_destroy(&attr);
	return err;
}

static uint64_t usage_ns(const struct rusage *from, const struct rusage *to)
{
	int64_t s = to->ru_utime.tv_sec - from->ru_utime.tv_sec + to->ru_stime.tv_sec -
		    from->ru_stime.tv_sec;
	int64_t us = to->ru_utime.tv_usec - from->ru_utime.tv_usec + to->ru_stime.tv_usec -
		     from->ru_stime.tv_usec;

	return (uint64_t)(s * (int64_t)NS_PER_S + us * 1000);
}

static void tell_gaps(const struct worker *w)
{
	fprintf(load.out, ",\"gaps_lost\":%u,\"gaps\":[", w->gaps_lost);
	for (unsigned i = 0; i < w->gap_count; i++)
		fprintf(load.out, "%s[%lu,%lu,%lu,%d]", i ? "," : "", w->gaps[i].begin_ns,
			w->gaps[i].end_ns, w->gaps[i].stolen_ns, w->gaps[i].clear);
	fprintf(load.out, "]");
}

static void tell(const struct worker *w, const char *before)
{
	fprintf(load.out,
		"%s{\"name\":\"%s\",\"tid\":%d,\"units\":%lu,\"own_ns\":%lu,\"clear\":%lu,"
		"\"clear_ns\":%lu,\"clear_cpu_ns\":%lu,\"unclear\":%lu,\"unclear_ns\":%lu,"
		"\"unclear_cpu_ns\":%lu,\"longest_ns\":%lu,\"begin_ns\":%lu,\"wall_ns\":%lu,\"cpu_"
		"ns\":%lu,"
		"\"usage_ns\":%lu,\"voluntary\":%ld,\"involuntary\":%ld,\"histogram\":[",
		before, w->name, w->tid, w->units, w->own_ns, w->clear, w->clear_ns,
		w->clear_cpu_ns, w->unclear, w->unclear_ns, w->unclear_cpu_ns, w->longest_ns,
		w->begin_ns, w->end_ns - w->begin_ns, w->cpu_ns,
		usage_ns(&w->begin_usage, &w->usage), w->usage.ru_nvcsw - w->begin_usage.ru_nvcsw,
		w->usage.ru_nivcsw - w->begin_usage.ru_nivcsw);
	for (int i = 0; i < SLOTS; i++)
		fprintf(load.out, "%s%lu", i ? "," : "", w->histogram[i]);
	fprintf(load.out, "]");
	if (load.timeline)
		tell_gaps(w);
	fprintf(load.out, "}");
}

static void wait_for_line(void)
{
	int c;

	do {
		c = load.wait ? getchar() : '\n';
	} while (c != '\n' && c != EOF);
}

static int options(int argc, char **argv)
{
	double seconds = 10;
	int o;

	load.out = stdout;
	load.cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	while ((o = getopt(argc, argv, "bc:g:n:o:s:tw")) != -1) {
		switch (o) {
		case 'b':
			load.bound = true;
			break;
		case 'c':
			load.cpus = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'g':
			load.gap_ns = strtoul(optarg, NULL, 10) * 1000;
			break;
		case 'n':
			load.iterations = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'o':
			load.out = fopen(optarg, "we");
			if (!load.out) {
				perror(optarg);
				exit(1);
			}
			break;
		case 's':
			seconds = strtod(optarg, NULL);
			break;
		case 't':
			load.timeline = true;
			break;
		case 'w':
			load.wait = true;
			break;
		default:
			return -1;
		}
	}
	load.span_ns = (uint64_t)(seconds * (double)NS_PER_S);
	return optind == argc && load.cpus && load.iterations && load.gap_ns && seconds > 0 ? 0
											    : -1;
}

int main(int argc, char **argv)
{
	if (options(argc, argv)) {
		fprintf(stderr,
			"usage: %s [-b] [-c CPUS] [-g GAP_US] [-n ITERATIONS] [-o FILE] "
			"[-s SECONDS] [-t] [-w]; the head of its source says more\n",
			argv[0]);
		return 2;
	}
	calibrate();
	choose();
	pthread_barrier_init(&load.begin, NULL, load.count + 1);
	pthread_barrier_init(&load.done, NULL, load.count + 1);
	pthread_barrier_init(&load.end, NULL, load.count + 1);
	for (unsigned i = 0; i < load.count; i++) {
		int err = start(&load.workers[i]);

		if (err) {
			fprintf(stderr, "%s: no thread: %s\n", argv[0], strerror(err));
			return 1;
		}
	}
	if (load.wait) {
		printf("ready %d\n", getpid());
		fflush(stdout);
	}
	wait_for_line();
	for (unsigned i = 0; i < load.iterations; i++) {
		pthread_barrier_wait(&load.begin);
		pthread_barrier_wait(&load.done);
	}
	fprintf(load.out, "{\"pid\":%d,\"unit_ns\":%.0f,\"gap_ns\":%lu,\"cpus\":%u,\"threads\":[",
		getpid(), load.unit_ns, load.gap_ns, load.cpus);
	for (unsigned i = 0; i < load.count; i++)
		tell(&load.workers[i], i ? "," : "");
	fprintf(load.out, "]}\n");
	fflush(load.out);
	if (load.out != stdout) {
		printf("done\n");
		fflush(stdout);
	}
	wait_for_line();
	pthread_barrier_wait(&load.end);
	for (unsigned i = 0; i < load.count; i++)
		pthread_join(load.workers[i].pthread, NULL);
	return 0;
}
