/* cmd/read/replay/object_log.h: the object events of a log that a command was given. */
#pragma once

#include "log/objects/object_in.h"

struct log_set;
struct object_replay;

/* All of them, or those until the replay stops. 0, or a negative errno; object_log_error says what
 * it means. *ret: what was read. jobs: threads, as
 * object_in_jobs; 0: one per CPU. */
int object_log_replay(const char *path, unsigned jobs, struct object_replay *r,
		      struct object_in_stats *ret);
/* Those of all parts of a recording, each object once. -EXDEV: parts between them are missing. */
int object_log_replay_parts(const struct log_set *parts, unsigned jobs, struct object_replay *r,
			    struct object_in_stats *ret);
/* Static. */
const char *object_log_error(int err);
