/* report/live/live_cells.h: contended cells of one interval: the time within it, and no other. */
#pragma once

#include <stdint.h>

#include "analyze/cells/cells.h"

struct contention_open;
struct live_view;

/* By cell, the blocked time before an interval's begin: the interval before has counted it, when
 * the contentions were still open. All zero at first. */
struct live_early {
	uint64_t begin_ns; /* of the interval */
	struct keymap keys; /* of cells, without facets */
	struct keymap cuts; /* of these by facets: a key's index, facets */
	uint64_t *ns;       /* of cuts */
	uint32_t capacity;
	int err; /* 0 or -ENOMEM */
};

/* Forgets what was before; frees all memory. */
void live_early_reset(struct live_early *e, uint64_t begin_ns);
/* For contention_observe(), with e as its context; an error is kept in e. */
void live_early_observe(void *e, const struct cell_part *part);

/* How much of the view's interval the open contention was blocked in. */
uint64_t live_open_ns(const struct live_view *v, const struct contention_open *o);

/*
 * The analysis's cells, or those of v->facets, without the time in v->early; then a cell for each
 * contention that is open at the interval's end, with its time in the interval and count 0: it is
 * counted where it ends, and what it will have been cut by is not known yet. *ret is the caller's.
 * 0 or -ENOMEM.
 */
int live_cells_make(const struct live_view *v, struct cell **ret, uint32_t *ret_count);

/* One of an open contention. They are the last ones of an interval's cells. */
static inline bool live_cell_is_open(const struct cell *c)
{
	return c->pending;
}
