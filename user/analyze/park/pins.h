/* analyze/park/pins.h: virtual threads that block on their carriers, and how many carriers are
 * left meanwhile. */
#pragma once

#include <stdint.h>

#include "analyze/vm/pause.h"
#include "base/tables/keymap.h"
#include "log/format/event.h"

/*
 * A virtual thread that blocks while it is pinned takes its carrier along: JEP 444 (a contended
 * monitor, Object.wait(), and whatever blocks within synchronized), JEP 491 (from JDK 24 on only
 * below native frames). If all carriers are taken, no virtual thread runs, ready as it may be.
 */
enum pin_reason { PIN_MONITOR, PIN_WAIT, PIN_PARK, PIN_REASON_COUNT };

/* Of one lock, or blocker. */
struct pin_row {
	uint64_t lock;
	enum pin_reason reason;
	struct pause_times times;
};

/* The virtual thread is pinned since then; row is INDEX_NONE if it is not. */
struct pin_open {
	uint64_t since_ns;
	uint32_t row;
	uint32_t pad;
};

/* Times in which at least so many were pinned at once. */
struct pin_level {
	uint64_t since_ns; /* if they are now */
	struct pause_times times;
};

#define PIN_LEVELS_MAX 4096 /* more carriers are not distinguished */

/* All zero at the start. */
struct pins {
	struct keymap row_map, open_map, carrier_map;
	struct pin_row *rows;
	struct pin_open *open;
	uint64_t *carriers;       /* threads that have carried one, carrier_map.count of them */
	struct pin_level *levels; /* the first is of one, level_count of them */
	uint32_t rows_capacity, open_capacity, carriers_capacity, levels_capacity;
	uint32_t level_count, now;
	uint64_t now_ns;
};

/* Events of other kinds are ignored. 0 or -ENOMEM. */
int pins_add(struct pins *p, const struct event *e);
/* What is open at the end counts up to there. */
void pins_finish(struct pins *p, uint64_t end_ns);
void pins_free(struct pins *p);
/* The time in which at least so many were pinned at once; count 0: never. */
struct pause_times pins_at_least(const struct pins *p, uint32_t count);
