#include "cmd/read/replay/object_log.h"

#include <errno.h>
#include <unistd.h>

#include "heap/replay/object_replay.h"
#include "log/format/object_record.h"
#include "log/read/set.h"
#include "session/max_memory.h"

static unsigned cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned)n : 1;
}

static int replay_file(const char *path, unsigned jobs, struct object_replay *r,
		       struct object_in_stats *ret)
{
	struct object_record record;
	struct object_in *log;
	int err = object_in_open(path, &log);

	*ret = (struct object_in_stats){0};
	if (err)
		return err;
	object_in_jobs(log, jobs ? jobs : cpus());
	while (!object_replay_stopped(r) && (err = object_in_next(log, &record)) == 1) {
		err = object_replay_add(r, &record);
		if (err)
			break;
	}
	if (err == 1)
		err = 0;
	object_in_stats(log, ret);
	object_in_close(log);
	return err;
}

int object_log_replay(const char *path, unsigned jobs, struct object_replay *r,
		      struct object_in_stats *ret)
{
	int err = replay_file(path, jobs, r, ret);

	return err ? err : object_replay_finish(r);
}

/* What is missing between two parts nobody knows: -EXDEV. */
static int check_parts(const struct log_set *s)
{
	for (unsigned i = 1; i < log_set_count(s); i++)
		if (log_set_file(s, i)->part != log_set_file(s, i - 1)->part + 1)
			return -EXDEV;
	return 0;
}

int object_log_replay_parts(const struct log_set *s, unsigned jobs, struct object_replay *r,
			    struct object_in_stats *ret)
{
	struct object_in_stats stats;
	int err = check_parts(s);

	*ret = (struct object_in_stats){0};
	for (unsigned i = 0; i < log_set_count(s) && !err; i++) {
		err = replay_file(log_set_paths(s)[i], jobs, r, &stats);
		ret->blocks += stats.blocks;
		ret->raw_bytes += stats.raw_bytes;
		ret->bytes += stats.bytes;
		ret->records += stats.records;
		ret->damaged += stats.damaged;
		ret->missing += stats.missing;
	}
	return err ? err : object_replay_finish(r);
}

const char *object_log_error(int err)
{
	if (err == -EXDEV)
		return "parts between those that are there are missing, and with them what has "
		       "become of their objects; each part can be read alone";
	return err == -EFBIG ? "its object events make no sense" : max_memory_error(err);
}
