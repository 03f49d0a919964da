#include "cmd/cmd.h"
#include "cmd/read/log_options.h"

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "analyze/registry/analysis.h"
#include "analyze/threads/wall.h"
#include "base/text/msg.h"
#include "base/text/units.h"
#include "cmd/parse.h"
#include "log/format/header_fields.h"
#include "report/model/sections/commands/time_report.h"
#include "report/text/text_report.h"
#include "session/analyze_log.h"
#include "session/log_source.h"

#define TOP_DEFAULT 10
#define WINDOWS_MOST 60  /* if nobody says how long they are to be */
#define SAMPLES_AROUND 2 /* windows are moved to the nearest sample, and need the one before it */

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_COUNT };

struct options {
	struct log_source source;
	enum wall_by by;
	enum format format;
	uint64_t window_ns; /* 0: not given */
	unsigned top;       /* 0: not given */
};

static const struct argp_option option_table[] = {
	{"by", 'b', "group|pool|thread", 0,
	 "A row for each kind of thread (Java, GC, compiler, other VM, native: the default), each "
	 "pool of threads whose names are the same but for a number, or each thread",
	 0},
	{"window", 'w', "TIME", 0,
	 "How long a window is: 500ms, 10s, 1m. If not given: as the threads were sampled, or as "
	 "much longer as it takes to have 60 windows at most",
	 0},
	RANGE_OPTIONS,
	LOG_SOURCE_OPTIONS,
	{"top", 't', "N", 0, "Rows; the others are put together (text: 10; else all)", 0},
	{"format", 'f', "text|json|csv", 0, "For people (default) or for programs, in ns", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Shows, window by window, what the threads did: running, stolen from, waiting for a CPU, "
	"throttled, blocked and on what.\v"
	"  spoor time app.spoor\n"
	"      Java threads, collector, compiler, over the whole recording\n"
	"  spoor time --by pool --from 20s --to 30s --window 1s app.spoor\n"
	"      ten seconds, per pool of threads\n"
	"  spoor time --by thread --format csv app.spoor > threads.csv\n"
	"      for a spreadsheet: a line per window and thread, times in ns\n"
	"\n"
	"Windows begin and end where the threads were sampled (spoor record --window), so that "
	"each is exact. One that is shorter than that gets its share of what lies between two "
	"samples, and is marked (~).\n"
	"\n"
	"Exit status: 0 done; 1 the log cannot be read, or a part of it is missing, and what could "
	"be read has been shown; 2 wrong usage.\n";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	static const char *const by[] = {"thread", "pool", "group", NULL};
	static const char *const formats[] = {"text", "json", "csv", NULL};
	struct options *o = state->input;

	_Static_assert(sizeof(by) / sizeof(*by) == WALL_BY_COUNT + 1, "in their order");
	_Static_assert(sizeof(formats) / sizeof(*formats) == FORMAT_COUNT + 1, "in their order");
	if (log_files_option(&o->source, key, arg, state))
		return 0;
	switch (key) {
	case 'b':
		o->by = (enum wall_by)parse_word("by", arg, by, state);
		return 0;
	case 'f':
		o->format = (enum format)parse_word("format", arg, formats, state);
		return 0;
	case 'w':
		o->window_ns = parse_window(arg, state);
		return 0;
	case 't':
		o->top = parse_top(arg, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void plan(const struct options *o, const json_t *header, struct state_options *ret)
{
	uint64_t sample_ns = header_number(header, "record", "window_ns");
	uint64_t begin_ns = header_begin_ns(header);
	const struct range *r = &o->source.range;

	*ret = (struct state_options){
		.from_ns = r->from && r->from_ns > begin_ns ? r->from_ns : begin_ns,
		.to_ns = r->to ? r->to_ns : UINT64_MAX,
		.window_ns = o->window_ns ? o->window_ns
			     : sample_ns  ? sample_ns
					  : NS_PER_S,
		.sample_ns = sample_ns,
		.from_begin = !r->from || r->from_ns <= begin_ns,
		.most = o->window_ns ? 0 : WINDOWS_MOST,
	};
}

static int begin(void *ctx, struct analysis *a, const json_t *header)
{
	struct state_options course;

	plan(ctx, header, &course);
	analysis_set_state_windows(a, &course);
	return 0;
}

static int show(const struct options *o, struct analyzed_log *log)
{
	static int (*const print[FORMAT_COUNT])(const struct time_input *, FILE *) = {
		report_time_text, report_time_json, report_time_csv};
	const struct report_input input = {
		.log = &log->log, .top = o->top || o->format != FORMAT_TEXT ? o->top : TOP_DEFAULT};
	struct time_input in = {.in = &input, .by = o->by};
	int err;

	if (analysis_wall(log->analysis)->windows.crowded) {
		msg_error("%s: its threads have more than %u windows together: too many to be "
			  "shown; choose a longer --window, or a part with --from and --to",
			  o->source.name, COURSE_ROWS_MAX);
		return -EFBIG;
	}
	in.start_ns = session_log_start(&log->log);
	err = print[o->format](&in, stdout);
	err = report_finish(&o->source, stdout, err);
	if (err >= 0 && analysis_wall(log->analysis)->windows.full) {
		msg_error("%s: more than %d windows: the rest is not shown; choose a longer "
			  "--window, or a part with --from and --to",
			  o->source.name, COURSE_WINDOWS_MAX);
		err = -EFBIG;
	}
	return err < 0 ? err : analyzed_log_report(log, "shown");
}

int cmd_time(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE...", doc,
					 NULL,         NULL,         NULL};
	struct options o = {.by = WALL_BY_GROUP, .source.range.samples = SAMPLES_AROUND};
	const struct log_watch watch = {.begin = begin, .ctx = &o};
	struct analyzed_log log;
	int err;

	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	err = analyze_log_watched(&o.source, &watch, &log);
	if (!err) {
		err = show(&o, &log);
		analyzed_log_close(&log);
	}
	log_source_free(&o.source);
	return err < 0 ? CMD_FAILED : CMD_OK;
}
