/* cmd/read/replay/pool_compare.h: a replay beside what a log says of the JVM's pools. */
#pragma once

#include "analyze/gc/gc_pools.h"
#include "heap/check/pool_check.h"

struct pool_compare {
	struct pool_check check;
	struct gc_pools pools;
	bool has_layout; /* else nothing is compared */
	bool missing;    /* parts of the log */
};

/* Reads the log's events, and watches the replay, of which nothing has been added. 0, or what
 * reading said: object_log_error. To be freed in any case. */
int pool_compare_begin(struct pool_compare *c, const char *log, bool thrifty,
		       struct object_replay *r);
/* The replay is finished. 0 or -ENOMEM. */
int pool_compare_finish(struct pool_compare *c);
void pool_compare_free(struct pool_compare *c);
struct pool_agreement pool_compare_agreement(const struct pool_compare *c);
