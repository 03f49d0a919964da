/* session/facet_watch.h: cells cut by facets, for commands whose options ask for them. */
#pragma once

#include <jansson.h>

#include "analyze/groups/facet_cells.h"
#include "session/analyze_log.h"

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

/* For a log of which nothing else is watched; to be asked if facets are. */
struct log_watch facet_watch_of(struct facet_watch *w);

/* As struct log_watch has them; begin makes cells the observer of the analysis. */
int facet_watch_begin(struct facet_watch *w, struct analysis *a, const json_t *header);
int facet_watch_event(struct facet_watch *w, const struct event *e);
int facet_watch_hole(struct facet_watch *w, uint64_t from_ns);
/* 0; or -EFBIG: there are more windows than facets have, and it has been said, with what to do. */
int facet_watch_windows(const struct facet_watch *w, const char *what_to_do);
void facet_watch_free(struct facet_watch *w);
