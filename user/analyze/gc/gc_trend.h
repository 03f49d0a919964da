/* analyze/gc/gc_trend.h: where the heap goes, inferred from what collections left in it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/gc/gc_series.h"

enum gc_trend_basis {
	GC_TREND_NONE,  /* too few collections */
	GC_TREND_OLD,   /* what was left after those that freed old objects */
	GC_TREND_YOUNG, /* there were not enough of these: the old generation after young ones */
};

enum gc_trend_course {
	GC_COURSE_UNCLEAR, /* the line moves, but there is none that holds for the most of it */
	GC_COURSE_STEADY,
	GC_COURSE_GROWS,
	GC_COURSE_FALLS,
	GC_COURSE_COUNT,
};

#define GC_TREND_LEAST 3 /* collections */

struct gc_trend {
	enum gc_trend_basis basis;
	enum gc_trend_course course;
	uint32_t count;                   /* collections that it is made of */
	uint32_t old_count;               /* those that freed old objects */
	uint64_t from_ns, to_ns;          /* ends of the first and the last */
	uint64_t first_bytes, last_bytes; /* of the line through them, at these times */
	int64_t bytes_per_min;
	uint64_t limit_bytes; /* 0: not known */
	bool fills; /* it grows, and there is a limit that it has not reached, not far ... */
	uint64_t full_ns;     /* ... but will, so long after to_ns */
};

/* 0 or -ENOMEM. */
int gc_trend_find(const struct gc_row *rows, uint32_t count, const struct gc_limits *limits,
		  struct gc_trend *ret);
