/* cmd/read/facet_watch.h: cells cut by facets, for commands whose options ask for them. */
#pragma once

#include <jansson.h>

#include "analyze/groups/facet_cells.h"

struct analysis;
struct event;
struct log_source;

/* All zero but for the first four. */
struct facet_watch {
	const struct log_source *source;
	unsigned facets;    /* 0: none are asked for, and cells stays NULL */
	uint64_t window_ns; /* 0: not given */
	uint32_t cells_max; /* as facet_cells.h has it */
	struct facet_cells *cells;
};

/* As struct log_watch has them; begin makes cells the observer of the analysis. */
int facet_watch_begin(struct facet_watch *w, struct analysis *a, const json_t *header);
int facet_watch_event(struct facet_watch *w, const struct event *e);
int facet_watch_hole(struct facet_watch *w, uint64_t from_ns);
void facet_watch_free(struct facet_watch *w);
