/* analyze/vm/phases.h: collections as a patched JVM reports them, and their phases as a tree. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/vm/pause.h"
#include "base/tables/keymap.h"
#include "log/format/event.h"

/* Collections by one collector for one cause; concurrent cycles from their begin to their end. */
struct phase_collection {
	uint64_t collector; /* numbers of strings */
	uint64_t cause;
	struct pause_times times;
};

#define PHASE_DEPTH_MAX 16 /* deeper ones are beside those that they are within */

/* Phases of one name and kind within the same other phases. */
struct phase_row {
	uint32_t parent; /* a row before this one; INDEX_NONE: outermost */
	uint32_t depth;  /* 0: outermost */
	uint64_t phase;  /* a string */
	uint64_t kind;   /* enum gc_phase_kind */
	struct pause_times times;
	/* after phases_finish */
	bool shown;           /* it has times, or one within has */
	uint32_t first, next; /* shown ones: within it, and beside it; INDEX_NONE: none */
};

struct phase_running {
	uint64_t gc;
	uint64_t collector, cause;
	uint64_t since_ns;
};

struct phase_open {
	uint64_t thread, gc, kind, level;
	uint64_t since_ns;
	uint32_t row;
	bool whole; /* its collection was seen to begin */
};

/* All zero at the start. */
struct phases {
	struct keymap collection_map, row_map;
	struct phase_collection *collections;
	struct phase_row *rows;
	uint32_t collections_capacity, rows_capacity;
	uint32_t first; /* shown outermost row, after phases_finish; INDEX_NONE: none */
	struct pause_times collection_times; /* over all */
	/* collections and phases without a begin or an end, and phases of a collection that was
	 * under way when the recording began; in no sum */
	uint64_t incomplete;

	/* what is going on */
	uint64_t now_ns;
	struct phase_running *running;
	uint32_t running_count, running_capacity;
	struct phase_open *open; /* of one thread: from the outside in */
	uint32_t open_count, open_capacity;
};

/* Events in time order; those of other kinds are ignored. 0 or -ENOMEM. */
int phases_add(struct phases *p, const struct event *e);
/* Events are missing here: whatever is open is in no sum. */
void phases_hole(struct phases *p);
/* The row of the innermost phase that is open in the thread; worker: if none is, of the innermost
 * pause that is open in any. INDEX_NONE: there is none. */
uint32_t phases_now(const struct phases *p, uint64_t thread, bool worker);
/* No more events; once. */
void phases_finish(struct phases *p);
void phases_free(struct phases *p);
