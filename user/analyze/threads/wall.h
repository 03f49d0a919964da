/* analyze/threads/wall.h: where the time of each thread went, and whether all of it is accounted
 * for. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/threads/state_windows.h"
#include "analyze/threads/states.h"
#include "base/tables/keymap.h"

struct event;

struct wall_thread {
	uint64_t thread;
	bool seen;    /* the log says since when it was watched */
	bool sampled; /* else all of the following is 0 */
	bool ended;
	bool checked; /* from_ns is known from another event than its own counters */
	uint64_t seen_ns;
	uint64_t from_ns, to_ns; /* what is counted was between these times ... */
	uint64_t missing_ns;     /* ... but for this, between samples on both sides of holes */
	uint64_t holes;          /* that are after it */
	struct states base;      /* the counts at from_ns ... */
	struct states last;      /* ... and at to_ns */
};

/* All zero but for windows.options at the start. */
struct wall {
	struct keymap map;
	struct wall_thread *threads; /* map.count of them */
	uint32_t threads_capacity;
	bool started;
	bool has_reasons;  /* throttled time and the reasons of blocked time are in the log */
	uint64_t first_ns; /* time of the first event of any kind */
	uint64_t holes;
	uint64_t hole_ns; /* the end of the last one */
	uint64_t late;    /* samples that came after a younger one, and were left out */
	struct state_windows windows;
};

/* Events in time order; 0 or -ENOMEM. */
int wall_add(struct wall *w, const struct event *e);
int wall_finish(struct wall *w);
void wall_free(struct wall *w);

/* What a thread did during the recording. */
struct states wall_thread_states(const struct wall_thread *t);
/* How long it was watched, by the clock, without what is missing. */
uint64_t wall_thread_ns(const struct wall_thread *t);
/* What its states add up to too much; negative: time that is in none of them. */
int64_t wall_thread_error(const struct wall_thread *t);
/* The error is more than 0.1 %, and than what samples of many threads, read one after the other,
 * may be apart. */
bool wall_thread_is_off(const struct wall_thread *t);
