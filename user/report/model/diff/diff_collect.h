/* report/model/diff/diff_collect.h: measures of an analysed log; for diff_log.c. */
#pragma once

#include "analyze/cells/cells.h"
#include "analyze/diff/time_bins.h"
#include "base/tables/keymap.h"
#include "report/model/diff/diff_log.h"
#include "session/facet_watch.h"

struct analysis;
struct gc_series;
struct log_names;
struct spans;

/* What is taken down while the events come. All zero at first, but names and bins.from_ns. */
struct diff_watch {
	const struct log_names *names;
	struct time_bins bins;
	struct keymap cells; /* without facets */
	/* Of these by facets: a cell's index, facets. Their rows in bins, from 2 on; row 0: those
	 * that found no room; 1: ends of spans. */
	struct keymap cuts;
	struct facet_watch facets; /* what the selection asks for */
	struct gc_series *gc;
	struct spans *spans;
	int err;
};

struct diff_collect {
	const struct diff_selection *selection;
	const struct diff_watch *watch;
	const struct analysis *analysis;
	uint64_t from_ns, to_ns;
	bool is_part; /* of the recording: counters of threads begin before it */
	struct measures *measures;
	struct call_paths *waiters, *owners;
};

/* What distinguishes cells. */
static inline struct keymap_key diff_cell_key(const struct cell_key *key)
{
	return (struct keymap_key){.a = key->lock,
				   .b = key->waiter,
				   .c = key->holder,
				   .d = key->waiter_stack,
				   .e = key->holder_stack,
				   .f = key->blocked_on * 2 + key->after_wait};
}

static inline struct keymap_key diff_cut_key(uint32_t cell, uint32_t facets)
{
	return (struct keymap_key){.a = cell, .b = facets};
}

/* 0 or -ENOMEM. */
int diff_collect_blocked(const struct diff_collect *c);
int diff_collect_threads(const struct diff_collect *c);
int diff_collect_pauses(const struct diff_collect *c);
int diff_collect_spans(const struct diff_collect *c);
