/* analyze/lines/replay.h: gives events back in the order of their sequence numbers: one queue
 * for each monitor, one for all park and unpark events. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "log/format/event.h"

#define REPLAY_PARK 0 /* the key of the queue of park and unpark events; a monitor's is its lock */

struct replay;

struct replay_item {
	const struct event *event;
	uint64_t number;
	uint64_t note; /* what replay_add was given */
};

/* Releases of a monitor that were folded: all numbers from first to last. */
struct replay_window {
	uint64_t first, last;
	uint64_t next;    /* those before this one were exits, and have been replayed */
	uint64_t missing; /* numbers right before it that never came */
	uint64_t holes;   /* numbers in it that are neither an exit nor in a fold; 0: it is whole */
	/* The other exits, in order. */
	struct replay_item *const *exits;
	uint32_t exit_count;
	/* monitor_fold events, in no order. */
	struct replay_item *const *folds;
	uint32_t fold_count;
};

/* What is called; events are lent until it returns. missing: how many numbers right before this
 * one never came. Both return 0 or a negative errno, which ends the call to replay. */
struct replay_sink {
	void *context;
	int (*event)(void *context, uint64_t key, const struct replay_item *item, uint64_t missing);
	int (*window)(void *context, uint64_t key, const struct replay_window *w);
};

struct replay_counts {
	uint64_t numbers; /* that were replayed */
	uint64_t gaps;    /* between them */
	uint64_t missing; /* numbers in these */
	uint64_t cut;     /* numbers missing right before the log ends: they may have come later */
	uint64_t late;    /* events that came when their number had been given up: in no result */
};

/* NULL: no memory. */
struct replay *replay_new(const struct replay_sink *sink);
void replay_free(struct replay *r);
/* Before the first event: those from before this time say what was open at this time, and the ones
 * in between are in a part of the recording that is not there. */
void replay_set_begin(struct replay *r, uint64_t begin_ns);

/* Where an event has its number, by its kind; 0: it has none. */
extern const uint8_t replay_fields[SCHEMA_ID_MAX + 1];

/* Whether it is of the one queue, not of a monitor's. */
static inline bool replay_is_park(const struct event *e)
{
	_Static_assert(EVENT_PARK_BEGIN + 1 == EVENT_PARK_END &&
			       EVENT_PARK_BEGIN + 2 == EVENT_UNPARK,
		       "one behind the other");
	return e->id >= EVENT_PARK_BEGIN && e->id <= EVENT_UNPARK;
}

/* The number of an event; 0: it has none. A fold has that of its window's first. */
static inline uint64_t replay_number(const struct event *e)
{
	unsigned field = e->id <= SCHEMA_ID_MAX ? replay_fields[e->id] : 0;

	return field ? e->v[field].u : 0;
}

/* Events with a number, in the order of the log. 0, -ENOMEM, or what the sink said. */
int replay_add(struct replay *r, uint64_t key, const struct event *e, uint64_t note);
/* It is now_ns in the log; it does not go back. What has waited too long is replayed. */
int replay_pass(struct replay *r, uint64_t now_ns);
/* The monitor is gone: another one with the same key counts anew. */
int replay_restart(struct replay *r, uint64_t key);
/* No more events. */
int replay_finish(struct replay *r);

/* Of one queue; all zero: there is none. */
struct replay_counts replay_counts(const struct replay *r, uint64_t key);
