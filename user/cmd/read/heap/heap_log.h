/* cmd/read/heap/heap_log.h: the heap of a log of object events, replayed up to a moment. */
#pragma once

#include "cmd/read/heap/heap_moment.h"

struct object_replay;

/* NULL: no memory. */
struct object_replay *heap_log_new(void);
/* The object events of a log, until the replay stops. Says what goes wrong. 0; 1: parts are
 * missing, which is for the caller to say. */
int heap_log_read(const char *log, struct object_replay *r);

/*
 * Says what goes wrong. 0, or 1: parts of the log are missing, which is for the caller to say; then
 * *ret is to be freed, and its heap is that of the moment. Negative: it cannot be done. A log is
 * read once more if the moment is not its end. at: MOMENT_END if NULL, or MOMENT_GRAPH with
 * HEAP_LOG_GRAPH: then a moment without pointers is an error. *ret keeps those that there are.
 */
enum heap_log_what {
	HEAP_LOG_THREADS = 1, /* objects of different threads are of different kinds */
	HEAP_LOG_GRAPH = 2,
};
int heap_log_replay(const char *log, const struct heap_moment *at, unsigned what,
		    struct heap_stop *ret_stop, struct object_replay **ret);
