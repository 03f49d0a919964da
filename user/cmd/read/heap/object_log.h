/* cmd/read/heap/object_log.h: the object events of a log that a command was given. */
#pragma once

#include "log/read/object_in.h"

struct object_replay;

/* All of them, or those until the replay stops. 0, or a negative errno; object_log_error says what
 * it means. *ret: what was read. */
int object_log_replay(const char *path, struct object_replay *r, struct object_in_stats *ret);
/* Static. */
const char *object_log_error(int err);
