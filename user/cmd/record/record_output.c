#include "cmd/record/record_output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/msg.h"
#include "base/text/units.h"
#include "log/format/codec.h"
#include "log/write/output.h"

/* A reader can begin at a block of synchronization. Following what is open takes 15 ns an event. */
#define SYNC_NS (10 * NS_PER_S)

enum { OPT_COMPRESS = 1100, OPT_MAX_SIZE, OPT_DEVIATION };

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0,
	 "write the log to FILE, - is standard output (default: spoor-<pid>-<time>.spoor)", 0},
	{"force", 'f', NULL, 0, "overwrite FILE if it exists; with --max-size: delete its parts",
	 0},
	{"compress", OPT_COMPRESS, "CODEC", 0,
	 "none, lz4, zstd or zstd:LEVEL with LEVEL from 1 to 19 (default: zstd:1)", 0},
	{"max-size", OPT_MAX_SIZE, "SIZE", 0,
	 "keep the newest SIZE of the log, e.g. 1G, in files FILE-000001.spoor, FILE-000002.spoor, "
	 "...: each can be read alone, and the oldest are deleted",
	 0},
	{"deviation", OPT_DEVIATION, "PCT", 0,
	 "with --max-size: how much less may be kept, e.g. 25% (the default) for 4 files", 0},
	{0},
};

static void parse_compress(const char *arg, struct argp_state *state, struct log_compression *ret)
{
	const char *colon = strchr(arg, ':');
	size_t length = colon ? (size_t)(colon - arg) : strlen(arg);
	enum block_codec codec = 0;
	char *end = NULL;
	long level = 0;

	while (codec < BLOCK_CODEC_COUNT &&
	       (strlen(codec_name(codec)) != length || strncmp(arg, codec_name(codec), length)))
		codec++;
	if (colon)
		level = strtol(colon + 1, &end, 10);
	if (codec == BLOCK_CODEC_COUNT || (colon && (codec != BLOCK_CODEC_ZSTD || *end ||
						     level < 1 || level > CODEC_ZSTD_LEVEL_MAX)))
		argp_error(state, "--compress is none, lz4, zstd or zstd:1 to zstd:%d, not '%s'",
			   CODEC_ZSTD_LEVEL_MAX, arg);
	ret->codec = codec;
	ret->level = (int)level;
}

