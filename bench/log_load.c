/*
 * A long log: how large is it, how fast is it written and read?
 *   log_load write OUT EVENTS none|lz4|zstd    a service: 64 threads, 200 monitors and locks, 4 collections
 *                                              a second; about 100,000 events a second of its time
 *   log_load read FILE [JOBS]                  all events, and nothing is done with them
 * Prints one JSON object: events, bytes, seconds by the clock and of CPU, peak memory in KiB.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "log/format/codec.h"
#include "log/format/event.h"
#include "log/read/reader.h"
#include "log/write/writer.h"

#define THREADS 64
#define LOCKS 200
#define STACKS 2000
#define METHODS 400
#define STEP_NS 10000
#define SECOND 1000000000ull

struct load {
	struct log_writer *w;
	uint64_t now, random, samples_at, collection_at;
	uint64_t cpu[THREADS + 1], stolen[THREADS + 1], runnable[THREADS + 1];
};

static uint64_t below(struct load *l, uint64_t n)
{
	l->random ^= l->random << 13;
	l->random ^= l->random >> 7;
	l->random ^= l->random << 17;
	return l->random % n;
}

static struct event make(struct load *l, unsigned id, uint64_t thread)
{
	l->now += 1 + below(l, 2 * STEP_NS);
	return (struct event){.id = (uint16_t)id,
			      .field_count = (uint16_t)schema_event(id)->field_count,
			      .thread = (uint32_t)thread,
			      .time_ns = l->now};
}

/* The thread's counts where its event has them, each a bit more than before. */
static void count(struct load *l, struct event *e, unsigned first, uint64_t thread)
{
	e->v[first].u = l->cpu[thread] += 1 + below(l, 20000);
	e->v[first + 1].u = l->stolen[thread] += below(l, 20) ? 0 : below(l, 100000);
	e->v[first + 2].u = l->runnable[thread] += below(l, 4) ? 0 : below(l, 30000);
}

static void define(struct load *l)
{
	char text[64];
	unsigned i;

	for (i = 1; i <= METHODS; i++) {
		struct event e = make(l, EVENT_METHOD, 0);

		snprintf(text, sizeof(text), "work%u", i);
		e.v[METHOD_METHOD].u = i;
		e.v[METHOD_CLASS_NAME].s = "org.example.service.Orders";
		e.v[METHOD_NAME].s = text;
		e.v[METHOD_SIGNATURE].s = "(ILjava/lang/String;)V";
		e.v[METHOD_SOURCE].s = "Orders.java";
		log_write(l->w, &e);
	}
	for (i = 1; i <= STACKS; i++) {
		struct event e = make(l, EVENT_STACK, 0);

		e.v[STACK_STACK].u = i;
		e.v[STACK_CALLER].u = i / 4;
		e.v[STACK_METHOD].u = 1 + below(l, METHODS);
		e.v[STACK_LINE].u = 1 + below(l, 900);
		log_write(l->w, &e);
	}
	for (i = 1; i <= LOCKS; i++) {
		struct event e = make(l, EVENT_LOCK, 0);

		e.v[LOCK_LOCK].u = i;
		e.v[LOCK_GROUP].u = i % 2 ? LOCK_GROUP_MONITOR : LOCK_GROUP_JUC;
		e.v[LOCK_CLASS].u = 1;
		e.v[LOCK_ADDRESS].u = 0x7f0000000000 + 256 * i;
		log_write(l->w, &e);
	}
	for (i = 1; i <= THREADS; i++) {
		struct event e = make(l, EVENT_THREAD, i);

		snprintf(text, sizeof(text), "pool-1-thread-%u", i);
		e.v[THREAD_TID].u = 1000 + i;
		e.v[THREAD_JAVA_ID].u = 10 + i;
		e.v[THREAD_NAME].s = text;
		log_write(l->w, &e);
	}
	struct event e = make(l, EVENT_CLASS, 0);

	e.v[CLASS_CLASS].u = 1;
	e.v[CLASS_NAME].s = "org.example.service.Table";
	log_write(l->w, &e);
}

/* A lock is taken at few call sites, by few threads. */
static uint64_t stack_of(struct load *l, uint64_t lock)
{
	return 1 + (lock * 31 + below(l, 3)) % STACKS;
}

static void threads_of(struct load *l, uint64_t lock, uint64_t *a, uint64_t *b)
{
	uint64_t first = below(l, 6);

	*a = 1 + (lock * 7 + first) % THREADS;
	*b = 1 + (lock * 7 + (first + 1 + below(l, 5)) % 6) % THREADS;
}

static void contention(struct load *l)
{
	uint64_t lock = 1 + 2 * (below(l, LOCKS / 2) * below(l, LOCKS / 2) / (LOCKS / 2));
	uint64_t waiter, owner;
	struct event e;

	threads_of(l, lock, &waiter, &owner);
	e = make(l, EVENT_MONITOR_CONTENDED_ENTER, waiter);

	e.v[MONITOR_CONTENDED_ENTER_LOCK].u = lock;
	e.v[MONITOR_CONTENDED_ENTER_OWNER].u = owner;
	count(l, &e, MONITOR_CONTENDED_ENTER_CPU_NS, waiter);
	count(l, &e, MONITOR_CONTENDED_ENTER_OWNER_CPU_NS, owner);
	e.v[MONITOR_CONTENDED_ENTER_STACK].u = stack_of(l, lock);
	e.v[MONITOR_CONTENDED_ENTER_OWNER_STACK].u = stack_of(l, lock);
	log_write(l->w, &e);
	e = make(l, EVENT_MONITOR_CONTENDED_EXIT, owner);
	e.v[MONITOR_CONTENDED_EXIT_LOCK].u = lock;
	count(l, &e, MONITOR_CONTENDED_EXIT_CPU_NS, owner);
	e.v[MONITOR_CONTENDED_EXIT_STACK].u = stack_of(l, lock);
	log_write(l->w, &e);
	e = make(l, EVENT_MONITOR_CONTENDED_ENTERED, waiter);
	e.v[MONITOR_CONTENDED_ENTERED_LOCK].u = lock;
	e.v[MONITOR_CONTENDED_ENTERED_OWNER].u = owner;
	count(l, &e, MONITOR_CONTENDED_ENTERED_CPU_NS, waiter);
	count(l, &e, MONITOR_CONTENDED_ENTERED_OWNER_CPU_NS, owner);
	log_write(l->w, &e);
}

