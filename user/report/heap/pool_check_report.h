/* report/heap/pool_check_report.h: a log's heap beside the JVM's pools, collection by collection,
 * as text, JSON, CSV. */
#pragma once

#include "heap/check/pool_check.h"
#include "report/heap/heap_report.h"

struct object_replay;

/* All is lent. */
struct pool_check_report {
	const char *log_name;
	const struct object_replay *log;
	const struct pool_check *check; /* finished */
	unsigned top;
	enum heap_format format;
};

/* 0 or -ENOMEM; out's error flag says the rest. */
int heap_report_pool_check(const struct pool_check_report *r, FILE *out);
