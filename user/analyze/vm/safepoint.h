/* analyze/vm/safepoint.h: safepoints as a patched JVM measures them: who asked, how long to
 * reach. */
#pragma once

#include <stdint.h>

#include "analyze/vm/pause.h"
#include "base/tables/keymap.h"
#include "log/format/event.h"

/* Safepoints for one VM operation. */
struct safepoint_row {
	uint64_t operation;       /* a string */
	struct pause_times times; /* whole: to reach it, cleaning up, the operation */
	struct pause_times reach;
	uint64_t cleanup_ns, operation_ns;
	uint64_t threads, running; /* sums: Java threads there were, and those waited for */
	uint32_t requester, last_requester; /* indexes of the first and the last one */
};

struct safepoint_requester {
	uint64_t thread; /* 0: the VM itself */
	uint32_t next;   /* index of the next one of the same row; INDEX_NONE: none */
	struct pause_times times;
};

/* All zero at the start. */
struct safepoints {
	struct keymap row_map, requester_map;
	struct safepoint_row *rows;
	struct safepoint_requester *requesters;
	uint32_t rows_capacity, requesters_capacity;
	struct pause_times times, reach; /* over all */
	struct pause_times operation;    /* likewise, with the cleaning up */
};

/* Events of other kinds are ignored. 0 or -ENOMEM. */
int safepoints_add(struct safepoints *s, const struct event *e);
void safepoints_free(struct safepoints *s);
