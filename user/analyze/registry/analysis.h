/* analyze/registry/analysis.h: one log's events through all analyses, and what they found. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cells/cell_part.h"
#include "analyze/registry/facts.h"
#include "log/format/event.h"

struct analysis;
struct contention;
struct log_names;
struct stacks;
struct state_options;

/* NULL: no memory. */
struct analysis *analysis_new(void);
void analysis_free(struct analysis *a);

/* Before the first event: those from before this time say only what was open then, and how much
 * had been counted. */
void analysis_set_begin(struct analysis *a, uint64_t begin_ns);
/* Before the first event: threads' states are wanted window by window, too. */
void analysis_set_state_windows(struct analysis *a, const struct state_options *options);
/* Before the first event: see contention_observe(). */
void analysis_observe(struct analysis *a, cell_part_observer *observe, void *context);
/* And contention_observe_intervals(). */
void analysis_observe_intervals(struct analysis *a, cell_interval_observer *ended);
/* Events in time order. 0 or -ENOMEM: then the analysis can only be freed. */
int analysis_add(struct analysis *a, const struct event *e);
/*
 * Events of the time from from_ns to to_ns are missing, between what was added before and what is
 * added from now on. What is open ends there as what is open at the end of a log does: in no sum.
 * Events from before to_ns that come now say what was open at to_ns, and count from then on.
 */
int analysis_hole(struct analysis *a, uint64_t from_ns, uint64_t to_ns);
/* No more events. 0 or -ENOMEM. */
int analysis_finish(struct analysis *a);

/* Findings, after analysis_finish; lent until analysis_free. */
void analysis_facts(const struct analysis *a, struct analysis_facts *ret);
const struct log_names *analysis_names(const struct analysis *a);
const struct stacks *analysis_stacks(const struct analysis *a);
const struct contention *analysis_contention(const struct analysis *a);
/* analysis_parking(), analysis_pauses(), ...: the struct is in the analysis's own header. */
#define ANALYSIS(id, name) const struct name *analysis_##name(const struct analysis *a);
#define OTHER(id, name)
#include "analyze/registry/rows.def"
