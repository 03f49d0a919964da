/* analyze/profile/profile.h: where threads were while they ran, by the samples of --sample, and
 * while they did not, by the events that report it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/profile/gaps.h"
#include "analyze/profile/held_sample.h"
#include "analyze/profile/in_spans.h"
#include "analyze/profile/lock_holds.h"
#include "analyze/profile/waiting.h"
#include "analyze/threads/states.h"
#include "base/tables/keymap.h"
#include "log/format/event.h"

/* Time of one thread in one state, with one chain. */
struct profile_cell {
	uint64_t thread;
	enum state state;
	bool rest;        /* no chain: what the thread's counters have beyond all that has one */
	uint64_t stack;   /* 0: there is none */
	uint64_t mode;    /* enum sample_mode; distinguished only without a chain */
	bool failed;      /* there is no chain because the walk has failed */
	uint32_t aspect;  /* of the profile's; the first is all zero */
	uint64_t samples; /* of the state running only */
	uint64_t ns;      /* running: the weights: CPU time since the thread's sample before */
	uint64_t squares; /* of the weights, each in units of PROFILE_UNIT_NS */
};

#define PROFILE_UNIT_NS 1024

struct wall;
struct profile_step;

struct profile_thread {
	uint64_t thread;
	bool known;          /* cpu_ns and sampled_ns are: since then nothing is missing */
	bool carried, ended; /* they are those at the end of another profile; it has ended */
	uint64_t cpu_ns;     /* the counter at the last event ... */
	uint64_t sampled_ns; /* ... and at the last sample */
	uint64_t samples;
	uint64_t ns;     /* of all its weights */
	uint64_t run_ns; /* what it has run, sampled or not */
	uint64_t mode_ns[SAMPLE_MODE_COUNT];
	uint64_t via[WALK_BEGIN_COUNT], result[WALK_RESULT_COUNT]; /* samples */
	struct waiting waiting;
	struct gap gap;
};

struct profile_options {
	uint64_t from_ns, to_ns; /* what is before and after counts for nothing */
	bool from_begin;         /* counters are 0 at the begin */
	bool waiting;            /* all states are wanted, not only running */
	bool gaps;               /* weights are times between samples, not the threads' counters */
	bool locks;              /* which locks a thread held that others waited for is wanted:
				    lock_holds_observe() is to be notified, with profile.holds */
	bool span_names;               /* of samples in spans, too */
	const struct log_names *names; /* of threads; lent; NULL: not known */
	/* Is called for each sample that counts, when its weight is known; NULL: nobody asks. */
	void (*sampled)(void *ctx, const struct held_sample *s);
	void *sampled_ctx;
	/* For each step in time order; NULL: nobody. Not with locks or spans, whose samples count
	 * at the end. 0, or an error that profile_add() returns. */
	int (*observe)(void *context, const struct profile_step *step);
	void *context;
};

struct profile {
	struct profile_options options;
	struct keymap cell_map, thread_map, aspect_map;
	struct profile_cell *cells;     /* cell_map.count of them */
	struct profile_thread *threads; /* thread_map.count of them */
	struct profile_aspect *aspects; /* aspect_map.count of them */
	uint32_t cells_capacity, threads_capacity, aspects_capacity;
	uint64_t samples, unweighted; /* the latter: of threads of which nothing was known before */
	struct in_spans spans;        /* its options are given, too */
	struct lock_holds holds;
	struct vm_work work;
	struct held_sample *held;
	uint32_t held_count, held_capacity;
	uint64_t trimmed_ns; /* taken off chains, see profile_finish() */
	uint64_t last_ns;    /* with gaps: of the last event */
};

/* All zero but for the options at first. Events in time order. 0 or -ENOMEM. */
int profile_add(struct profile *p, const struct event *e);
/* No more events. If spans are wanted: samples of the chosen ones count now. If locks are: each
 * sample whose thread held one then is of a cell of that lock.
 *
 * If all states are wanted: makes each thread's cells of a state add up to its row of the wall
 * clock. What no event gives a chain becomes a cell of its own; chains that have more than the
 * thread's counters have, as a round of counters is read a little late, get less, all in the same
 * ratio. */
int profile_finish(struct profile *p, const struct wall *w);
/* Before p's first event: its threads go on where those of before, which ended then, were. */
int profile_go_on(struct profile *p, const struct profile *before);
/* Events are missing: what was counted meanwhile is no sample's weight. */
void profile_hole(struct profile *p);
/* All zero if there is none. */
struct profile_aspect profile_aspect_of(const struct profile *p, const struct profile_cell *c);
void profile_free(struct profile *p);

/* It has had a Java frame: else a walk that fails says nothing, as those of compiler threads, which
 * are Java threads to the VM, and have none. */
bool profile_thread_is_java(const struct profile_thread *t);
/* NULL: there is none. */
const struct profile_thread *profile_thread_find(const struct profile *p, uint64_t thread);
