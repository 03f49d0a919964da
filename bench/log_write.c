/*
 * Writes the events of a log again: how large does it get, how long does it take?
 *   log_write IN.spoor OUT none|lz4|zstd[:LEVEL] BLOCK_KIB ROUNDS [SYNC_S]
 * The events are read into memory first, and written ROUNDS times in a row with later times. Prints
 * events, bytes of the file, ns of CPU per event of the calling thread (the path of the events) and
 * of the whole process, events/s by the clock, and how many blocks were compressed less than asked
 * for, as the events come as fast as they can.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "log/format/codec.h"
#include "log/format/event.h"
#include "log/read/reader.h"
#include "log/write/writer.h"

struct events {
	struct event *v;
	size_t count, capacity;
};

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Strings are lent until the reader is closed, which it never is. */
static struct log_reader *load(const char *path, struct events *ret)
{
	struct log_reader *r;
	const struct event *e;

	if (log_reader_open(path, &r))
		return NULL;
	while (log_reader_next(r, &e) == 1) {
		if (ret->count == ret->capacity) {
			ret->capacity = ret->capacity ? 2 * ret->capacity : 1 << 16;
			ret->v = realloc(ret->v, ret->capacity * sizeof(*ret->v));
			if (!ret->v)
				return NULL;
		}
		ret->v[ret->count++] = *e;
	}
	return r;
}

static void compression(const char *text, struct log_compression *ret)
{
	const char *colon = strchr(text, ':');

	for (ret->codec = 0; strncmp(text, codec_name(ret->codec), strlen(codec_name(ret->codec)));)
		if (++ret->codec == BLOCK_CODEC_COUNT) {
			fprintf(stderr, "no codec %s\n", text);
			exit(2);
		}
	ret->level = colon ? atoi(colon + 1) : 0;
}

int main(int argc, char **argv)
{
	struct log_writer_options o = {.overwrite = true};
	struct log_writer_stats stats;
	struct events events = {0};
	struct log_reader *r;
	struct log_writer *w;
	double wall, own, all;
	uint64_t span, n;
	unsigned round, rounds;

	if (argc < 6) {
		fprintf(stderr, "usage: log_write IN OUT CODEC BLOCK_KIB ROUNDS [SYNC_S]\n");
		return 2;
	}
	r = load(argv[1], &events);
	if (!r || !events.count)
		return 1;
	o.path = argv[2];
	compression(argv[3], &o.compression);
	o.block_bytes = (uint32_t)atoi(argv[4]) * 1024;
	rounds = (unsigned)atoi(argv[5]);
	o.sync_ns = argc > 6 ? (uint64_t)atoi(argv[6]) * 1000000000 : 0;
	span = events.v[events.count - 1].time_ns - events.v[0].time_ns + 1;
	wall = seconds(CLOCK_MONOTONIC);
	own = seconds(CLOCK_THREAD_CPUTIME_ID);
	all = seconds(CLOCK_PROCESS_CPUTIME_ID);
	if (log_writer_open(&o, log_reader_header(r), &w))
		return 1;
	for (round = 0; round < rounds; round++)
		for (n = 0; n < events.count; n++) {
			struct event *e = &events.v[n];

			e->time_ns += round ? span : 0;
			log_write(w, e);
		}
	if (log_writer_finish(w))
		return 1;
	log_writer_stats(w, &stats);
	own = seconds(CLOCK_THREAD_CPUTIME_ID) - own;
	all = seconds(CLOCK_PROCESS_CPUTIME_ID) - all;
	wall = seconds(CLOCK_MONOTONIC) - wall;
	printf("%s %s KiB: %llu events, %llu bytes, %.2f bytes/event, %.0f ns own, %.0f ns in all, "
	       "%.2f M/s, %llu of %llu blocks less, %.2f s waited\n",
	       argv[3], argv[4], (unsigned long long)stats.events, (unsigned long long)stats.bytes,
	       (double)stats.bytes / (double)stats.events, own / (double)stats.events * 1e9,
	       all / (double)stats.events * 1e9, (double)stats.events / wall / 1e6,
	       (unsigned long long)stats.blocks_less, (unsigned long long)stats.blocks,
	       (double)stats.waited_ns / 1e9);
	return log_writer_close(w) ? 1 : 0;
}
