/*
 * Logs with much of one thing, for bench/scale.
 *   scale_load OUT SHAPE N
 * What the shapes are is in the table at the end.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/event.h"
#include "log/write/writer.h"

#define SECOND 1000000000ull
#define FEW_THREADS 4

struct load {
	struct log_writer *w;
	uint64_t now;
};

static struct event make(struct load *l, unsigned id, uint64_t thread)
{
	l->now += 1000;
	return (struct event){.id = (uint16_t)id,
			      .field_count = (uint16_t)schema_event(id)->field_count,
			      .thread = (uint32_t)thread,
			      .time_ns = l->now};
}

static void put(struct load *l, unsigned id, uint64_t thread, uint64_t first, uint64_t second)
{
	struct event e = make(l, id, thread);

	if (e.field_count > 0)
		e.v[0].u = first;
	if (e.field_count > 1)
		e.v[1].u = second;
	log_write(l->w, &e);
}

static void thread(struct load *l, uint64_t number)
{
	struct event e = make(l, EVENT_THREAD, number);
	char name[40];

	snprintf(name, sizeof(name), "pool-%llu-thread-%llu", (unsigned long long)number % 97,
		 (unsigned long long)number);
	e.v[THREAD_TID].u = 1000 + number;
	e.v[THREAD_JAVA_ID].u = number;
	e.v[THREAD_NAME].s = name;
	log_write(l->w, &e);
}

static void lock(struct load *l, uint64_t number)
{
	struct event e = make(l, EVENT_LOCK, 0);

	e.v[LOCK_LOCK].u = number;
	e.v[LOCK_GROUP].u = LOCK_GROUP_MONITOR;
	e.v[LOCK_CLASS].u = 1;
	e.v[LOCK_ADDRESS].u = 4096 * number;
	log_write(l->w, &e);
}

static void text(struct load *l, unsigned id, uint64_t number)
{
	struct event e = make(l, id, 0);
	char name[40];

	snprintf(name, sizeof(name), "name %llu", (unsigned long long)number);
	e.v[0].u = number;
	e.v[1].s = name;
	log_write(l->w, &e);
}

static void method(struct load *l, uint64_t number)
{
	struct event e = make(l, EVENT_METHOD, 0);
	char name[40];

	snprintf(name, sizeof(name), "m%llu", (unsigned long long)number);
	e.v[METHOD_METHOD].u = number;
	e.v[METHOD_CLASS_NAME].s = "demo.Table";
	e.v[METHOD_NAME].s = name;
	e.v[METHOD_SIGNATURE].s = "()V";
	e.v[METHOD_SOURCE].s = "Table.java";
	log_write(l->w, &e);
}

static void stack(struct load *l, uint64_t number, uint64_t caller, uint64_t of_method)
{
	struct event e = make(l, EVENT_STACK, 0);

	e.v[STACK_STACK].u = number;
	e.v[STACK_CALLER].u = caller;
	e.v[STACK_METHOD].u = of_method;
	e.v[STACK_LINE].u = 1 + number % 1000;
	log_write(l->w, &e);
}

static void enter(struct load *l, uint64_t who, uint64_t monitor, uint64_t owner, uint64_t chain)
{
	struct event e = make(l, EVENT_MONITOR_CONTENDED_ENTER, who);

	e.v[MONITOR_CONTENDED_ENTER_LOCK].u = monitor;
	e.v[MONITOR_CONTENDED_ENTER_OWNER].u = owner;
	e.v[MONITOR_CONTENDED_ENTER_OWNER_SOURCE].u = OWNER_SOURCE_JAVA_THREAD;
	e.v[MONITOR_CONTENDED_ENTER_STACK].u = chain;
	log_write(l->w, &e);
}

/* A stock JVM: threads that wait() on a new object each time. */
static void monitors(struct load *l, uint64_t n)
{
	for (uint64_t i = 1; i <= n; i++) {
		struct event e;

		lock(l, i);
		e = make(l, EVENT_MONITOR_WAIT_BEGIN, 1 + i % FEW_THREADS);
		e.v[MONITOR_WAIT_BEGIN_LOCK].u = i;
		e.v[MONITOR_WAIT_BEGIN_STACK].u = 1;
		log_write(l->w, &e);
		put(l, EVENT_MONITOR_WAIT_END, 1 + i % FEW_THREADS, i, 0);
	}
}

