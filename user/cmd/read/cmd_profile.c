#include "cmd/cmd.h"
#include "cmd/read/export_output.h"
#include "cmd/read/log_options.h"
#include "cmd/read/send_option.h"
#include "cmd/rights.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/profile/profile.h"
#include "analyze/registry/analysis.h"
#include "base/text/msg.h"
#include "base/text/units.h"
#include "cmd/parse.h"
#include "log/format/header_fields.h"
#include "report/flame/profile_flame.h"
#include "report/model/report.h"
#include "report/model/sections/commands/profile_report.h"
#include "report/model/sections/commands/profile_window.h"
#include "report/protobuf/profile_format.h"
#include "session/analyze_log.h"
#include "session/log_source.h"
#include "session/max_memory.h"

#define TOP_DEFAULT 30
#define LEAST_DEFAULT 1
#define SAMPLES_AROUND 2 /* counters of threads that are needed from before the range */

enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_COLLAPSED,
	FORMAT_SPEEDSCOPE,
	FORMAT_PPROF,
	FORMAT_OTLP,
	FORMAT_COUNT,
};

static const char *const format_names[FORMAT_COUNT + 1] = {
	"text", "json", "csv", "collapsed", "speedscope", "pprof", "otlp",
};

enum {
	OPT_TREE = 1000,
	OPT_FLAT,
	OPT_CALLERS,
	OPT_CALLEES,
	OPT_THREADS,
	OPT_THREAD,
	OPT_LEAST,
	OPT_LINES,
	OPT_STATE,
	OPT_SPAN,
	OPT_SLOWER,
	OPT_LAB,
};

struct options {
	struct log_source source;
	struct profile_input input;
	enum format format;
	unsigned top;
	const char *output; /* NULL: stdout */
	struct send_option send;
	bool gaps; /* of --lab */
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
	{"state", OPT_STATE, "STATE,...", 0,
	 "What the threads did: cpu (default), stolen, runnable, throttled, lock, wait, park, "
	 "sleep, io, pause, other; blocked: lock to other; all: everything that the wall clock of "
	 "each thread has",
	 0},
	{"by", 'b', "WHAT", 0,
	 "Each chain begins with its outermost method (default), or with its thread, that thread's "
	 "pool, its state, the package of its innermost method, the marked span that the thread "
	 "was in, or the lock that the thread held while another one waited for the lock: method, "
	 "thread, state, lock, pool, package, span",
	 0},
	{"thread", OPT_THREAD, "PATTERN", 0, "Only threads whose name matches, as 'http-*'", 0},
	{"span", OPT_SPAN, "PATTERN", 0,
	 "Only samples within marked spans (spoor spans) whose name matches, as 'GET *'", 0},
	{"slower-than", OPT_SLOWER, "TIME|pN", 0,
	 "With --span: only of spans that took this time or more, or that are not among the "
	 "fastest N in a hundred: 200ms, p99, p99.9",
	 0},
	{"least", OPT_LEAST, "PERCENT", 0,
	 "Leave out branches of a tree with less than this (default: 1; 0: show all)", 0},
	{"lines", OPT_LINES, NULL, 0,
	 "collapsed, speedscope, pprof and otlp: a method at two lines is two frames", 0},
	{"lab", OPT_LAB, "gap-weights", 0,
	 "For experiments: a sample stands for the time until its thread's next one, in whatever "
	 "state that is, as profilers have it that know no counters; with --state all, of a log of "
	 "spoor record --lab every-switch",
	 0},
	RANGE_OPTIONS,
	LOG_SOURCE_OPTIONS,
	{"top", 't', "N", 0, "Rows of a table for people (default: 30)", 0},
	{"format", 'f', "FORMAT", 0,
	 "text for people (default), json and csv for programs, in ns, collapsed and speedscope "
	 "for flame graphs, pprof for go tool pprof, otlp: a message of OpenTelemetry's profiles",
	 0},
	{"output", 'o', "FILE", 0, "Write to FILE and not to stdout; to one in .gz, compressed", 0},
	SEND_OPTIONS,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Shows where the threads were while they ran, and, with --state, while they did not: a "
	"profile of a log that spoor record --sample has written.\v"
	"  spoor record -p 4711 -d 30s --sample=1ms -o app.spoor\n"
	"  spoor profile app.spoor\n"
	"      call chains, the heaviest first\n"
	"  spoor profile --flat --thread 'http-*' --from 10s --to 20s app.spoor\n"
	"      the methods of some threads, in ten seconds\n"
	"  spoor profile --state all app.spoor\n"
	"      all time of all threads: running, waiting, and for what\n"
	"  spoor profile -f pprof -o a.pb.gz app.spoor && go tool pprof -top a.pb.gz\n"
	"  spoor profile --format collapsed app.spoor | flamegraph.pl > app.svg\n"
	"\n"
	"Each sample stands for the CPU time of its thread since the sample before, by the "
	"thread's own counter: so the samples of a thread add up to what it ran. METHOD is a name, "
	"with or without its class and package, or a pattern of all of it.\n"
	"\n"
	"Exit status: 0 done; 1 the log cannot be read, or a part of it is missing, and what could "
	"be read has been shown, or the server did not take it; 2 wrong usage.\n";

static void parse_view(struct options *o, enum profile_view view, const char *method)
{
	o->input.view = view;
	o->input.method = method;
}

static unsigned parse_least(const char *arg, struct argp_state *state)
{
	char *end;
	unsigned long percent = strtoul(arg, &end, 10);

	if (*arg < '0' || *arg > '9' || *end || percent > 100)
		argp_error(state, "--least is a number from 0 to 100, not '%s'", arg);
	return (unsigned)percent;
}

/* A bit for each of the states, with commas between them. */
static uint32_t parse_states(const char *arg, struct argp_state *state)
{
	static const struct {
		const char *name;
		uint32_t bits;
	} words[] = {
		{"cpu", PROFILE_RUNNING},
		{"all", PROFILE_ALL_STATES},
		{"blocked", (1u << STATE_LOCK) | (1u << STATE_WAIT) | (1u << STATE_PARK) |
				    (1u << STATE_SLEEP) | (1u << STATE_IO) | (1u << STATE_PAUSE) |
				    (1u << STATE_OTHER)},
	};
	uint32_t states = 0;

	for (const char *word = arg; word; word = strchr(word, ',')) {
		uint32_t bits = 0;
		size_t length;

		word += *word == ',';
		length = strcspn(word, ",");
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			if (strlen(words[i].name) == length && !memcmp(words[i].name, word, length))
				bits = words[i].bits;
		for (int i = 0; i < STATE_COUNT; i++)
			if (strlen(state_name((enum state)i)) == length &&
			    !memcmp(state_name((enum state)i), word, length))
				bits = 1u << i;
		if (!bits)
			argp_error(state, "--state has no '%.*s'", (int)length, word);
		states |= bits;
	}
	return states;
}

/* A time, or p99, p99.9. */
static void parse_slower(struct in_spans_options *o, const char *arg, struct argp_state *state)
{
	char *end = NULL;
	unsigned long whole = *arg == 'p' ? strtoul(arg + 1, &end, 10) : 0, tenth = 0;

	o->least_ns = o->least_per_mille = 0;
	if (*arg != 'p' && !duration_parse(arg, &o->least_ns))
		return;
	if (end && end > arg + 1 && *end == '.' && end[1] >= '0' && end[1] <= '9') {
		tenth = (unsigned long)(end[1] - '0');
		end += 2;
	}
	if (!end || end == arg + 1 || *end || whole > 99)
		argp_error(state, "--slower-than is a time like 200ms, or p50 to p99.9, not '%s'",
			   arg);
	o->least_per_mille = (unsigned)(10 * whole + tenth);
}

static enum profile_by parse_by(const char *arg, struct argp_state *state)
{
	static const char *const by[] = {"method", "thread",  "state", "lock",
					"pool",   "package", "span",  NULL};

