/* report/live/metrics.h: sums over a recording's intervals, as OpenMetrics. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct blocked_list;
struct live_view;
struct profile;
struct spans;

struct metrics;

/* How many lock classes, pools, names of spans, collectors and methods are distinguished, each: the
 * first that come, those with the most time in their interval before others; what comes after that
 * is "other". A counter never falls, nor does its label change. NULL: no memory. */
struct metrics *metrics_new(unsigned labels_max);
void metrics_free(struct metrics *m);

/* An interval, and what else than its analysis has been made of its events; all lent. */
struct metrics_interval {
	const struct live_view *view;
	const struct blocked_list *blocked;
	const struct spans *spans;     /* finished */
	const struct profile *profile; /* finished; NULL: running threads are not sampled */
	const uint64_t *late; /* by event id, up to SCHEMA_ID_MAX: came too late for its order */
};

/* One more interval. 0 or -ENOMEM: a part of it may be in the sums. */
int metrics_add(struct metrics *m, const struct metrics_interval *in);
/* The recording has ended. */
void metrics_end(struct metrics *m);

/* The content types of both. */
#define METRICS_OPEN "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define METRICS_PLAIN "text/plain; version=0.0.4; charset=utf-8"
/* open: OpenMetrics, else as Prometheus had it before. out's error flag says the rest. */
void metrics_put(const struct metrics *m, bool open, FILE *out);
