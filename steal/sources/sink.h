/* steal/sources/sink.h: a sample that is being made; sources fill it and lend it. */
#pragma once

#include "steal/sources/source.h"

struct steal_source_ops {
	/* 1, 0 or negative errno, as steal_source_sample. */
	int (*sample)(struct steal_source *s, const struct steal_sample **ret);
	void (*free)(struct steal_source *s);
	const char *(*why)(const struct steal_source *s); /* NULL: never more than the errno */
};

struct steal_sink {
	struct steal_sample sample;
	struct steal_cpu *cpus;
	struct steal_thread *threads;
	struct steal_process *processes;
	struct steal_theft *thefts;
	uint32_t cpu_capacity, thread_capacity, process_capacity, theft_capacity;
	int err; /* sticky */
};

/* Empties it, for a sample of now. */
void steal_sink_begin(struct steal_sink *to);
/* The sample, lent until the next begin; or the error that a push has met. */
int steal_sink_end(struct steal_sink *to, const struct steal_sample **ret);
void steal_sink_free(struct steal_sink *to);

/* CLOCK_BOOTTIME. */
uint64_t steal_boot_ns(void);
/* ns per USER_HZ tick. */
uint64_t steal_tick_ns(void);
/* Of a counter of ticks; UINT64_MAX when it is more than that, as broken counters have it. */
uint64_t steal_ticks_to_ns(uint64_t ticks, uint64_t tick_ns);
