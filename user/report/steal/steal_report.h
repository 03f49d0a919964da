/* report/steal/steal_report.h: what `spoor steal` prints, as text, JSON lines or CSV. */
#pragma once

#include <stdio.h>

#include "steal/compare.h"
#include "steal/sources/hypervisor.h"
#include "steal/top.h"

enum steal_format { STEAL_TEXT, STEAL_JSON, STEAL_CSV, STEAL_FORMAT_COUNT };

/* Of the whole audit; lent from begin to end. */
struct steal_report {
	FILE *out;
	enum steal_format format;
	bool quiet; /* no intervals, only the total */
	/* Where the main method's figures come from; with both methods, those of proportional come
	 * from other (which may be the same source). */
	const struct steal_source *source, *other;
	enum steal_method method;   /* the main one: exact, if both */
	bool both;                  /* spans have both methods */
	const struct hypervisor *h; /* NULL: of another machine, and not known */
	const char *cpu_how;        /* how cpu_has_steal is known; NULL: another machine's */
	const char *replayed;       /* the file; NULL: live */
	int32_t pid;                /* 0: all processes */
	uint64_t interval_ns;       /* asked for */
	uint64_t threshold_ppm;     /* UINT64_MAX: none */
	size_t top;                 /* rows at most */
};

struct steal_report_total {
	const struct steal_span *span;
	uint64_t intervals, intervals_exceeded;
	bool passed; /* in total */
	const struct steal_top *top;
	size_t top_count;
	const struct steal_thefts *thefts; /* NULL: not known */
	const struct steal_error *error;   /* NULL: not both */
	uint64_t threads_lost;
};

/* Each writes to r->out at once; whether that could be written is to be asked there. -ENOMEM. */
int steal_report_begin(const struct steal_report *r);
int steal_report_interval(const struct steal_report *r, const struct steal_span *s, bool passed);
int steal_report_end(const struct steal_report *r, const struct steal_report_total *t);