	_Static_assert(sizeof(by) / sizeof(*by) == PROFILE_BY_COUNT + 1, "in their order");
	return (enum profile_by)parse_word("by", arg, by, state);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (log_source_option(&o->source, key, arg, state) ||
	    send_option_parse(&o->send, key, arg, state))
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
		o->input.threads = arg;
		return 0;
	case OPT_LEAST:
		o->input.least_pct = parse_least(arg, state);
		return 0;
	case OPT_LINES:
		o->input.lines = true;
		return 0;
	case OPT_SPAN:
		o->profile.spans.options.pattern = arg;
		return 0;
	case OPT_SLOWER:
		parse_slower(&o->profile.spans.options, arg, state);
		return 0;
	case OPT_LAB:
		if (strcmp(arg, "gap-weights") != 0)
			argp_error(state, "--lab=%s: gap-weights", arg);
		o->gaps = true;
		return 0;
	case OPT_STATE:
		o->input.states = parse_states(arg, state);
		return 0;
	case 'b':
		o->input.by = parse_by(arg, state);
		return 0;
	case 'f':
		o->format = (enum format)parse_word("format", arg, format_names, state);
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case 't':
		o->top = parse_top(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		log_source_argument(&o->source, arg, state);
		return 0;
	case ARGP_KEY_END:
		if (o->gaps && o->input.states != PROFILE_ALL_STATES)
			argp_error(state, "--lab gap-weights does not tell states apart: it is for "
					  "--state all");
		if (o->input.by == PROFILE_BY_SPAN && !o->profile.spans.options.pattern)
			o->profile.spans.options.pattern = "*";
		if (o->profile.spans.options.pattern && !profile_only_running(&o->input))
			argp_error(state, "--span knows CPU time only: no --state with it");
		if (o->input.by == PROFILE_BY_LOCK && !profile_only_running(&o->input))
			argp_error(state, "--by lock knows CPU time only: no --state with it");
		if (!o->profile.spans.options.pattern &&
		    (o->profile.spans.options.least_ns || o->profile.spans.options.least_per_mille))
			argp_error(state, "--slower-than which spans? --span says that");
		send_option_check(&o->send, o->format == FORMAT_OTLP, o->output, state);
		if ((o->format == FORMAT_PPROF || o->format == FORMAT_OTLP) && !o->output &&
		    !o->send.o.endpoint && isatty(STDOUT_FILENO))
			argp_error(state, "%s is not for a terminal: -o FILE.pb.gz",
				   format_names[o->format]);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which FILE? It is what 'spoor record --sample -o FILE' wrote");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Then a sample stands for what its thread did behind switches that are in no event, too. */
static void check_gaps(const struct options *o, const json_t *header)
{
	uint64_t off_cpu_ns = header_number(header, "record", "off_cpu_ns");

	if (o->gaps && off_cpu_ns)
		msg_warning("%s: --lab gap-weights wants a chain of each switch, which spoor "
			    "record --lab every-switch writes; this log has those of %.3g ms and "
			    "more",
			    o->source.name, (double)off_cpu_ns / NS_PER_MS);
}

static int on_begin(void *ctx, struct analysis *a, const json_t *header)
{
	struct options *o = ctx;

	check_gaps(o, header);
	o->profile.spans.options.names = analysis_names(a);
	profile_window_set(&o->profile.options, header, &o->source.range);
	o->profile.options.waiting = !profile_only_running(&o->input);
	o->profile.options.gaps = o->gaps;
	o->profile.options.locks = o->input.by == PROFILE_BY_LOCK;
	o->profile.options.span_names = o->input.by == PROFILE_BY_SPAN;
	o->profile.options.names = analysis_names(a);
	if (o->profile.options.locks)
		analysis_observe(a, lock_holds_observe, &o->profile.holds);
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

static int print(const struct options *o, FILE *out)
{
	switch (o->format) {
	case FORMAT_JSON:
		return report_profile_json(&o->input, out);
	case FORMAT_CSV:
		return report_profile_csv(&o->input, out);
	case FORMAT_COLLAPSED:
		return profile_collapsed(&o->input, out);
	case FORMAT_SPEEDSCOPE:
		return profile_speedscope(&o->input, o->source.name, out);
	case FORMAT_PPROF:
		return profile_messages(&o->input, &profile_format_pprof, out);
	case FORMAT_OTLP:
		return profile_messages(&o->input, &profile_format_otlp, out);
	default:
		return report_profile_text(&o->input, out);
	}
}

/* 0; 1: the reader of a pipe wants no more; or negative errno, and it has been said. */
static int write_output(struct options *o)
{
	FILE *out = o->send.o.endpoint ? send_option_open(&o->send)
				       : export_output_open(&o->source, o->output, 0);
	int err;

	if (!out)
		return -EIO;
	err = print(o, out);
	err = report_finish(&o->source, out, err);
	err = export_output_close(out, o->send.o.endpoint ? o->send.o.endpoint : o->output, err);
	return err || !o->send.o.endpoint ? err : send_option_send(&o->send);
}

static int show(struct options *o, struct analyzed_log *log)
{
	const struct report_input input = {.log = &log->log, .top = o->top};
	int err;

	o->input.in = &input;
	o->input.profile = &o->profile;
	err = profile_finish(&o->profile, analysis_wall(log->analysis));
	if (err) {
		msg_error("%s: cannot report on it: %s", o->source.name, max_memory_error(err));
		return err;
	}
	err = write_output(o);
	return err < 0 ? err : analyzed_log_report(log, "shown");
}

int cmd_profile(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE...", doc,
					 NULL,         NULL,         NULL};
	struct options o = {.source.range.samples = SAMPLES_AROUND,
			    .input.least_pct = LEAST_DEFAULT,
			    .input.states = PROFILE_RUNNING,
			    .top = TOP_DEFAULT};
	const struct log_watch watch = {
		.begin = on_begin, .event = on_event, .hole = on_hole, .ctx = &o};
	struct analyzed_log log;
	int err;

	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	if (send_option_start(&o.send) || rights_filter() || rights_write_to(o.output))
		return CMD_FAILED;
	if (!profile_only_running(&o.input)) /* as the report's wall clock */
		o.source.range.samples = 0;
	err = analyze_log_watched(&o.source, &watch, &log);
	if (!err) {
		err = show(&o, &log);
		analyzed_log_close(&log);
	}
	send_option_end(&o.send);
	profile_free(&o.profile);
	log_source_free(&o.source);
	return err < 0 ? CMD_FAILED : CMD_OK;
}
