/* analyze/cells/blocked_list.h: each blocked interval of a log, with what it is charged to. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cells/cells.h"

/* What one interval is charged to a cell. */
struct blocked_part {
	uint32_t cell; /* index in keys */
	uint64_t ns;
};

struct blocked_interval {
	struct cell_key key; /* as in struct cell_interval */
	uint64_t since_ns, until_ns;
	uint64_t last;       /* likewise */
	uint32_t part;       /* its first one */
	uint32_t part_count; /* the parts' times add up to the interval's */
	uint32_t most;       /* index of the part, from part on, of the thread with the most time
				 and its call chain with the most; INDEX_NONE: no thread */
	bool monitor;
};

/*
 * All zero at the start. It grows with the log: about 130 bytes for an interval. Intervals are in
 * the order in which they ended, or in which it became known who had held the lock.
 */
struct blocked_list {
	struct keymap keys; /* see cell_windows_cell() */
	struct blocked_part *parts;
	struct blocked_interval *rows;
	uint32_t part_count, parts_capacity;
	uint32_t count, capacity;
	int err; /* 0 or -ENOMEM */
};

void blocked_list_free(struct blocked_list *l);

/* For contention_observe() and contention_observe_intervals(), with the list as their context. */
void blocked_list_part(void *list, const struct cell_part *part);
void blocked_list_interval(void *list, const struct cell_interval *interval);

/*
 * How many others were blocked on the same lock when each interval began: of two that began at the
 * same time, the first in the list came first. counts has room for all rows. 0 or -ENOMEM.
 */
int blocked_list_others(const struct blocked_list *l, uint32_t *counts);
