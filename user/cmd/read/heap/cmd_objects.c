#include "cmd/cmd.h"
#include "cmd/read/heap/object_range.h"
#include "cmd/read/log_options.h"
#include "cmd/read/replay/object_log.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyze/registry/analysis.h"
#include "base/text/msg.h"
#include "cmd/parse.h"
#include "log/format/header_fields.h"
#include "report/model/sections/commands/objects_filter.h"
#include "report/model/sections/commands/objects_report.h"
#include "report/model/sections/commands/objects_spans.h"
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
	struct object_range range;
	struct condition *where; /* NULL: all */
};

static const struct argp_option option_table[] = {
	{"by", 'b', "WHAT", 0,
	 "class (default), site (class and bytecode), chain (class and callers), method, thread, "
	 "tier (interpreter, C1, C2, the JVM's runtime), tlab, length (of arrays), span (what "
	 "applications mark), second, collection (its survivors)",
	 0},
	{"where", 'w', "CONDITION", 0,
	 "Only objects of which it holds: ASPECT=GLOB, ASPECT!=GLOB, and, or, not, parentheses. "
	 "Aspects are those of --by, but second and collection; tlab is yes or no, length a number",
	 0},
	{"from", RANGE_KEY_FROM, "TIME", 0,
	 "Leave out objects that were allocated before: 10s, 1m30s since the recording began, a "
	 "time of day, or a collection: gc:N, its end; before:N, its begin; dump, the last heap "
	 "dump's",
	 0},
	{"to", RANGE_KEY_TO, "TIME", 0, "Leave out those that were allocated after", 0},
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
	"  spoor objects --from gc:40 --to gc:50 --where 'tlab=no' --by site app.spoor\n"
	"      where large objects were allocated between two collections\n"
	"  spoor objects --by collection --format csv app.spoor\n"
	"      survivors of each collection\n"
	"  spoor objects 'app-*.spoor'\n"
	"      all parts of a recording with --max-size: each object once\n"
	"  spoor objects --format pprof app.spoor >app.pb && go tool pprof -top app.pb\n"
	"\n"
	"Exit status: 0 done; 1 the log cannot be read, or a part of it is missing, and what could "
	"be read has been shown; 2 wrong usage.\n";

static void set_where(struct options *o, const char *arg, struct argp_state *state)
{
	char error[CONDITION_ERROR_MAX];
	struct condition *parsed;
	int err = objects_where_parse(arg, &parsed, error);

	if (err == -EINVAL)
		argp_error(state, "--where '%s': %s", arg, error);
	else if (err)
		argp_failure(state, 1, -err, "--where");
	if (err)
		return;
	condition_free(o->where);
	o->where = parsed;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[FORMAT_COUNT + 1] = {"text", "json", "csv", "collapsed",
							      "pprof"};
	struct options *o = state->input;
	int i;

	if (object_range_option(&o->range, &o->source, key, arg, state))
		return 0;
	switch (key) {
	case 'b':
		i = word_index(objects_by_names, OBJECTS_BY_COUNT, arg);
		if (i < 0)
			argp_error(state,
				   "--by is class, site, chain, method, thread, tier, tlab, "
				   "length, span, second or collection, not '%s'",
				   arg);
		o->by = (enum objects_by)i;
		return 0;
	case 'f':
		o->format = (enum format)parse_word("format", arg, formats, state);
		if (o->format == FORMAT_PPROF && isatty(STDOUT_FILENO))
			argp_error(state, "pprof is not for a terminal: redirect it into a file");
		return 0;
	case 'w':
		set_where(o, arg, state);
		return 0;
	case 't':
		o->top = parse_top(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (!strcmp(arg, "-"))
			argp_error(state, "object events are read twice: from files only");
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

/* What in lacks. */
static int replay(const struct options *o, struct object_replay *r,
		  struct objects_filter_options *fo, struct objects_input *in)
{
	struct object_in_stats stats = {0};
	int err;

	fo->replay = in->replay = r;
	in->filter = r ? objects_filter_new(fo) : NULL;
	if (!in->filter)
		return -ENOMEM;
	object_replay_choose(r, objects_filter_choice(in->filter));
	err = object_log_replay_parts(o->source.set, o->source.jobs, r, &stats);
	in->log_bytes = stats.bytes;
	in->damaged = stats.damaged || stats.missing;
	return err ? err : objects_filter_error(in->filter);
}

static int show(struct options *o, struct analyzed_log *log, struct objects_spans *spans)
{
	bool chains = o->format == FORMAT_COLLAPSED || o->format == FORMAT_PPROF;
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	struct objects_input in = {
		.names = analysis_names(log->log.analysis), .by = o->by, .top = o->top};
	struct objects_filter_options fo = {
		.by = chains ? OBJECTS_BY_CLASS : o->by,
		.where = o->where,
		.from_ns = o->range.from_ns,
		.to_ns = o->range.to_ns,
		.begin_ns = header_number(log->log.header, NULL, "start_mono_ns"),
		.names = in.names,
		.spans = spans,
	};
	int err = spans ? objects_spans_finish(spans) : 0;

	if (!err)
		err = replay(o, r, &fo, &in);
	if (!err)
		err = write_format(o, &in, &log->log);
	if (err)
		msg_error("%s: cannot report on it: %s", o->source.name, object_log_error(err));
	else
		err = finish_output(stdout);
	objects_filter_free(in.filter);
	object_replay_free(r);
	return err < 0 ? err : analyzed_log_report(log, "shown");
}

/* --- spans -------------------------------------------------------------------------------- */

static int begin_spans(void *ctx, struct analysis *a, const json_t *header)
{
	struct objects_spans **spans = ctx;

	(void)header;
	*spans = objects_spans_new(analysis_names(a));
	return *spans ? 0 : -ENOMEM;
}

static int add_span(void *ctx, const struct event *e)
{
	struct objects_spans **spans = ctx;

	return objects_spans_add(*spans, e);
}

static int add_hole(void *ctx, uint64_t from_ns, uint64_t to_ns)
{
	struct objects_spans **spans = ctx;

	(void)to_ns;
	return objects_spans_hole(*spans, from_ns);
}

static int run(struct options *o)
{
	bool spans_too =
		o->by == OBJECTS_BY_SPAN || (o->where && objects_where_has_spans(o->where));
	struct objects_spans *spans = NULL;
	struct log_watch watch = {
		.begin = begin_spans, .event = add_span, .hole = add_hole, .ctx = &spans};
	struct analyzed_log log;
	int err = analyze_log_watched(&o->source, spans_too ? &watch : NULL, &log);

	if (!err) {
		err = object_range_resolve(&o->range, &o->source);
		if (!err)
			err = show(o, &log, spans);
		analyzed_log_close(&log);
	}
	objects_spans_free(spans);
	return err;
}

int cmd_objects(int argc, char **argv)
{
	static const struct argp argp = {
		option_table, parse_option, "FILE...", doc, NULL, NULL, NULL};
	struct options o = {.top = TOP_DEFAULT};
	int err;

	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	err = run(&o);
	log_source_free(&o.source);
	condition_free(o.where);
	return err < 0 ? CMD_FAILED : CMD_OK;
}
