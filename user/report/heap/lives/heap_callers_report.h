/* report/heap/lives/heap_callers_report.h: who has called for objects, as samples show it, as text
 * and JSON. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/heap/heap_report.h"

struct log_names;
struct object_replay;
struct site_samples;

/* All is lent. */
struct heap_callers_report {
	const char *name;
	const struct object_replay *log; /* finished */
	const struct log_names *names;
	const struct site_samples *seen; /* of its sites */
	uint64_t samples;                /* of the log, which has some */
	const struct pool_agreement *agreement;
	bool damaged;
	unsigned top;
	enum heap_format format;
};

/* 0 or -ENOMEM; out's error flag says the rest. */
int heap_report_callers(const struct heap_callers_report *r, FILE *out);
