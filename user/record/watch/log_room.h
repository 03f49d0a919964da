/* record/watch/log_room.h: one bound for all logs of `spoor watch` in a folder. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Parts of logs by names such as orders-4711-20261124-120000-000001.spoor. Others are let alone. */
#define LOG_ROOM_STEM_MAX 128

struct log_room {
	int folder;         /* descriptor; lent */
	uint64_t max_bytes; /* of all parts in it together */
	uint64_t reserved;  /* for logs that are being written */
};

struct log_room_freed {
	unsigned files;
	uint64_t bytes;
};

/*
 * The name of a JVM's log, without "-000001.spoor", into ret. Two that begin in the same second
 * have pids of their own.
 */
void log_room_stem(const char *name, pid_t pid, int64_t wall_s, char ret[LOG_ROOM_STEM_MAX]);

/*
 * Makes room for a log of up to bytes: the oldest parts of logs that are not being written are
 * deleted until all that is there and all that is reserved has room. is_live says of a stem
 * whether its log is being written. -ENOSPC: what is reserved already leaves no room; nothing is
 * deleted then. Else what the folder's listing says.
 */
int log_room_reserve(struct log_room *r, uint64_t bytes,
		     bool (*is_live)(void *ctx, const char *stem), void *ctx,
		     struct log_room_freed *ret);
/* A log is not written any more. */
void log_room_release(struct log_room *r, uint64_t bytes);