static void contended(struct load *l, uint64_t n)
{
	for (uint64_t i = 1; i <= n; i++) {
		lock(l, i);
		enter(l, 1 + i % FEW_THREADS, i, 1 + (i + 1) % FEW_THREADS, 1);
		put(l, EVENT_MONITOR_CONTENDED_ENTERED, 1 + i % FEW_THREADS, i, 0);
	}
}

static void threads(struct load *l, uint64_t n)
{
	for (uint64_t i = FEW_THREADS + 1; i <= n; i++) {
		thread(l, i);
		put(l, EVENT_THREAD_SAMPLE, i, 0, 0);
	}
	for (uint64_t i = FEW_THREADS + 1; i <= n; i++) {
		enter(l, i, 1, 1, 1);
		put(l, EVENT_MONITOR_CONTENDED_ENTERED, i, 1, 0);
		put(l, EVENT_THREAD_SAMPLE, i, 5000, 0);
		put(l, EVENT_THREAD_END, i, 0, 0);
	}
}

/* Each of 200 frames, most of them of others, too; each is one thread's once. */
static void chains(struct load *l, uint64_t n)
{
	for (uint64_t i = 2; i <= n; i++)
		stack(l, i, i < 200 ? i - 1 : i / 2, 1 + i % 100);
	for (uint64_t i = 2; i <= n; i++) {
		enter(l, 1, 1, 2, i);
		put(l, EVENT_MONITOR_CONTENDED_ENTERED, 1, 1, 0);
	}
}

static void deep(struct load *l, uint64_t n)
{
	for (uint64_t i = 2; i <= n; i++)
		stack(l, i, i - 1, 1 + i % 100);
	for (uint64_t i = 0; i < 100; i++) {
		enter(l, 1, 1, 2, n - i);
		put(l, EVENT_MONITOR_CONTENDED_ENTERED, 1, 1, 0);
	}
}

static void names(struct load *l, uint64_t n)
{
	for (uint64_t i = 10; i <= n; i++) {
		text(l, EVENT_CLASS, i);
		text(l, EVENT_STRING, i);
		method(l, i + 100);
		put(l, EVENT_SPAN_BEGIN, 1, i, 0);
		put(l, EVENT_SPAN_END, 1, 0, 0);
	}
}

/* Each thread is blocked on a lock of its own; none ends. */
static void open_locks(struct load *l, uint64_t n)
{
	for (uint64_t i = FEW_THREADS + 1; i <= n; i++) {
		thread(l, i);
		lock(l, i);
		enter(l, i, i, 1, 1);
	}
	for (uint64_t i = 1; i <= n; i++)
		put(l, EVENT_MONITOR_WAIT_BEGIN, 1, 1, 0);
}

/* All threads are blocked on one lock; each gets it, the last one first. */
static void one_lock(struct load *l, uint64_t n)
{
	for (uint64_t i = FEW_THREADS + 1; i <= n; i++) {
		thread(l, i);
		enter(l, i, 1, 1, 1);
	}
	for (uint64_t i = n; i > FEW_THREADS; i--)
		put(l, EVENT_MONITOR_CONTENDED_ENTERED, i, 1, 0);
}

static void collections(struct load *l, uint64_t n)
{
	for (uint64_t i = 1; i <= n; i++)
		put(l, EVENT_COLLECTION_BEGIN, 1, i, 1);
	for (uint64_t i = 1; i <= n; i++)
		put(l, EVENT_COLLECTION_END, 1, i, 0);
}

/* None of which ends. */
static void phases(struct load *l, uint64_t n)
{
	for (uint64_t i = 1; i <= n; i++)
		put(l, EVENT_GC_PHASE_BEGIN, 1 + i % 50000, 1, 1 + i % 7);
}

static void one_time(struct load *l, uint64_t n)
{
	for (uint64_t i = 1; i <= n; i++) {
		l->now = 5 * SECOND;
		put(l, EVENT_THREAD_SAMPLE, 1, i, 0);
	}
}

