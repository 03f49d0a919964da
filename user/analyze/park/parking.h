/* analyze/park/parking.h: how long threads were parked, by blocker, and in Object.wait, by
 * monitor. */
#pragma once

#include <stdint.h>

#include "base/tables/keymap.h"
#include "base/tables/touched.h"
#include "log/format/event.h"

enum parking_kind { PARKING_PARK, PARKING_WAIT, PARKING_KIND_COUNT };

/* How it ended; unknown with a stock JVM. The order is that of enum park_end and enum wait_end. */
enum parking_how {
	PARKING_HOW_NOT_KNOWN,
	PARKING_WOKEN, /* unparked, or notified */
	PARKING_TIMEOUT,
	PARKING_INTERRUPTED,
	PARKING_SPURIOUS,
	PARKING_HOW_COUNT,
};

struct parking_row {
	enum parking_kind kind;
	uint64_t lock; /* 0: no blocker */
	uint64_t count;
	uint64_t total_ns;
	uint64_t max_ns;
	uint64_t how[PARKING_HOW_COUNT];
	uint64_t back_ns; /* of total_ns: from the unpark that ended it, until the thread ran */
	uint64_t begin_missing; /* it began before the recording, or the begin is lost */
	uint64_t end_missing;   /* the end is lost */
	uint64_t open;          /* had not ended when the log did, or when the thread did */
	uint64_t open_ns;       /* their time up to then, not in total_ns */
};

struct parking_thread {
	uint64_t thread;
	uint32_t touched;
	uint64_t since_ns[PARKING_KIND_COUNT];
	uint64_t lock[PARKING_KIND_COUNT];
	uint8_t active[PARKING_KIND_COUNT];
	uint64_t unpark, unpark_ns; /* the first one since it has parked last; 0: none */
};

/* All zero at the start. */
struct parking {
	struct keymap row_map;
	struct parking_row *rows; /* row_map.count of them */
	uint32_t rows_capacity;
	struct keymap thread_map;
	struct parking_thread *threads;
	uint32_t threads_capacity;
	struct touched touched; /* threads, since the last hole */
	uint64_t now_ns;
};

_Static_assert(PARKING_KIND_COUNT == 2, "a kind is a bit");

/* Of a row. Locks with small numbers have small keys, which are found without hashing. */
static inline struct keymap_key parking_key(enum parking_kind kind, uint64_t lock)
{
	return (struct keymap_key){.a = lock << 1 | kind, .b = lock >> 63};
}

/* Events in time order; those of other kinds are ignored. 0 or -ENOMEM. */
int parking_add(struct parking *p, const struct event *e);
int parking_finish(struct parking *p, uint64_t end_ns);
void parking_free(struct parking *p);
