#include "cmd/read/heap/object_log.h"

#include <errno.h>

#include "heap/replay/object_replay.h"
#include "log/format/object_record.h"
#include "session/max_memory.h"

int object_log_replay(const char *path, struct object_replay *r, struct object_in_stats *ret)
{
	struct object_record record;
	struct object_in *log;
	int err = object_in_open(path, &log);

	*ret = (struct object_in_stats){0};
	if (err)
		return err;
	while (!object_replay_stopped(r) && (err = object_in_next(log, &record)) == 1) {
		err = object_replay_add(r, &record);
		if (err)
			break;
	}
	if (err == 1)
		err = 0;
	if (!err)
		err = object_replay_finish(r);
	object_in_stats(log, ret);
	object_in_close(log);
	return err;
}

const char *object_log_error(int err)
{
	return err == -EFBIG ? "its object events make no sense" : max_memory_error(err);
}
