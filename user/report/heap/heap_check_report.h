/* report/heap/heap_check_report.h: how a log's heap and a dump of it differ, as text, JSON, CSV. */
#pragma once

#include <stdbool.h>

#include "heap/check/graph_check.h"
#include "heap/check/heap_check.h"
#include "report/heap/heap_report.h"

struct object_replay;

/* All is lent. */
struct heap_check_report {
	const char *log_name;
	const struct object_replay *log;
	struct heap_source dump;
	const struct heap_check *check;
	const struct graph_check *graph; /* NULL: the log has no pointers of the moment */
	bool has_collection, before;     /* the moment: a collection's end, or its begin */
	uint32_t collection;             /* its index; else the moment is the log's end */
	unsigned top;
	enum heap_format format;
};

/* 0 or -ENOMEM; out's error flag says the rest. */
int heap_report_check(const struct heap_check_report *r, FILE *out);
