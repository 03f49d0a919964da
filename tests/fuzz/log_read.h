/* tests/fuzz/log_read.h: reads logs that are bytes in memory, to the last of their fields. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "log/format/block.h"
#include "log/format/event.h"
#include "log/read/reader.h"

#define PATH_ROOM 64
#define EVENTS_MAX 100000 /* whose digests are kept */

/*
 * What reading may take, whatever a log says of itself: pieces of at most twice the longest block's body (schemas/
 * event-log.md), and the few of them that are in work at once. Inputs are short: what they define is next to nothing.
 */
#define READ_PIECE_BYTES (2u * BLOCK_PAYLOAD_MAX)
#define READ_BYTES (128u * 1024 * 1024)

__attribute__((unused)) static int file_of(const uint8_t *data, size_t size, char path[PATH_ROOM])
{
	int fd = memfd_create("log", MFD_CLOEXEC);

	ENSURE(fd >= 0);
	ENSURE(!size || pwrite(fd, data, size, 0) == (ssize_t)size);
	snprintf(path, PATH_ROOM, "/proc/self/fd/%d", fd);
	return fd;
}

/* Everything in the event is looked at, so that the sanitizers see it too. */
__attribute__((unused)) static uint64_t event_digest(const struct event *e)
{
	const struct event_desc *desc = schema_event(e->id);
	uint64_t sum = 0;
	const char *c;
	unsigned i;

	ENSURE(desc && e->field_count <= desc->field_count);
	sum = sum * 31 + e->id;
	sum = sum * 31 + e->thread;
	sum = sum * 31 + e->time_ns;
	for (i = 0; i < desc->field_count; i++) {
		if (desc->fields[i].type != FIELD_STR)
			sum = sum * 31 + e->v[i].u;
		else
			for (c = e->v[i].s; *c; c++)
				sum = sum * 31 + (unsigned char)*c;
	}
	return sum;
}

struct reading {
	int open, end; /* what opening and the last log_reader_next have said */
	uint64_t events, sum;
	struct log_reader_stats stats;
	uint64_t *digests; /* of the first EVENTS_MAX, if wanted */
};

struct reading_options {
	unsigned jobs;
	bool limited, keep;
	uint64_t from_ns, to_ns;
	bool (*wanted)(const struct event *e); /* NULL: all */
};

__attribute__((unused)) static struct reading log_read(const char *const *paths, unsigned count,
						       const struct reading_options *o)
{
	const struct log_reader_options options = {.jobs = o->jobs};
	struct reading ret = {0};
	struct log_reader *r;
	const struct event *e;

	ret.open = log_reader_open_with(paths, count, &options, &r);
	if (ret.open)
		return ret;
	ENSURE(json_is_object(log_reader_header(r)));
	if (o->limited)
		ENSURE(!log_reader_limit(r, o->from_ns, o->to_ns));
	if (o->keep)
		ENSURE(ret.digests = malloc(EVENTS_MAX * sizeof(*ret.digests)));
	while ((ret.end = log_reader_next(r, &e)) == 1) {
		uint64_t digest = event_digest(e);

		if (o->wanted && !o->wanted(e))
			continue;
		if (o->keep && ret.events < EVENTS_MAX)
			ret.digests[ret.events] = digest;
		ret.sum = ret.sum * 31 + digest;
		ret.events++;
	}
	log_reader_stats(r, &ret.stats);
	ENSURE(o->wanted || ret.stats.events == ret.events);
	ENSURE(ret.end == 0 || ret.end == -EBADMSG);
	ENSURE((ret.end == 0) == !(ret.stats.blocks_damaged || ret.stats.blocks_missing));
	log_reader_close(r);
	return ret;
}

__attribute__((unused)) static void same_reading(const struct reading *a, const struct reading *b)
{
	ENSURE(a->open == b->open && a->end == b->end && a->events == b->events && a->sum == b->sum);
}

/* Each of a's events, in their order, is one of b's. */
__attribute__((unused)) static void part_of(const struct reading *a, const struct reading *b)
{
	uint64_t i = 0, k = 0;

	if (b->events > EVENTS_MAX)
		return;
	for (; i < a->events; i++, k++) {
		while (k < b->events && b->digests[k] != a->digests[i])
			k++;
		ENSURE(k < b->events);
	}
}
