#include "cmd/cmd.h"
#include "cmd/read/log_options.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/profile/profile.h"
#include "analyze/registry/analysis.h"
#include "base/text/msg.h"
#include "cmd/parse.h"
#include "log/format/header_fields.h"
#include "report/flame/export.h"
#include "report/model/report.h"
#include "report/model/sections/profile_report.h"
#include "session/analyze_log.h"
#include "session/log_source.h"
#include "session/max_memory.h"

#define TOP_DEFAULT 30
#define LEAST_DEFAULT 1
#define SAMPLES_AROUND 2 /* counters of threads that are needed from before the range */

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_COLLAPSED, FORMAT_SPEEDSCOPE };

enum {
	OPT_TREE = 1000,
	OPT_FLAT,
	OPT_CALLERS,
	OPT_CALLEES,
	OPT_THREADS,
	OPT_THREAD,
	OPT_LEAST,
	OPT_LINES,
};

struct options {
	struct log_source source;
	struct profile_input wanted;
	enum format format;
	bool lines;
	unsigned top;
	struct profile profile;
};

static const struct argp_option option_table[] = {
	{"tree", OPT_TREE, NULL, 0, "Call chains from their outermost frame on (default)", 0},
	{"flat", OPT_FLAT, NULL, 0, "A row for each method: alone, and with what it has called", 0},
	{"callers", OPT_CALLERS, "METHOD", 0, "Who has called METHOD", 0},
	{"callees", OPT_CALLEES, "METHOD", 0, "What METHOD has called", 0},
	{"threads", OPT_THREADS, NULL, 0,
	 "A row for each thread: what it ran, what of that was sampled, and where it was: in Java "
	 "code, libjvm, other native code, the kernel",
	 0},
	{"by", 'b', "thread|method", 0,
	 "thread: each chain begins with its thread (default: method)", 0},
	{"thread", OPT_THREAD, "PATTERN", 0, "Only threads whose name matches, as 'http-*'", 0},
	{"least", OPT_LEAST, "PERCENT", 0,
	 "Leave out branches of a tree with less than this (default: 1; 0: show all)", 0},
	{"lines", OPT_LINES, NULL, 0,
	 "collapsed and speedscope: a method at two lines is two frames", 0},
	RANGE_OPTIONS,
	LOG_SOURCE_OPTIONS,
	{"top", 't', "N", 0, "Rows of a table for people (default: 30)", 0},
	{"format", 'f', "text|json|csv|collapsed|speedscope", 0,
	 "For people (default), for programs, in ns, or for flame graphs", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Shows where the threads were while they ran: a CPU profile of a log that spoor record "
	"--sample has written.\v"
	"  spoor record -p 4711 -d 30s --sample=1ms -o app.spoor\n"
	"  spoor profile app.spoor\n"
	"      call chains, the heaviest first\n"
	"  spoor profile --flat --thread 'http-*' --from 10s --to 20s app.spoor\n"
	"      the methods of some threads, in ten seconds\n"
	"  spoor profile --format collapsed app.spoor | flamegraph.pl > app.svg\n"
	"\n"
	"Each sample stands for the CPU time of its thread since the sample before, by the "
	"thread's own counter: so the samples of a thread add up to what it ran. METHOD is a name, "
	"with or without its class and package, or a pattern of all of it.\n"
	"\n"
	"Exit status: 0 done; 1 the log cannot be read, or a part of it is missing, and what could "
	"be read has been shown; 2 wrong usage.\n";

static enum format parse_format(const char *arg, struct argp_state *state)
{
	static const char *const names[] = {"text", "json", "csv", "collapsed", "speedscope"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(arg, names[i]))
			return (enum format)i;
	argp_error(state, "--format is text, json, csv, collapsed or speedscope, not '%s'", arg);
	return FORMAT_TEXT;
}

static void parse_view(struct options *o, enum profile_view view, const char *method)
{
	o->wanted.view = view;
	o->wanted.method = method;
}

static unsigned parse_least(const char *arg, struct argp_state *state)
{
	char *end;
	unsigned long percent = strtoul(arg, &end, 10);

	if (*arg < '0' || *arg > '9' || *end || percent > 100)
		argp_error(state, "--least is a number from 0 to 100, not '%s'", arg);
	return (unsigned)percent;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (log_source_option(&o->source, key, arg, state))
		return 0;
	switch (key) {
	case OPT_TREE:
	case OPT_FLAT:
	case OPT_CALLERS:
	case OPT_CALLEES:
	case OPT_THREADS:
		parse_view(o, (enum profile_view)(PROFILE_TREE + key - OPT_TREE), arg);
		return 0;
	case OPT_THREAD:
		o->wanted.threads = arg;
		return 0;
	case OPT_LEAST:
		o->wanted.least_pct = parse_least(arg, state);
		return 0;
	case OPT_LINES:
		o->lines = true;
		return 0;
	case 'b':
		if (strcmp(arg, "thread") && strcmp(arg, "method"))
			argp_error(state, "--by is thread or method, not '%s'", arg);
		o->wanted.by_thread = !strcmp(arg, "thread");
		return 0;
	case 'f':
		o->format = parse_format(arg, state);
		return 0;
	case 't':
		o->top = parse_top(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		log_source_argument(&o->source, arg, state);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which FILE? It is what 'spoor record --sample -o FILE' wrote");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int on_begin(void *ctx, struct analysis *a, const json_t *header)
{
	struct options *o = ctx;
	const struct range *r = &o->source.range;
	uint64_t begin_ns = header_begin_ns(header);

	(void)a;
	o->profile.options = (struct profile_options){
		.from_ns = r->from ? r->from_ns : 0,
		.to_ns = r->to ? r->to_ns : UINT64_MAX,
		/* A later part of a recording does not begin at 0, nor what is read of one. */
		.from_begin = begin_ns <= header_number(header, NULL, "start_mono_ns") &&
			      (!r->from || r->read_from_ns <= begin_ns),
	};
	return 0;
}

static int on_event(void *ctx, const struct event *e)
{
	struct options *o = ctx;

	return profile_add(&o->profile, e);
}

static int on_hole(void *ctx, uint64_t from_ns, uint64_t to_ns)
{
	struct options *o = ctx;

	(void)from_ns;
	(void)to_ns;
	profile_hole(&o->profile);
	return 0;
}

/* Of a flame graph's writer, which knows cells of blocked time: its side of the waiters. */
static int write_flame(const struct options *o, FILE *out)
{
	static const enum export_side running = EXPORT_RUNNING;
	const struct profile *p = &o->profile;
	struct cell *cells = calloc(p->cell_map.count + 1, sizeof(*cells));
	struct export_input in = {
		.names = analysis_names(o->wanted.in->log->analysis),
		.cells = cells,
		.lines = o->lines,
		.threads = o->wanted.by_thread,
	};
	int err;

	if (!cells)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->cell_map.count; i++) {
		if (!profile_thread_is_wanted(&o->wanted, p->cells[i].thread))
			continue;
		cells[in.cell_count++] = (struct cell){.waiter = p->cells[i].thread,
						       .waiter_stack = p->cells[i].stack,
						       .blocked_ns = p->cells[i].ns};
	}
	err = o->format == FORMAT_COLLAPSED
		      ? export_collapsed(&in, running, out)
		      : export_speedscope(&in, &running, 1, o->source.name, out);
	free(cells);
	return err;
}

static int show(struct options *o, struct analyzed_log *log)
{
	const struct report_input input = {.log = &log->log, .top = o->top};
	int err;

	o->wanted.in = &input;
	o->wanted.profile = &o->profile;
	err = o->format == FORMAT_TEXT   ? report_profile_text(&o->wanted, stdout)
	      : o->format == FORMAT_JSON ? report_profile_json(&o->wanted, stdout)
	      : o->format == FORMAT_CSV  ? report_profile_csv(&o->wanted, stdout)
					 : write_flame(o, stdout);
	if (err)
		msg_error("%s: cannot report on it: %s", o->source.name, max_memory_error(err));
	else
		err = finish_output(stdout);
	return err < 0 ? err : analyzed_log_report(log, "shown");
}

int cmd_profile(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE...", doc,
					 NULL,         NULL,         NULL};
	static char name[] = "spoor profile";
	struct options o = {.source.range.samples = SAMPLES_AROUND,
			    .wanted.least_pct = LEAST_DEFAULT,
			    .top = TOP_DEFAULT};
	const struct log_watch watch = {
		.begin = on_begin, .event = on_event, .hole = on_hole, .ctx = &o};
	struct analyzed_log log;
	int err;

	argp_err_exit_status = CMD_USAGE;
	argv[0] = name; /* what argp calls it in its messages */
	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	signal(SIGPIPE, SIG_IGN);
	err = analyze_log_watched(&o.source, &watch, &log);
	if (!err) {
		err = show(&o, &log);
		analyzed_log_close(&log);
	}
	profile_free(&o.profile);
	log_source_free(&o.source);
	return err < 0 ? CMD_FAILED : CMD_OK;
}
