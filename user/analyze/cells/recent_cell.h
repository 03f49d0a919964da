/* analyze/cells/recent_cell.h: the cells that a thread's contentions had some time in last. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* One of them, and what tells it from the thread's others. */
struct recent_cell {
	uint64_t stack, holder, holder_stack, blocked_on;
	uint32_t lock; /* its index; INDEX_NONE: there is no cell */
	uint32_t index;
	bool monitor;
};
#define RECENT_BITS 4