static void backwards(struct load *l, uint64_t n)
{
	for (uint64_t i = n; i; i--) {
		l->now = 5 * SECOND + 700 * i;
		put(l, EVENT_THREAD_SAMPLE, 1, i, 0);
	}
	l->now = 5 * SECOND + 700 * n;
}

/* As a service has it: a few dozen locks and some hundred chains of 20 frames, which come again and
 * again, in about 50,000 combinations. */
static void service(struct load *l, uint64_t n)
{
	const uint64_t locks = 48, roots = 24, leaves = 10, depth = 20;

	for (uint64_t i = 1; i <= locks; i++)
		lock(l, i);
	for (uint64_t i = 1; i <= 500; i++)
		method(l, i);
	for (uint64_t i = 0; i < roots; i++)
		for (uint64_t k = 1; k < depth; k++)
			stack(l, i * depth + k, k > 1 ? i * depth + k - 1 : 0, 1 + (i * 7 + k) % 500);
	for (uint64_t i = 0; i < roots * leaves; i++)
		stack(l, roots * depth + i + 1, i % roots * depth + depth - 1, 1 + i % 500);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t chance = (i + 1) * 0x9e3779b97f4a7c15ull >> 20, who = 1 + i % FEW_THREADS;
		uint64_t monitor = 1 + (chance * chance >> 17) % locks;
		uint64_t chain = roots * depth + 1 + (chance >> 5) % 16 * 15 + monitor % 15;
		struct event e;

		e = make(l, EVENT_MONITOR_CONTENDED_ENTER, who);
		e.v[MONITOR_CONTENDED_ENTER_LOCK].u = monitor;
		e.v[MONITOR_CONTENDED_ENTER_OWNER].u = 1 + (i + 1 + chance % 3) % FEW_THREADS;
		e.v[MONITOR_CONTENDED_ENTER_OWNER_SOURCE].u = OWNER_SOURCE_JAVA_THREAD;
		e.v[MONITOR_CONTENDED_ENTER_STACK].u = chain;
		e.v[MONITOR_CONTENDED_ENTER_OWNER_STACK].u =
			roots * depth + 1 + (chance >> 11) % 8 * 30 + monitor % 30;
		log_write(l->w, &e);
		l->now += 1000 * (chance % 61);
		put(l, EVENT_MONITOR_CONTENDED_ENTERED, who, monitor, 0);
	}
}

static const struct {
	const char *name;
	void (*put)(struct load *l, uint64_t n);
} shapes[] = {
	{"monitors", monitors}, {"contended", contended}, {"threads", threads},
	{"chains", chains},     {"deep", deep},           {"names", names},
	{"open", open_locks},   {"one-lock", one_lock},   {"collections", collections},
	{"phases", phases},     {"one-time", one_time},   {"backwards", backwards},
	{"service", service},
};

static int write_log(const char *path, void (*shape)(struct load *, uint64_t), uint64_t n)
{
	struct log_writer_options o = {.path = path, .overwrite = true};
	struct load l = {.now = SECOND};
	json_t *header = json_pack("{s:s, s:s, s:I, s:I, s:{s:I}}", "spoor", "bench", "clock",
				   "CLOCK_MONOTONIC", "start_mono_ns", (json_int_t)SECOND,
				   "start_wall_ns", (json_int_t)1760000000000000000, "record",
				   "window_ns", (json_int_t)SECOND);

	if (log_writer_open(&o, header, &l.w))
		return 1;
	json_decref(header);
	text(&l, EVENT_CLASS, 1);
	text(&l, EVENT_STRING, 1);
	for (uint64_t i = 1; i <= FEW_THREADS; i++)
		thread(&l, i);
	for (uint64_t i = 1; i <= 100; i++)
		method(&l, i);
	stack(&l, 1, 0, 1);
	lock(&l, 1);
	shape(&l, n);
	put(&l, EVENT_END, 0, 0, 0);
	return log_writer_close(l.w) ? 1 : 0;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 4 && i < sizeof(shapes) / sizeof(*shapes); i++)
		if (!strcmp(argv[2], shapes[i].name))
			return write_log(argv[1], shapes[i].put, strtoull(argv[3], NULL, 10));
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		fprintf(stderr, "%s%s",
			i ? " " : "usage: scale_load OUT SHAPE N; shapes: ", shapes[i].name);
	fputc('\n', stderr);
	return 2;
}
