/* cmd/read/replay/heap_log.h: the heap of a log of object events, replayed up to a moment. */
#pragma once

#include "cmd/read/replay/heap_moment.h"
#include "heap/check/pool_check.h"

struct object_replay;

/* NULL: no memory. */
struct object_replay *heap_log_new(void);
/* The object events of a log, until the replay stops. Says what goes wrong. 0; 1: parts are
 * missing, which is for the caller to say. */
int heap_log_read(const char *log, unsigned jobs, struct object_replay *r);

struct heap_log_options {
	const struct heap_moment *at; /* NULL: its end, or with graph the last one with pointers */
	bool threads;                 /* objects of different threads are of different kinds */
	bool graph;                   /* a moment without pointers is an error */
	bool graph_if_any;            /* as graph, of a log that has any pointers */
	unsigned jobs;                /* threads; 0: one per CPU */
	const char *class_path; /* extends call chains by callers of this code; NULL: it does not */
};

struct heap_log {
	struct object_replay *replay; /* its heap is that of the moment */
	struct heap_stop stop;
	bool graph;                      /* it has pointers, and was asked for them */
	struct pool_agreement agreement; /* of all collections of the log */
	char *callers;                   /* how chains were extended, in words; NULL: not at all */
};

/*
 * Says what goes wrong, and which classes class_path lacks. 0, or 1: parts of the log are missing,
 * which is for the caller to say; then *ret is to be closed. Negative: it cannot be done. A log is
 * read once more if the moment is not its end.
 */
int heap_log_open(const char *log, const struct heap_log_options *o, struct heap_log *ret);
void heap_log_close(struct heap_log *l);
/* To people, if the heap of its moment lacks objects. */
void heap_log_say_incomplete(const char *log, const struct heap_log *l);
/* Whether collections differ from the JVM's pools: what a command's exit status says. */
bool heap_log_differs(const struct heap_log *l);
