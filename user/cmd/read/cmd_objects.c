#include "cmd/cmd.h"
#include "cmd/read/log_options.h"
#include "cmd/read/object_log.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyze/registry/analysis.h"
#include "base/text/msg.h"
#include "cmd/parse.h"
#include "report/model/sections/commands/objects_report.h"
#include "report/protobuf/profile_format.h"
#include "session/analyze_log.h"
#include "session/log_source.h"

#define TOP_DEFAULT 20
#define HEAP_BYTES (2ull << 30) /* for the map of the heap; --max-memory may allow less */

enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_COLLAPSED,
	FORMAT_PPROF,
	FORMAT_COUNT,
};

struct options {
	struct log_source source;
	enum format format;
	enum objects_by by;
	unsigned top;
};

static const struct argp_option option_table[] = {
	{"by", 'b', "WHAT", 0,
	 "class (default), site (class and bytecode), chain (class and callers), method, thread, "
	 "tier (interpreter, C1, C2, the JVM's runtime), collection (its survivors)",
	 0},
	{"top", 't', "N", 0, "Rows of a table for people (default: 20)", 0},
	{"format", 'f', "FORMAT", 0,
	 "text (default) for people; json, csv for programs, in bytes; collapsed: each class with "
	 "its callers, for flame graphs; pprof: the same, for go tool pprof",
	 0},
	LOG_SOURCE_OPTIONS,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Says which objects were allocated, where, and by whom, and what collections found alive: "
	"of a log of spoor record --objects. Nothing is sampled: each object counts.\v"
	"  spoor record --objects -p 4711 -o app.spoor\n"
	"      of a patched JVM (make jvm)\n"
	"  spoor objects app.spoor\n"
	"      classes, the most bytes first\n"
	"  spoor objects --by chain --top 50 app.spoor\n"
	"      classes with the calls that allocate them\n"
	"  spoor objects --by collection --format csv app.spoor\n"
	"      survivors of each collection\n"
	"  spoor objects --format pprof app.spoor >app.pb && go tool pprof -top app.pb\n"
	"\n"
	"Exit status: 0 done; 1 the log cannot be read, or a part of it is missing, and what could "
	"be read has been shown; 2 wrong usage.\n";

static int name_in(const char *const *names, int count, const char *arg)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(arg, names[i]))
			return i;
	return -1;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[FORMAT_COUNT] = {"text", "json", "csv", "collapsed",
							  "pprof"};
	struct options *o = state->input;
	int i;

	if (log_source_option(&o->source, key, arg, state))
		return 0;
	switch (key) {
	case 'b':
		i = name_in(objects_by_names, OBJECTS_BY_COUNT, arg);
		if (i < 0)
			argp_error(state,
				   "--by is class, site, chain, method, thread, tier or "
				   "collection, not '%s'",
				   arg);
		o->by = (enum objects_by)i;
		return 0;
	case 'f':
		i = name_in(formats, FORMAT_COUNT, arg);
		if (i < 0)
			argp_error(state,
				   "--format is text, json, csv, collapsed or pprof, not '%s'",
				   arg);
		o->format = (enum format)i;
		if (o->format == FORMAT_PPROF && isatty(STDOUT_FILENO))
			argp_error(state, "pprof is not for a terminal: redirect it into a file");
		return 0;
	case 't':
		o->top = parse_top(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (o->source.count || !strcmp(arg, "-"))
			argp_error(state,
				   "one FILE: object events are in one file, and are read from it "
				   "twice");
		log_source_argument(&o->source, arg, state);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which FILE? It is what 'spoor record --objects -o FILE' wrote");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int write_format(const struct options *o, const struct objects_input *in,
			const struct session_log *log)
{
	switch (o->format) {
	case FORMAT_JSON:
		return report_objects_json(in, stdout);
	case FORMAT_CSV:
		return report_objects_csv(in, stdout);
	case FORMAT_COLLAPSED:
		return report_objects_collapsed(in, stdout);
	case FORMAT_PPROF:
		return report_objects_profile(in, log, &profile_format_pprof, stdout);
	default:
		return report_objects_text(in, stdout);
	}
}

static int show(struct options *o, struct analyzed_log *log)
{
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	struct objects_input in = {.replay = r,
				   .names = analysis_names(log->log.analysis),
				   .by = o->by,
				   .top = o->top};
	struct object_in_stats stats = {0};
	int err = r ? object_log_replay(o->source.args[0], r, &stats) : -ENOMEM;

	in.log_bytes = stats.bytes;
	in.damaged = stats.damaged || stats.missing;
	if (!err)
		err = write_format(o, &in, &log->log);
	if (err)
		msg_error("%s: cannot report on it: %s", o->source.name, object_log_error(err));
	else
		err = finish_output(stdout);
	object_replay_free(r);
	return err < 0 ? err : analyzed_log_report(log, "shown");
}

int cmd_objects(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE", doc, NULL, NULL, NULL};
	static char name[] = "spoor objects";
	struct options o = {.top = TOP_DEFAULT};
	struct analyzed_log log;
	int err;

	argp_err_exit_status = CMD_USAGE;
	argv[0] = name; /* what argp calls it in its messages */
	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	signal(SIGPIPE, SIG_IGN);
	err = analyze_log(&o.source, &log);
	if (!err) {
		err = show(&o, &log);
		analyzed_log_close(&log);
	}
	log_source_free(&o.source);
	return err < 0 ? CMD_FAILED : CMD_OK;
}
