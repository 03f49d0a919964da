/* analyze/tracks/track.h: what each thread did, as slices that lie after and within one
 * another. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/threads/states.h"
#include "log/format/event.h"

enum track_end {
	TRACK_ENDED,
	TRACK_LOST, /* it must have ended before this; the event is lost */
	TRACK_THREAD_ENDED,
	TRACK_LOG_ENDED,
};

struct track_counters {
	uint64_t cpu_ns, stolen_ns, runnable_ns, throttled_ns;
	bool known;
};

struct track_slice {
	uint32_t thread;
	enum state state;
	uint64_t lock; /* of a lock, wait or park; 0: none, or not known */
	uint64_t begin_ns, end_ns;
	/* The part of it in the range that is wanted. */
	uint64_t shown_begin_ns, shown_end_ns;
	/* The event that reports it. begin: contended enter, wait begin, park begin, theft; end:
	 * contended entered, wait end, park end, off_cpu. NULL: none, or not seen. Lent for the
	 * call. */
	const struct event *begin, *end;
	enum track_end how;
	uint32_t notifier; /* of a lock after Object.wait(): who sent it there; 0: none */
	struct track_counters from, to; /* the thread's own, at its ends */
	uint64_t breaks, breaks_ns;     /* running: slices too short to be shown, within it */
	bool sampled;                   /* no event reports it: inferred from samples */
};

/*
 * A slice's begin comes before everything within it, its end after. All times of a thread ascend.
 * In begin of a lock, wait or park, what is of its end is not set. 0 or negative errno, which ends
 * it all.
 */
struct track_sink {
	void *context;
	int (*begin)(void *context, const struct track_slice *s);
	int (*end)(void *context, const struct track_slice *s);
};

struct track_options {
	uint64_t from_ns, until_ns; /* slices and parts of slices in this range */
	uint64_t min_ns;            /* slices at least that long, but for running ones */
	bool off_cpu;               /* of long breaks that have ended there are events */
};

struct tracks;

/* NULL: no memory. */
struct tracks *tracks_new(const struct track_options *options, const struct track_sink *sink);
void tracks_free(struct tracks *all);

/* Events in time order; those of other kinds are ignored. 0, -ENOMEM, or what the sink says. */
int tracks_add(struct tracks *all, const struct event *e);
int tracks_finish(struct tracks *all, uint64_t end_ns);

/* True if slices cover this moment of the thread, which is not in the future. */
bool tracks_cover(const struct tracks *all, uint64_t thread, uint64_t ns);
/* The counters that an event has of its own thread, or of one that it names. */
struct track_counters track_counters_of(const struct event *e, enum counters_of of);
