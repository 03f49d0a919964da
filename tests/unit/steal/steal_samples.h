/* tests/unit/steal/steal_samples.h: samples made by hand, for tests of what is made of them. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "steal/audit.h"

#define MS 1000000ull
#define S 1000000000ull
#define TICK (10 * MS)
#define ROWS_MAX 64

static const struct steal_source exact_source = {
	.name = "sched", .clock = "rq_clock", .resolution_ns = 1, .cpu_resolution_ns = 1, .exact = true};
static const struct steal_source tick_source = {.name = "proc",
						.clock = "/proc/stat",
						.resolution_ns = TICK,
						.cpu_resolution_ns = TICK,
						.cpu_has_steal = true};

struct sample {
	struct steal_sample s;
	struct steal_cpu cpus[ROWS_MAX];
	struct steal_thread threads[ROWS_MAX];
	struct steal_process processes[ROWS_MAX];
	struct steal_theft thefts[ROWS_MAX];
};

static inline struct steal_sample *at(struct sample *to, uint64_t time_ns)
{
	memset(&to->s, 0, sizeof(to->s));
	to->s.time_ns = time_ns;
	to->s.end_ns = time_ns;
	to->s.boot_ns = time_ns + 5 * S;
	to->s.cpus = to->cpus;
	to->s.threads = to->threads;
	to->s.processes = to->processes;
	to->s.thefts = to->thefts;
	return &to->s;
}

static inline void cpu(struct sample *to, uint32_t number, uint64_t steal_ns, uint64_t busy_ns, uint64_t idle_ns)
{
	to->cpus[to->s.cpu_count++] = (struct steal_cpu){number, steal_ns, busy_ns, idle_ns};
}

static inline struct steal_thread *thread(struct sample *to, int32_t tid, uint64_t cpu_ns, uint64_t stolen_ns)
{
	struct steal_thread *t = &to->threads[to->s.thread_count++];

	*t = (struct steal_thread){
		.tid = tid, .pid = 100, .start_ticks = 7, .cpu_ns = cpu_ns, .stolen_ns = stolen_ns};
	snprintf(t->comm, sizeof(t->comm), "T%d", tid);
	return t;
}

static inline struct steal_process *process(struct sample *to, int32_t pid, uint64_t cpu_ns)
{
	struct steal_process *p = &to->processes[to->s.process_count++];

	*p = (struct steal_process){.pid = pid, .start_ticks = 7, .cpu_ns = cpu_ns};
	snprintf(p->comm, sizeof(p->comm), "P%d", pid);
	return p;
}

/* The row of the thread; one of zeros if there is none. */
static inline struct steal_use row(const struct steal_span *s, int32_t tid)
{
	for (size_t i = 0; i < s->thread_count; i++)
		if (s->threads[i].tid == tid)
			return s->threads[i];
	return (struct steal_use){0};
}
