/* cmd/read/heap/heap_dump.h: a heap dump that a command was given. */
#pragma once

#include <stdbool.h>

#include "cmd/read/replay/heap_moment.h"
#include "heap/check/pool_check.h"
#include "heap/image/hprof.h"
#include "heap/state/heap_state.h"
#include "report/heap/heap_report.h"

struct heap_dump {
	const char *name; /* as it was given; "-" is the standard input */
	struct heap_state state;
	struct hprof_result result; /* of a log all zero */
	bool is_log;
	struct pool_agreement agreement; /* of a log */
	char *callers;                   /* as in heap_log; NULL */
};

/*
 * Reads it; says what goes wrong, and what can be done. force: also another user's. 0, and it is to
 * be closed; 1: the same, and it is damaged, which has been said; negative: it cannot be read.
 */
struct heap_dump_log {
	const struct heap_moment *at; /* NULL: its end, or the last one that has pointers */
	bool objects, threads;        /* one by one; those of different threads apart */
	bool graph;                   /* with references and roots: pointers were recorded */
	unsigned jobs;
	bool graph_if_any;      /* the same, if they were */
	const char *class_path; /* as in heap_log_options */
	bool force;
};
/* The heap of a log of object events at a moment. The same. */
int heap_dump_open_log(const char *log, const struct heap_dump_log *o, struct heap_dump *ret);
/* Whether the file begins as such a log does. */
bool heap_dump_is_log(const char *name);
int heap_dump_open(const char *name, bool objects, bool force, struct heap_dump *ret);
/* What went wrong with a dump that was read, and what can be done. Static. */
const char *heap_dump_error(int err);
void heap_dump_close(struct heap_dump *d);
/* Where a report on it comes from. Lent until it is closed. */
struct heap_source heap_dump_source(const struct heap_dump *d);
/* A log whose collections do not agree with the JVM's pools. */
bool heap_dump_differs(const struct heap_dump *d);
