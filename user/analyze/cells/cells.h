/* analyze/cells/cells.h: blocked time by lock, waiter and holder: the finest pieces of which all
 * sums are made. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cells/cell_part.h"
#include "analyze/cells/lengths.h"
#include "base/tables/keymap.h"

struct reason_history;

/*
 * A log can have more combinations than there is memory for: they are so many only if they are
 * chance, such as those of a call chain that differs at each call. So there is a bound. Behind
 * CELLS_MAX cells, what would be a new one goes to that of the same lock, waiter and holder whose
 * chains are STACK_OTHERS; after a quarter more, to that of the lock whose waiter and holder are
 * THREAD_OTHERS, too. All sums stay exact, and what comes often is mostly there before that.
 */
#define CELLS_MAX (1u << 20)

/* All zero at the start, but what is lent. */
struct cells {
	struct cell *rows; /* count of them */
	uint32_t count, capacity;
	struct slots slots; /* by what identifies a cell */
	uint32_t max;       /* if not 0, in place of CELLS_MAX */
	/* What holders did between the lock's own events; NULL: not known. Lent. */
	const struct reason_history *reasons;
	struct lengths lengths; /* of the contentions that are counted in cells, by their number */
	/* If not NULL, notified of each part of each interval that has ended, once it is known who
	 * held the lock then; and of the interval after its parts. */
	cell_part_observer *observe;
	cell_interval_observer *ended;
	void *observer;
};

/* The index of a cell, a new one if need be. 0 or -ENOMEM. */
int cells_add(struct cells *c, const struct cell_key *key, uint32_t *ret);
/* A contention of that length began in the cell of that index. 0 or -ENOMEM. */
int cells_count(struct cells *c, uint32_t index, uint64_t whole_ns);
/* What cells of others have, too, in cells that are alike but for their facets, which become what
 * change() makes of them; NULL: they stay. Lengths come with them. 0 or -ENOMEM. */
int cells_merge(struct cells *to, const struct cells *from, uint32_t (*change)(uint32_t facets));
void cells_free(struct cells *c);
