/* cmd/read/heap/object_range.h: --from and --to of spoor objects: times, or collections. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cmd/read/replay/heap_moment.h"

struct argp_state;
struct log_source;

/* All zero: everything. A collection here, a time in the range of the source. */
struct object_range {
	struct object_range_limit {
		const char *text; /* as given; NULL: it is no collection */
		struct heap_moment moment;
	} from, to;
	uint64_t from_ns, to_ns; /* by object_range_resolve; to_ns UINT64_MAX: no limit */
};

/* True: the key was --from, --to, or one of log_source_option(). */
bool object_range_option(struct object_range *r, struct log_source *s, int key, const char *arg,
			 struct argp_state *state);
/*
 * Of a source that has been opened. Reads the object events for the collections that are named.
 * 0; -ENOENT, -EINVAL: there is no such collection, nothing is between the limits; or what reading
 * said: which has been said.
 */
int object_range_resolve(struct object_range *r, const struct log_source *s);
