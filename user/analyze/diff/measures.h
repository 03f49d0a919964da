/* analyze/diff/measures.h: what one recording has of everything that can be compared, by name. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/diff/time_bins.h"

enum measure_part {
	MEASURE_TOTALS,     /* a name for each: "blocked", "gc_pauses", "java_running", ... */
	MEASURE_LOCKS,      /* time blocked by class of lock, without idle turn-taking */
	MEASURE_METHODS,    /* ... by the waiter's and the holder's method */
	MEASURE_BY,         /* ... by the aspects that were asked for */
	MEASURE_POOLS,      /* states of pools of threads */
	MEASURE_RUNNING,    /* CPU time by innermost method, of samples */
	MEASURE_PAUSES,     /* collections and their pauses */
	MEASURE_SPANS,      /* how often spans were, and for how long in sum */
	MEASURE_SPAN_TIMES, /* quantiles of their lengths */
	MEASURE_PART_COUNT,
};

struct measure {
	const char *name; /* lent by the index; of generated classes: see generated_name.h */
	enum measure_part part;
	/* ns is not a sum over the recording's time, but a length by itself: a quantile, say. */
	bool level;
	bool has_windows;
	uint64_t ns, count;
	double windows[DIFF_WINDOWS]; /* the part of ns in each window */
};

/* All zero at first. */
struct measures {
	struct measure *rows;
	uint32_t count, capacity;
	struct store *index; /* by part and name; NULL: no row yet */
	uint64_t recorded_ns, spans, cpu_ns; /* what rates are per; recorded: without holes */
	double window_ns[DIFF_WINDOWS], window_spans[DIFF_WINDOWS], window_cpu_ns[DIFF_WINDOWS];
};

/* The row of that name, a new one if need be; good until the next one. NULL: no memory. */
struct measure *measures_row(struct measures *m, enum measure_part part, const char *name);
/* NULL: there is none. */
const struct measure *measures_find(const struct measures *m, enum measure_part part,
				    const char *name);
void measures_free(struct measures *m);

enum measure_per { MEASURE_PER_SECOND, MEASURE_PER_SPAN, MEASURE_PER_CPU, MEASURE_PER_COUNT };

/* What a rate is per: seconds, spans, seconds of CPU time; in a recording, and in a window. */
double measures_per(const struct measures *m, enum measure_per per);
double measures_window_per(const struct measures *m, enum measure_per per, unsigned window);
/* A measure as a rate, in ns; of a level as it is. NULL is 0. */
double measure_rate(const struct measures *m, const struct measure *row, enum measure_per per);