static unsigned parse_deviation(const char *arg, struct argp_state *state)
{
	char *end;
	long pct = strtol(arg, &end, 10);

	if (end == arg || (*end && strcmp(end, "%") != 0) || pct < 1 || pct > 100)
		argp_error(state, "--deviation is from 1%% to 100%%, not '%s'", arg);
	return (unsigned)pct;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct log_writer_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		o->compression.codec = BLOCK_CODEC_ZSTD;
		o->sync_ns = SYNC_NS;
		return 0;
	case 'o':
		o->path = arg;
		return 0;
	case 'f':
		o->overwrite = true;
		return 0;
	case OPT_COMPRESS:
		parse_compress(arg, state, &o->compression);
		return 0;
	case OPT_MAX_SIZE:
		if (size_parse(arg, &o->max_bytes) || !o->max_bytes)
			argp_error(state, "'%s' is not a size such as 1G", arg);
		return 0;
	case OPT_DEVIATION:
		o->deviation_pct = parse_deviation(arg, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp record_output_argp = {options, parse_option, NULL, NULL, NULL, NULL, NULL};

void record_output_check(const struct log_writer_options *o, bool has_command,
			 struct argp_state *state)
{
	bool out = o->path && !strcmp(o->path, "-");
	uint64_t least = log_writer_least_bytes(o->deviation_pct);
	char text[UNITS_TEXT_MAX];

	if (o->deviation_pct && !o->max_bytes)
		argp_error(state, "--deviation goes with --max-size");
	if (o->max_bytes && o->max_bytes < least)
		argp_error(state, "--max-size is too small: with --deviation %u%% it is %s or more",
			   o->deviation_pct ? o->deviation_pct : LOG_DEVIATION_PCT,
			   size_format(least, text));
	if (out && o->max_bytes)
		argp_error(state, "--max-size makes files: it does not go with -o -");
	if (out && has_command)
		argp_error(state, "COMMAND writes to standard output itself: -o - needs -p PID");
	if (out && isatty(STDOUT_FILENO))
		argp_error(state, "standard output is a terminal: -o - needs a pipe or a file");
}

const char *record_output_name(const struct log_writer_options *o)
{
	return strcmp(o->path, "-") != 0 ? o->path : "standard output";
}

/* "app.spoor", "app-000002.spoor to app-000005.spoor (1 older one was deleted)" */
static void print_parts(const struct log_writer_options *o, const struct recorder_stats *s)
{
	char elapsed[UNITS_TEXT_MAX], bytes[UNITS_TEXT_MAX];
	char *first = output_part_path(o->path, s->log.parts_deleted + 1);
	char *last = output_part_path(o->path, s->log.parts);
	bool one = s->log.parts_deleted + 1 == s->log.parts;

	msg_info("recorded %s: %llu events, %llu lost, %s in %s%s%s",
		 duration_format(s->elapsed_ns, elapsed), (unsigned long long)s->log.events,
		 (unsigned long long)s->lost, size_format(s->log.bytes, bytes),
		 first ? first : o->path, one ? "" : " to ", one || !last ? "" : last);
	if (s->log.parts_deleted)
		msg_info("%u older file%s, %s, %s deleted", s->log.parts_deleted,
			 s->log.parts_deleted == 1 ? "" : "s",
			 size_format(s->log.written - s->log.bytes, bytes),
			 s->log.parts_deleted == 1 ? "was" : "were");
	free(first);
	free(last);
}

void record_output_summary(const struct log_writer_options *o, const struct recorder_stats *s)
{
	char elapsed[UNITS_TEXT_MAX], bytes[UNITS_TEXT_MAX];

	if (o->max_bytes)
		print_parts(o, s);
	else
		msg_info("recorded %s: %llu events, %llu lost, %s in %s",
			 duration_format(s->elapsed_ns, elapsed), (unsigned long long)s->log.events,
			 (unsigned long long)s->lost, size_format(s->log.bytes, bytes),
			 record_output_name(o));
	if (s->log.blocks_less)
		msg_info("the log could not be written as fast as it came: %llu of its %llu blocks "
			 "are compressed less",
			 (unsigned long long)s->log.blocks_less, (unsigned long long)s->log.blocks);
}

static void output_moves_lost(const struct recorder_stats *s)
{
	char stood[UNITS_TEXT_MAX];

	if (!s->object_moves_lost)
		return;
	if (s->objects_again)
		msg_warning("events of collections were among them: the heap was incomplete until "
			    "objects were switched on anew, %llu times; the JVM's threads stood %s "
			    "for that",
			    (unsigned long long)s->objects_again,
			    duration_format(s->objects_again_ns, stood));
	if (s->objects_incomplete)
		msg_warning("events of collections were among them: the heap stays incomplete from "
			    "%s to the end of this log%s",
			    s->objects_again ? "the last of these" : "there",
			    s->objects_pause_ns ? "; another recording begins with the whole heap"
						: "");
}

void record_output_objects(const struct recorder_stats *s)
{
	char bytes[UNITS_TEXT_MAX], lost[UNITS_TEXT_MAX], waited[UNITS_TEXT_MAX];

	msg_info("objects: %s of events before compression; the JVM's threads waited %s for room",
		 size_format(s->object_bytes, bytes), duration_format(s->object_wait_ns, waited));
	if (s->objects_pause_ns)
		msg_info("objects: switched on in %s, which found %llu objects in the heap",
			 duration_format(s->objects_pause_ns, waited),
			 (unsigned long long)s->objects_found);
	if (s->object_graphs)
		msg_info("objects: the pointers of %llu collections, which took %s longer for that",
			 (unsigned long long)s->object_graphs,
			 duration_format(s->object_graph_ns, waited));
	if (s->object_graphs_lost)
		msg_warning("pointers could not be written as fast as the heap was walked, so that "
			    "the JVM has given them up: a larger -XX:SpoorObjectsRing helps");
	if (s->object_lost_bytes)
		msg_warning("%s of object events were lost: a larger -XX:SpoorObjectsRing helps",
			    size_format(s->object_lost_bytes, lost));
	output_moves_lost(s);
	if (s->object_refused)
		msg_warning("%llu times the ring of object events said what makes no sense",
			    (unsigned long long)s->object_refused);
}

void record_output_read_it(const struct log_writer_options *o)
{
	int stem = (int)output_part_stem(o->path);

	if (o->max_bytes)
		msg_info("read it with: spoor report '%.*s-*.spoor'", stem, o->path);
	else if (strcmp(o->path, "-") != 0)
		msg_info("read it with: spoor report %s", o->path);
}
