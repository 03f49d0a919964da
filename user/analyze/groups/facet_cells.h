/* analyze/groups/facet_cells.h: the cells of a log, cut by facets: while it is read. */
#pragma once

#include "analyze/cells/cells.h"
#include "analyze/groups/facet_past.h"
#include "analyze/groups/facets.h"

struct facet_options {
	unsigned facets;    /* bits of enum facet */
	uint64_t start_ns;  /* of the recording: times of windows are since then */
	uint64_t begin_ns;  /* of the first window; 0: with the first part of a contention */
	uint64_t window_ns; /* 0: the shortest length by which there are FACET_WINDOWS at most */
	uint32_t cells_max; /* from so many cells on, none gets anything more; 0: no such bound */
};

#define FACET_WINDOWS 60
#define FACET_WINDOW_NS 1000000ull /* the shortest */

struct facet_cells;

/* NULL: no memory. */
struct facet_cells *facet_cells_new(const struct facet_options *o);
void facet_cells_free(struct facet_cells *f);

/* For contention_observe() and contention_observe_intervals(), with f as their context; an error is
 * kept in f. */
void facet_cells_part(void *f, const struct cell_part *part);
void facet_cells_interval(void *f, const struct cell_interval *interval);
/* Who is notified of each piece that a part is cut into, by the key of its cell, with its
 * facets. */
void facet_cells_observe(struct facet_cells *f, cell_part_observer *observe, void *context);
/* The log's events, each when the analysis has it, and its holes. 0 or -ENOMEM. */
int facet_cells_add(struct facet_cells *f, const struct event *e);
int facet_cells_hole(struct facet_cells *f, uint64_t from_ns);

/* 0 or -ENOMEM, from all of the above. */
int facet_cells_error(const struct facet_cells *f);
/* Lent until f is freed. */
const struct cells *facet_cells(const struct facet_cells *f);
/* What was in more windows than there may be is in the last one. */
bool facet_cells_full(const struct facet_cells *f);
/* A window's times, since the recording's start; of struct facets' window. */
void facet_cells_window(const struct facet_cells *f, unsigned window, uint64_t *ret_from_ns,
			uint64_t *ret_to_ns);
/* The number of a span's name, a string of the log; 0: it has none of its own. */
uint64_t facet_cells_span(const struct facet_cells *f, unsigned span);
