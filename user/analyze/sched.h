/* analyze/sched.h: where the time of each thread and each virtual CPU went. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/places.h"
#include "log/event.h"

struct sched_times {
	uint64_t running_ns;
	uint64_t stolen_ns;
	uint64_t runnable_ns;
	uint64_t blocked_ns;
};

struct sched_thread {
	uint64_t thread;
	bool sampled;
	bool ended;
	struct sched_times base; /* what was counted before the log begins */
	struct sched_times last;
};

enum sched_cpu_field {
	SCHED_CPU_CLOCK_NS,
	SCHED_CPU_JVM_NS,
	SCHED_CPU_OTHER_NS,
	SCHED_CPU_IDLE_NS,
	SCHED_CPU_USER_TICKS,
	SCHED_CPU_SYSTEM_TICKS,
	SCHED_CPU_IDLE_TICKS,
	SCHED_CPU_STEAL_TICKS,
	SCHED_CPU_FIELD_COUNT,
};

struct sched_cpu {
	uint64_t cpu;
	uint64_t samples; /* growth needs two */
	uint64_t first[SCHED_CPU_FIELD_COUNT];
	uint64_t last[SCHED_CPU_FIELD_COUNT];
};

/* All zero at the start. */
struct sched {
	struct places thread_places, cpu_places;
	struct sched_thread *threads; /* thread_places.count of them */
	struct sched_cpu *cpus;       /* cpu_places.count of them */
	uint32_t threads_capacity, cpus_capacity;
	uint64_t first_ns; /* time of the first event of any kind */
	bool started;
};

/* Events in time order; 0 or -ENOMEM. */
int sched_add(struct sched *s, const struct event *e);
void sched_free(struct sched *s);

/* What a thread did during the recording. */
struct sched_times sched_thread_times(const struct sched_thread *t);
/* How much a field of a CPU has grown from its first sample to its last. */
uint64_t sched_cpu_growth(const struct sched_cpu *c, enum sched_cpu_field field);
