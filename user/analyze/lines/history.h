/* analyze/lines/history.h: the runs of a line that intervals still need, with cumulative
 * sums for each hold: the inner half of timeline.c, whose essay says what for. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/lines/hold_slices.h"
#include "analyze/lines/timeline.h"
#include "base/tables/keymap.h"

/* The lock was held in the same way from one time to another. Or, at a single moment: of its
 * holder's earlier time not split it has become known what it did; that adds up to 0. */
struct hold_run {
	uint64_t from_ns, to_ns;
	uint32_t slot;  /* whose */
	uint32_t split; /* what is known of it; INDEX_NONE: nothing */
};

/* By which the runs of a slot are found that are far back. */
struct skip_node {
	struct split before;     /* of all earlier ones of the same slot */
	uint32_t previous, jump; /* earlier ones of the same slot; INDEX_NONE: there is none */
	uint32_t rank;           /* how many are earlier */
};

/* All runs of the same hold. */
struct hold_entry {
	struct hold hold;
	struct forward *forward; /* NULL: the chain is in hold */
	/* When the holder was seen last while it held like this; and since then, time not split. */
	uint64_t seen_ns;
	struct counters seen;
	uint64_t loose_ns;
	uint64_t take; /* the number of the last history_take that has a part of it, and which */
	uint32_t slice;
	/* Of runs with skip_nodes. */
	uint32_t last;         /* run */
	uint32_t newer, older; /* slots by their last runs; INDEX_NONE: none */
};

/* A thread's counters at a moment. */
struct counter_sample {
	uint64_t ns;
	uint64_t thread;
	struct counters its;
};

/* All zero at the start. */
struct history {
	struct hold_run *runs; /* from one to the next without a gap */
	uint32_t count, capacity;
	struct split *splits;
	uint32_t split_count, splits_capacity;
	struct skip_node *skip_nodes; /* of the first runs */
	uint32_t skip_count, skip_capacity;
	struct hold_entry *slots;
	uint32_t slot_count, slots_capacity;
	struct keymap slot_map;    /* used if there are more than a few */
	uint32_t newest;           /* slot; none at all: there are no skip_nodes */
	uint64_t takes;            /* calls of history_take so far */
	struct counter_sample *samples;
	uint32_t sample_count, samples_capacity;
	uint64_t begun_ns;    /* the latest begin of an interval */
	struct history *next; /* of those that are not in use */
};

void history_free(struct history *h);
/* Forgets the runs, and the samples if asked to; the memory stays. */
void history_clear(struct history *h, bool samples);

/* The slot of a hold, a new one if need be; *ret_new says so. Then the caller sets its forward.
 * 0 or -ENOMEM, as all of these. */
int history_slot(struct history *h, const struct hold *hold, uint32_t *ret, bool *ret_new);
/* Its next run, from where the last run of all has ended; nothing is known of it. */
int history_push(struct history *h, uint32_t slot, uint64_t from_ns, uint64_t to_ns);
struct reason_history;

/* The thread that holds the lock in the next runs. slot finds the slot for this hold while the
 * holder is blocked on another lock; 0: on none. */
struct history_holder {
	const struct reason_history *reasons; /* NULL: it is seen at the samples only */
	uint64_t thread;
	uint64_t lock; /* this one */
	int (*slot)(void *context, const struct blocked_on *on, uint32_t *ret);
	void *context;
};

/* From from_ns to to_ns, cut at the moments when the holder was seen, or emitted an event of its
 * own. */
int history_push_seen(struct history *h, const struct history_holder *who, uint64_t from_ns,
		      uint64_t to_ns);
/* Room for one; *ret is NULL if there are too many. */
int history_see(struct history *h, struct counter_sample **ret);

/* Adds to slices what there is from from_ns to to_ns, both within the runs. first: an interval
 * begins at from_ns. */
int history_take(struct history *h, uint64_t from_ns, uint64_t to_ns, bool first,
		 struct hold_slices *ret);
