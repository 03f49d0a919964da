/* cmd/read/heap/heap_sql_run.h: spoor heap sql: a query of a dump's tables, or all of them in a
 * file. */
#pragma once

#include <stdbool.h>

#include "heap/classify/heap_tree.h"
#include "report/heap/heap_report.h"

struct heap_moment;

struct heap_sql_options {
	const char *dump, *select, *save; /* select, or save: the file that is made */
	bool retained;                    /* saved, too */
	bool force;
	const struct heap_moment *at; /* of a log; NULL: as of heap_log_options */
	unsigned jobs;
	const char *class_path;
	enum heap_format format;
	unsigned top;
	/* Of the table of groups. */
	const struct heap_own_classifiers *own;
	const struct condition *condition;
	const struct heap_classifier *const *levels;
	unsigned level_count;
};

/* 0; 1: the dump is damaged, and the answer is of what comes before it; negative: it could not be
 * done. All has been said. */
int heap_sql_run(const struct heap_sql_options *o);
