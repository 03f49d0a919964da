/* analyze/threads/sched.h: what was taken from each virtual CPU, and what it did. */
#pragma once

#include <stdint.h>

#include "base/tables/keymap.h"
#include "log/format/event.h"

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
	uint64_t samples;                      /* growth needs two */
	uint64_t holes;                        /* that are after it */
	uint64_t first[SCHED_CPU_FIELD_COUNT]; /* so much less than it was as has grown in holes */
	uint64_t last[SCHED_CPU_FIELD_COUNT];
};

/* All zero at the start. */
struct sched {
	struct keymap cpu_map;
	struct sched_cpu *cpus; /* cpu_map.count of them */
	uint32_t cpus_capacity;
	uint64_t holes;
};

/* Events in time order; 0 or -ENOMEM. */
int sched_add(struct sched *s, const struct event *e);
void sched_free(struct sched *s);

/* How much a field of a CPU has grown from its first sample to its last. */
uint64_t sched_cpu_growth(const struct sched_cpu *c, enum sched_cpu_field field);
