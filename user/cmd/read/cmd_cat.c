#include "cmd/cmd.h"
#include "cmd/read/log_options.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/msg.h"
#include "base/text/print.h"
#include "cmd/parse.h"
#include "log/format/event.h"
#include "log/read/names.h"
#include "log/read/reader.h"
#include "report/json/event_json.h"
#include "session/analyze_log.h"
#include "session/log_source.h"
#include "session/max_memory.h"
#include "session/source_names.h"

struct options {
	struct log_source source;
	unsigned frames; /* of each call chain, at most */
	bool resolve;
	bool header;
	bool filter;
	bool selected[SCHEMA_ID_MAX + 1]; /* if filter is set */
};

static const struct argp_option option_table[] = {
	{"resolve", 'r', NULL, 0,
	 "Put names in the place of numbers: threads, classes, locks, strings, methods, call "
	 "chains",
	 0},
	{"frames", 'n', "N", 0,
	 "With --resolve: at most the N innermost frames of each call chain; 0: none", 0},
	{"event", 'e', "NAME[,NAME...]", 0,
	 "Only events of these kinds; can be given several times", 0},
	{"header", 'H', NULL, 0, "Only the header: host, JVM, clocks, sources; one JSON object", 0},
	RANGE_OPTIONS,
	LOG_SOURCE_OPTIONS,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Prints a log, one JSON object per event and line, in the order of the file.\v"
	"Each line has time_ns (CLOCK_MONOTONIC), event, thread, and the fields of the event by "
	"name; the events and their fields are listed in schemas/event-log.md.\n"
	"\n"
	"  spoor cat -r -e monitor_contended_enter app.spoor | jq .lock.class\n"
	"  spoor cat -r -n 1 app.spoor | jq -r '.stack.frames[0].method // empty'\n"
	"\n"
	"Exit status: 0 all was intact; 1 the log cannot be read, or a part of it is missing, and "
	"what could be read has been printed; 2 wrong usage.";

static unsigned parse_frames(const char *arg, struct argp_state *state)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(arg, &end, 10);
	if (errno || end == arg || *end || *arg == '-' || n > UINT_MAX)
		argp_error(state, "--frames wants a number, not '%s'", arg);
	return (unsigned)n;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (log_files_option(&o->source, key, arg, state))
		return 0;
	switch (key) {
	case 'r':
		o->resolve = true;
		return 0;
	case 'n':
		o->frames = parse_frames(arg, state);
		return 0;
	case 'H':
		o->header = true;
		return 0;
	case 'e':
		o->filter = true;
		parse_events(arg, o->selected, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void report_damage(const char *path, const struct log_reader *r)
{
	struct log_reader_stats stats;

	log_reader_stats(r, &stats);
	msg_error("%s: a part of the log is missing: %" PRIu64 " damaged and %" PRIu64
		  " lost blocks, %" PRIu64 " bytes skipped; the other %" PRIu64
		  " events have been printed",
		  path, stats.blocks_damaged, stats.blocks_missing, stats.bytes_skipped,
		  stats.events);
}

static void report_unknown(const char *path, const struct log_reader *r)
{
	struct log_reader_stats stats;

	log_reader_stats(r, &stats);
	if (stats.events_unknown)
		msg_warning("%s: %" PRIu64 " events are of kinds that this spoor does not know",
			    path, stats.events_unknown);
}

/* names: NULL if numbers are wanted. */
static int print_events(const struct options *o, const struct log_names *names,
			struct log_reader *r, bool *ret_ended)
{
	const struct event_json how = {names, o->frames};
	const struct event *e;
	int err;

	while ((err = log_reader_next(r, &e)) == 1) {
		*ret_ended |= e->id == EVENT_END;
		if ((!o->filter || o->selected[e->id]) && range_has(&o->source.range, e->time_ns))
			event_json_print(&how, e, stdout);
		if (ferror_unlocked(stdout))
			return 0;
	}
	if (err == -EBADMSG)
		report_damage(o->source.name, r);
	else if (err)
		msg_error("%s: cannot read on: %s", o->source.name, max_memory_error(err));
	report_unknown(o->source.name, r);
	return err;
}

/* A reader of a pipe that has seen enough is no failure. */
static int finish(int err)
{
	if (!fflush(stdout) && !ferror(stdout))
		return err;
	if (errno == EPIPE)
		return err;
	msg_error("cannot write the output: %s", strerror(errno));
	return -EIO;
}

static int print_log(struct options *o)
{
	struct log_names *names = NULL;
	struct log_reader *r = NULL;
	bool ended = false;
	int err;

	if (o->resolve && !o->header) {
		err = source_names_read(&o->source, &names);
		if (err)
			return err;
	}
	err = log_source_open(&o->source, &r);
	if (err)
		goto out;
	if (o->header) {
		print_json_value(stdout, log_reader_header(r), JSON_COMPACT);
		putchar('\n');
	} else {
		err = print_events(o, names, r, &ended);
	}
	err = finish(err);
	log_report_holes(log_reader_header(r), o->source.set, ended || o->header);
out:
	log_reader_close(r);
	log_names_free(names);
	return err;
}

/*
 * The C library's own 4 KiB wake up who reads a pipe 200,000 times for 900 MB of text; what comes
 * out of a recording that goes on must not wait for that much.
 */
static void widen_output(const struct log_source *source)
{
	static char bytes[64 * 1024];

	if (!isatty(STDOUT_FILENO) && strcmp(source->args[0], "-"))
		setvbuf(stdout, bytes, _IOFBF, sizeof(bytes));
}

int cmd_cat(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE...", doc,
					 NULL,         NULL,         NULL};
	struct options o = {.frames = UINT_MAX};
	int err;

	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	widen_output(&o.source);
	err = print_log(&o);
	log_source_free(&o.source);
	return err ? CMD_FAILED : CMD_OK;
}
