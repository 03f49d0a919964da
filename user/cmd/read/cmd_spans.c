#include "cmd/cmd.h"
#include "cmd/read/log_options.h"

#include <argp.h>
#include <errno.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>

#include "analyze/cells/cells.h"
#include "analyze/registry/analysis.h"
#include "analyze/spans/spans.h"
#include "base/text/msg.h"
#include "cmd/parse.h"
#include "report/model/report.h"
#include "report/model/sections/commands/spans_report.h"
#include "session/analyze_log.h"
#include "session/log_source.h"

#define TOP_DEFAULT 10

struct options {
	struct log_source source;
	const char *expression; /* of --by-thread-name; NULL: none */
	regex_t thread_name;    /* if there is an expression */
	bool json;
	struct spans_options spans;
};

static const struct argp_option option_table[] = {
	{"top", 't', "N", 0,
	 "Rows in the lists of the text report, and how many of the slowest spans (default 10)", 0},
	{"name", 'n', "PATTERN", 0,
	 "Only spans of these names; * and ? stand for any text, one character", 0},
	{"by-thread-name", 'T', "REGEX", OPTION_ARG_OPTIONAL,
	 "Not what the application marks: a span is the time from a thread's name to its next one, "
	 "for applications that name their threads after the request. With an extended regular "
	 "expression, only of names that it matches; what its groups match is the span's name",
	 0},
	{"format", 'f', "text|json", 0, "For people (default) or for programs", 0},
	RANGE_OPTIONS,
	LOG_SOURCE_OPTIONS,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Says how long the requests took that the application has marked, and where their time "
	"went: running, stolen by the hypervisor, waiting for a CPU, throttled, blocked on locks "
	"(and who held them), parked, in pauses.\v"
	"  spoor spans app.spoor\n"
	"      all names: counts, quantiles, states; the ten slowest spans\n"
	"  spoor spans --name 'GET /cart*' --top 50 app.spoor\n"
	"      the slowest of one kind\n"
	"  spoor spans --by-thread-name='^req-[0-9]+ (.*)' app.spoor\n"
	"      of an application that calls Thread.setName(\"req-17 /cart\")\n"
	"  spoor spans --format json app.spoor | jq '.slowest[0]'\n"
	"      all figures, in ns\n"
	"\n"
	"Marks come from spoor-mark.jar (make mark): Mark.span(\"name\") around the work, a "
	"servlet filter, or a wrapper for tasks. docs/spans.md says how to use it, and what it "
	"costs.\n"
	"\n"
	"Exit status: 0 done; 1 the log cannot be read, or a part of it is missing, and what could "
	"be read has been reported; 2 wrong usage.\n";

static void parse_expression(struct options *o, const char *arg, struct argp_state *state)
{
	char why[256];
	int err;

	o->spans.by_thread_name = true;
	if (!arg)
		return;
	if (o->expression)
		argp_error(state, "--by-thread-name is there twice");
	err = regcomp(&o->thread_name, arg, REG_EXTENDED);
	if (err) {
		regerror(err, &o->thread_name, why, sizeof(why));
		argp_error(state, "--by-thread-name: '%s' is no regular expression: %s", arg, why);
		return;
	}
	o->expression = arg;
	o->spans.thread_name = &o->thread_name;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (log_files_option(&o->source, key, arg, state))
		return 0;
	switch (key) {
	case 't':
		o->spans.top = parse_top(arg, state);
		return 0;
	case 'n':
		o->spans.pattern = arg;
		return 0;
	case 'T':
		parse_expression(o, arg, state);
		return 0;
	case 'f':
		o->json = parse_is_json(arg, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

struct watched {
	const struct options *o;
	struct spans *spans;
};

static void on_blocked(void *ctx, const struct cell_part *part)
{
	const struct cell_key *key = &part->key;
	struct watched *w = ctx;

	spans_charge(w->spans, key->waiter, key->lock, part->from_ns, part->to_ns, key->holder,
		     key->holder_stack);
}

static int on_begin(void *ctx, struct analysis *a, const json_t *header)
{
	struct watched *w = ctx;
	struct spans_options so = w->o->spans;

	(void)header;
	so.names = analysis_names(a);
	w->spans = spans_new(&so);
	analysis_observe(a, on_blocked, w);
	return w->spans ? 0 : -ENOMEM;
}

static int on_event(void *ctx, const struct event *e)
{
	struct watched *w = ctx;

	return spans_add(w->spans, e);
}

static int on_hole(void *ctx, uint64_t from_ns, uint64_t to_ns)
{
	struct watched *w = ctx;

	return spans_hole(w->spans, from_ns, to_ns);
}

static void report_nothing(const struct options *o, const struct spans_facts *f)
{
	const char *what = o->spans.by_thread_name ? "no thread has changed its name"
						   : "the application has marked nothing";

	if (f->count || f->open)
		msg_warning("%s: none of its %llu spans has a name that was asked for",
			    o->source.name, (unsigned long long)(f->count + f->open));
	else
		msg_warning(
			"%s: no spans: %s while it was recorded; docs/spans.md says how that is "
			"done",
			o->source.name, what);
}

static int report(const struct options *o, struct analyzed_log *log, struct spans *s)
{
	const struct report_input in = {.log = &log->log, .top = o->spans.top};
	struct analysis_facts facts;
	struct spans_facts f;
	uint32_t names;
	int err;

	analysis_facts(log->analysis, &facts);
	err = spans_finish(s, facts.last_ns);
	if (!err)
		err = (o->json ? report_spans_json : report_spans_text)(&in, s, stdout);
	err = report_finish(&o->source, stdout, err);
	if (err < 0)
		return err;
	f = spans_facts(s);
	spans_by_name(s, &names);
	if (!names)
		report_nothing(o, &f);
	return analyzed_log_report(log, "reported");
}

static int run(struct options *o)
{
	struct watched w = {.o = o};
	const struct log_watch watch = {
		.begin = on_begin, .event = on_event, .hole = on_hole, .ctx = &w};
	struct analyzed_log log;
	int err = analyze_log_watched(&o->source, &watch, &log);

	if (!err) {
		err = report(o, &log, w.spans);
		analyzed_log_close(&log);
	}
	spans_free(w.spans);
	return err;
}

int cmd_spans(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE...", doc,
					 NULL,         NULL,         NULL};
	struct options o = {.spans = {.top = TOP_DEFAULT}};
	int err;

	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	err = run(&o);
	if (o.expression)
		regfree(&o.thread_name);
	log_source_free(&o.source);
	return err < 0 ? CMD_FAILED : CMD_OK;
}