static void park(struct load *l)
{
	uint64_t lock = 2 + 2 * below(l, LOCKS / 2), waiter, other;
	struct event e;

	threads_of(l, lock, &waiter, &other);
	e = make(l, EVENT_PARK_BEGIN, waiter);

	e.v[PARK_BEGIN_LOCK].u = lock;
	e.v[PARK_BEGIN_OWNER].u = other;
	count(l, &e, PARK_BEGIN_CPU_NS, waiter);
	count(l, &e, PARK_BEGIN_OWNER_CPU_NS, other);
	e.v[PARK_BEGIN_STACK].u = stack_of(l, lock);
	log_write(l->w, &e);
	e = make(l, EVENT_UNPARK, other);
	e.v[UNPARK_TARGET].u = waiter;
	count(l, &e, UNPARK_CPU_NS, other);
	e.v[UNPARK_STACK].u = stack_of(l, lock);
	log_write(l->w, &e);
	e = make(l, EVENT_PARK_END, waiter);
	e.v[PARK_END_LOCK].u = lock;
	e.v[PARK_END_OWNER].u = other;
	count(l, &e, PARK_END_CPU_NS, waiter);
	count(l, &e, PARK_END_OWNER_CPU_NS, other);
	log_write(l->w, &e);
}

static void regular(struct load *l)
{
	struct event e;
	unsigned i;

	if (l->now >= l->samples_at) {
		for (i = 1; i <= THREADS; i++) {
			e = make(l, EVENT_THREAD_SAMPLE, i);
			e.time_ns = l->samples_at;
			count(l, &e, THREAD_SAMPLE_CPU_NS, i);
			log_write(l->w, &e);
		}
		l->samples_at += SECOND;
		log_writer_flush(l->w);
	}
	if (l->now < l->collection_at)
		return;
	l->collection_at += SECOND / 4;
	e = make(l, EVENT_GC_BEGIN, 0);
	log_write(l->w, &e);
	l->now += 3000000;
	e = make(l, EVENT_GC_END, 0);
	e.v[GC_END_KIND].u = GC_KIND_YOUNG;
	log_write(l->w, &e);
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void print(const char *path, uint64_t events, double wall)
{
	struct rusage u;
	struct stat st = {0};

	getrusage(RUSAGE_SELF, &u);
	stat(path, &st);
	printf("{\"events\": %llu, \"bytes\": %llu, \"wall_s\": %.3f, \"cpu_s\": %.3f, "
	       "\"peak_kib\": %ld}\n",
	       (unsigned long long)events, (unsigned long long)st.st_size,
	       seconds(CLOCK_MONOTONIC) - wall, seconds(CLOCK_PROCESS_CPUTIME_ID), u.ru_maxrss);
}

static int write_log(const char *path, uint64_t count, enum block_codec codec)
{
	struct log_writer_options o = {.path = path,
				       .overwrite = true,
				       .compression.codec = codec,
				       .sync_ns = 10 * SECOND};
	struct load l = {.now = SECOND, .random = 88172645463325252ull, .samples_at = SECOND};
	json_t *header = json_pack("{s:s, s:s, s:I, s:I, s:{s:I}}", "spoor", "bench", "clock",
				   "CLOCK_MONOTONIC", "start_mono_ns", (json_int_t)SECOND,
				   "start_wall_ns", (json_int_t)1760000000000000000, "record",
				   "window_ns", (json_int_t)SECOND);
	double wall = seconds(CLOCK_MONOTONIC);
	struct log_writer_stats stats;
	struct event e;

	if (log_writer_open(&o, header, &l.w))
		return 1;
	json_decref(header);
	define(&l);
	for (log_writer_stats(l.w, &stats); stats.events < count; log_writer_stats(l.w, &stats)) {
		regular(&l);
		below(&l, 3) ? contention(&l) : park(&l);
	}
	e = make(&l, EVENT_END, 0);
	log_write(l.w, &e);
	if (log_writer_close(l.w))
		return 1;
	print(path, stats.events + 1, wall);
	return 0;
}

static int read_log(const char *path, unsigned jobs)
{
	const struct log_reader_options o = {.jobs = jobs};
	double wall = seconds(CLOCK_MONOTONIC);
	const struct event *e;
	struct log_reader *r;
	uint64_t events = 0;

	if (log_reader_open_with(&path, 1, &o, &r))
		return 1;
	while (log_reader_next(r, &e) == 1)
		events++;
	print(path, events, wall);
	log_reader_close(r);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned codec;

	if (argc == 5 && !strcmp(argv[1], "write"))
		for (codec = 0; codec < BLOCK_CODEC_COUNT; codec++)
			if (!strcmp(argv[4], codec_name(codec)))
				return write_log(argv[2], strtoull(argv[3], NULL, 10), codec);
	if (argc >= 3 && !strcmp(argv[1], "read"))
		return read_log(argv[2], argc > 3 ? (unsigned)atoi(argv[3]) : 0);
	fprintf(stderr,
		"usage: log_load write OUT EVENTS none|lz4|zstd | log_load read FILE [JOBS]\n");
	return 2;
}
