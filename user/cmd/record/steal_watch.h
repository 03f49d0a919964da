/* cmd/record/steal_watch.h: an audit of stolen time, live or replayed, as `spoor steal`
 * was reported. */
#pragma once

#include <sys/types.h>

#include "report/steal/steal_report.h"

enum steal_choice { STEAL_WANT_BEST, STEAL_WANT_EXACT, STEAL_WANT_PROPORTIONAL, STEAL_WANT_BOTH };

struct steal_options {
	pid_t pid;                         /* 0: all processes */
	uint64_t interval_ns, duration_ns; /* duration 0: to the end */
	enum steal_choice method;
	enum steal_format format;
	uint64_t threshold_ppm;            /* UINT64_MAX: none */
	size_t top;                        /* 0: as the format has it */
	const char *input, *output, *save; /* NULL: live, stdout, nowhere */
	bool force;                        /* the input may be another user's */
	bool quiet;
};

/* An exit status; what went wrong has been said. */
int steal_watch(const struct steal_options *o);
