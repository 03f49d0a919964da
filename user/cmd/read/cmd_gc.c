#include "cmd/cmd.h"
#include "cmd/read/log_options.h"

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analyze/registry/analysis.h"
#include "cmd/parse.h"
#include "log/format/header_fields.h"
#include "report/model/report.h"
#include "report/model/sections/commands/gc_report.h"
#include "session/analyze_log.h"
#include "session/log_source.h"

#define TOP_DEFAULT 20
#define WIDTH_DEFAULT 80

enum { KEY_ASCII = 0x4000 };
enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_COUNT };

struct options {
	struct log_source source;
	enum format format;
	unsigned top;
	bool pauses, ascii;
};

static const struct argp_option option_table[] = {
	{"pauses", 'p', NULL, 0,
	 "The pauses one by one, too: the longest (text), all of them (JSON; CSV: in place of the "
	 "collections)",
	 0},
	{"ascii", KEY_ASCII, NULL, 0,
	 "Draw the chart in ASCII; so it is anyway if the locale is not of UTF-8", 0},
	{"top", 't', "N", 0, "So many of the longest pauses (default 20)", 0},
	{"format", 'f', "text|json|csv", 0,
	 "For people (default) or for programs, in ns and bytes; CSV has a line per collection", 0},
	RANGE_OPTIONS,
	LOG_SOURCE_OPTIONS,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Says what collections did: how long the application stood still, how much memory they "
	"freed and why they ran, whether the heap grows, and when it would be full. Any JVM's log "
	"has what that takes.\v"
	"  spoor gc app.spoor\n"
	"      where the heap goes, a chart, and the collections by cause\n"
	"  spoor gc --pauses --from 20s --to 30s app.spoor\n"
	"      the longest pauses of ten seconds\n"
	"  spoor gc --format csv app.spoor > gc.csv\n"
	"      for a spreadsheet: a line per collection\n"
	"  spoor gc --format json app.spoor | jq .trend\n"
	"      all figures, in ns and bytes\n"
	"\n"
	"Where the heap goes is inferred: from what collections leave in it that free old "
	"objects. docs/gc.md says how.\n"
	"\n"
	"Exit status: 0 done; 1 the log cannot be read, or a part of it is missing, and what could "
	"be read has been reported; 2 wrong usage.\n";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[FORMAT_COUNT + 1] = {"text", "json", "csv"};
	struct options *o = state->input;

	if (log_files_option(&o->source, key, arg, state))
		return 0;
	switch (key) {
	case 'p':
		o->pauses = true;
		return 0;
	case KEY_ASCII:
		o->ascii = true;
		return 0;
	case 't':
		o->top = parse_top(arg, state);
		return 0;
	case 'f':
		o->format = (enum format)parse_word("format", arg, formats, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* As setlocale(3) would find it: the first of these that is set. */
static bool is_utf8(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *value = getenv(variables[i]);

		if (value && *value)
			return strcasestr(value, "UTF-8") || strcasestr(value, "UTF8");
	}
	return false;
}

static unsigned terminal_width(void)
{
	struct winsize size = {0};

	return !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col
								       : WIDTH_DEFAULT;
}

static int on_begin(void *ctx, struct analysis *a, const json_t *header)
{
	struct gc_series **series = ctx;

	*series = gc_series_new(analysis_names(a), header_flag(header, "MaxHeapSize"));
	return *series ? 0 : -ENOMEM;
}

static int on_event(void *ctx, const struct event *e)
{
	struct gc_series **series = ctx;

	return gc_series_add(*series, e);
}

static int on_hole(void *ctx, uint64_t from_ns, uint64_t to_ns)
{
	struct gc_series **series = ctx;

	(void)from_ns;
	(void)to_ns;
	gc_series_hole(*series);
	return 0;
}

static int report(const struct options *o, struct analyzed_log *log, struct gc_series *series)
{
	static int (*const print[FORMAT_COUNT])(const struct gc_input *, FILE *) = {
		report_gc_text, report_gc_json, report_gc_csv};
	const struct report_input report_input = {.log = &log->log, .top = o->top};
	struct gc_input in = {.in = &report_input,
			      .series = series,
			      .pauses = o->pauses,
			      .ascii = o->ascii || !is_utf8(),
			      .width = terminal_width()};
	int err;

	gc_series_finish(series);
	in.start_ns = session_log_start(&log->log);
	err = print[o->format](&in, stdout);
	err = report_finish(&o->source, stdout, err);
	return err < 0 ? err : analyzed_log_report(log, "reported");
}

static int run(struct options *o)
{
	struct gc_series *series = NULL;
	const struct log_watch watch = {
		.begin = on_begin, .event = on_event, .hole = on_hole, .ctx = &series};
	struct analyzed_log log;
	int err = analyze_log_watched(&o->source, &watch, &log);

	if (!err) {
		err = report(o, &log, series);
		analyzed_log_close(&log);
	}
	gc_series_free(series);
	return err;
}

int cmd_gc(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE...", doc,
					 NULL,         NULL,         NULL};
	struct options o = {.top = TOP_DEFAULT};
	int err;

	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	err = run(&o);
	log_source_free(&o.source);
	return err < 0 ? CMD_FAILED : CMD_OK;
}
