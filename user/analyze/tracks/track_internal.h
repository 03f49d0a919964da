/* analyze/tracks/track_internal.h: the parts of track.c: a thread's slices, as they are put out. */
#pragma once

#include "analyze/tracks/track.h"
#include "base/tables/keymap.h"

#define TRACK_DEPTH_MAX 4

struct track_level {
	enum state state;
	uint64_t begin_ns;
	uint64_t lock;
	uint32_t notifier;
	bool after_wait;
	bool known; /* begin is set */
	bool placed, shown;
	struct event begin;
};

struct track_idle {
	bool known;
	uint64_t since_ns, until_ns;
	struct states from, to;   /* of samples around it */
	struct track_counters at; /* at since_ns */
};

struct track {
	uint32_t thread;
	bool ended;
	bool own; /* it has had an event, beside samples */
	uint64_t start_ns;
	uint64_t at_ns; /* up to here its slices are put out, or belong to a level that is */
	struct track_counters at;
	uint64_t breaks, breaks_ns; /* since then */
	struct track_level levels[TRACK_DEPTH_MAX];
	unsigned depth;
	struct track_idle idle;
	bool sampled;
	uint64_t sample_ns;
	struct states sample, before; /* the last one, and the one before it */
};

struct tracks {
	struct track_options options;
	struct track_sink sink;
	struct keymap map;
	struct track *rows;
	uint32_t capacity;
	bool begun;
	uint64_t first_ns, now_ns;
};

static inline uint64_t track_later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t track_less(uint64_t from, uint64_t part)
{
	return from > part ? from - part : 0;
}

struct track_counters track_counters_of_states(const struct states *s);

/* All with int: 0 or an error of the sink. What the samples say of the time up to to_ns. */
int track_put_idle(struct tracks *all, struct track *t, uint64_t to_ns);
/* Not within a level: from where it was up to to_ns it ran, but for what samples say. */
int track_run_to(struct tracks *all, struct track *t, uint64_t to_ns,
		 const struct track_counters *to);
/* A slice with nothing in it, at the end of what has been put out or after. */
int track_put_leaf(struct tracks *all, struct track *t, struct track_slice *s);
/* A level; e: the event of its begin, NULL: that was not seen. The innermost one ends now. */
void track_push(struct track *t, enum state state, uint64_t lock, uint64_t begin_ns,
		const struct event *e);
int track_pop(struct tracks *all, struct track *t, const struct event *end, enum track_end how);
/* The thread does what it cannot do while it is blocked: events in between are lost. */
int track_drop(struct tracks *all, struct track *t, bool but_wait);
