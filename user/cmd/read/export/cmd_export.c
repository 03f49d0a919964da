#include "cmd/cmd.h"
#include "cmd/read/export/export_anonymize.h"
#include "cmd/read/log_options.h"
#include "cmd/read/where_option.h"
#include "cmd/rights.h"

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/contention/contention.h"
#include "analyze/registry/analysis.h"
#include "base/text/msg.h"
#include "base/text/units.h"
#include "cmd/parse.h"
#include "cmd/read/export/export_chrome.h"
#include "cmd/read/export/export_contentions.h"
#include "cmd/read/export/export_heatmap.h"
#include "cmd/read/export/export_tables.h"
#include "cmd/read/export_output.h"
#include "session/facet_watch.h"
#include "cmd/read/send_option.h"
#include "report/flame/contention_messages.h"
#include "report/flame/export.h"
#include "report/jfr/jfr.h"
#include "report/model/report.h"
#include "report/protobuf/perfetto.h"
#include "report/protobuf/profile_format.h"
#include "session/analyze_log.h"
#include "session/log_source.h"
#include "session/max_memory.h"

enum format {
	FORMAT_NONE,
	FORMAT_COLLAPSED,
	FORMAT_SPEEDSCOPE,
	FORMAT_FIREFOX,
	FORMAT_PPROF,
	FORMAT_OTLP,
	FORMAT_CELLS,
	FORMAT_CHROME,
	FORMAT_PERFETTO,
	FORMAT_JFR,
	FORMAT_HEATMAP,
	FORMAT_CSV,
	FORMAT_JSONL,
	FORMAT_COUNT,
};

static const char *const format_names[FORMAT_COUNT] = {
	"",       "collapsed", "speedscope", "firefox", "pprof",   "otlp", "cells",
	"chrome", "perfetto",  "jfr",        "heatmap", "csv",     "jsonl"};

#define FORMATS                                                                                    \
	"collapsed, speedscope, firefox, pprof, otlp, chrome, perfetto, jfr, cells, heatmap, csv " \
	"or jsonl"

#define FRAMES_MAX 512 /* are recorded */

enum {
	KEY_LINES = 0x100,
	KEY_THREADS,
	KEY_LOCKS,
	KEY_HIDDEN,
	KEY_MIN,
	KEY_THREAD_NAME,
	KEY_FRAMES,
	KEY_RAW,
	KEY_MODE,
	KEY_ANONYMIZE,
	KEY_KEY,
};

struct options {
	struct log_source source;
	const char *output; /* NULL: stdout */
	struct send_option send;
	bool anonymize;
	const char *key; /* of it; NULL: none is given */
	mode_t mode;     /* of what is written; 0: 0600 */
	enum format to;
	enum export_side sides[EXPORT_SIDE_COUNT];
	unsigned side_count; /* 0: as the format has it */
	struct export_input input;
	struct condition *where; /* NULL: all contentions */
	struct chrome_options timeline;
	struct tables_options tables;
	unsigned frames;         /* of each call chain, at most */
	bool frames_are_given;   /* for timelines and tables only */
	const char *of_chains;   /* the first option that is not for a timeline; NULL: none */
	const char *of_timeline; /* the first option that is for nothing else */
	const char *of_tables;   /* the first one that is for tables only */
};

static const struct argp_option option_table[] = {
	{"to", 't',
	 "collapsed|speedscope|firefox|pprof|otlp|chrome|perfetto|jfr|cells|heatmap|csv|jsonl", 0,
	 "collapsed, speedscope, firefox: call chains, for flame graphs and the profiler of "
	 "Firefox; pprof: for go tool pprof; otlp: "
	 "profiles of OpenTelemetry. chrome: a timeline of all threads, for Perfetto. perfetto: "
	 "each contention as a slice that Perfetto's lock contention tables know; jfr: as events "
	 "of JDK Flight Recorder. cells: who was blocked on what, and who held it, a row for each "
	 "combination, as CSV. heatmap: blocked time and CPU samples by steps of time, as CSV. "
	 "csv, jsonl: all events as tables, one per kind of event",
	 0},
	{"side", 's', "waiter|owner|both", 0,
	 "Whose call chains. waiter: of threads that were blocked. owner: of those that held the "
	 "lock meanwhile. both: the waiter's, and on top of it, behind (blocked by), the owner's. "
	 "If not given: waiter; for speedscope and firefox waiter and owner, as two profiles",
	 0},
	{"lock-class", 'c', "PATTERN", 0,
	 "Only time blocked on locks of these classes; * and ? stand for any text, one character",
	 0},
	{"where", 'w', "CONDITION", 0,
	 "Only contentions of which it holds, such as 'owner_thread=http-* and "
	 "waiter_stack=*Cache*'; as report has it",
	 0},
	{"output", 'o', "FILE", 0,
	 "Write to FILE and not to stdout; to one in .gz, compressed. Tables: also to a folder, a "
	 "file per kind of event",
	 0},
	SEND_OPTIONS,
	{"mode", KEY_MODE, "MODE", 0,
	 "Who may read FILE, in octal as for chmod (0600: nobody but its owner), such as 0644", 0},
	{"anonymize", KEY_ANONYMIZE, NULL, 0,
	 "Write the log again, for somebody else to read: with a hash in the place of each word of "
	 "the names that are not the JDK's or the JVM's. Takes one FILE, -o OUT, and --key only",
	 0},
	{"key", KEY_KEY, "KEYFILE", 0,
	 "With --anonymize: the same words get the same hashes with the same key (if not given: a "
	 "new one that nobody knows)",
	 0},
	{"lines", KEY_LINES, NULL, 0, "With source lines: a method at two lines is two frames", 0},
	{"threads", KEY_THREADS, NULL, 0, "Begin each call chain with its thread's name", 0},
	{"locks", KEY_LOCKS, NULL, 0,
	 "End each call chain (of both: the waiter's) with the class of the lock", 0},
	{"hidden", KEY_HIDDEN, NULL, 0, "Lambda forms and other frames that Java hides, too", 0},
	RANGE_OPTIONS_UNTIL,
	LOG_SOURCE_OPTIONS,
	{NULL, 0, NULL, 0, "Of a timeline:", 1},
	{"min", KEY_MIN, "TIME", 0, "Only slices at least that long, such as 100us", 0},
	{"thread-name", KEY_THREAD_NAME, "PATTERN", 0,
	 "Only threads of these names; * and ? stand for any text, one character", 0},
	{"frames", KEY_FRAMES, "N", 0,
	 "Also of tables: call chains of at most N frames (12); 0: none", 0},
	{NULL, 0, NULL, 0, "Of tables:", 2},
	{"event", 'e', "NAME[,NAME...]", 0,
	 "Only events of these kinds; can be given several times", 0},
	{"raw-text", KEY_RAW, NULL, 0,
	 "csv: leave text as it is that a spreadsheet would take for a formula; else it gets a ' "
	 "in front",
	 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Writes the call chains of blocked threads, or of those that blocked them, weighted with "
	"the blocked time in ns, for flame graph tools; or a timeline of all threads, collections "
	"and safepoints for Perfetto and chrome://tracing; or all events as tables.\v"
	"  spoor export --to collapsed app.spoor |\n"
	"      flamegraph.pl --countname ns --title 'blocked' > blocked.svg\n"
	"  spoor export --to collapsed --side owner app.spoor |\n"
	"      flamegraph.pl --countname ns --title 'blocking others' > blocking.svg\n"
	"  spoor export --to collapsed --side both --locks -c '*.Table' app.spoor\n"
	"      who was blocked on one class of lock; on top of it what the owner did\n"
	"  spoor export --to speedscope --lines -o app.speedscope.json app.spoor\n"
	"      to be opened in https://www.speedscope.app\n"
	"  spoor export --to firefox -o app.json app.spoor\n"
	"      to be opened in https://profiler.firefox.com\n"
	"  spoor export --to pprof -o a.pb.gz app.spoor && go tool pprof -top a.pb.gz\n"
	"  spoor export --to pprof --side owner -o owners.pb.gz app.spoor\n"
	"      the threads that held the locks, by the time that others were blocked meanwhile\n"
	"  spoor export --to otlp --endpoint http://127.0.0.1:4318 app.spoor\n"
	"      sends the waiters' profile to a collector of OpenTelemetry\n"
	"  spoor export --to chrome -o app.json.gz app.spoor\n"
	"      to be opened in https://ui.perfetto.dev\n"
	"  spoor export --to perfetto -o app.pftrace app.spoor\n"
	"      likewise: each contention with its owner, for its tables of lock contention\n"
	"  spoor export --to jfr -o app.jfr app.spoor && jfr print app.jfr\n"
	"  spoor export --to chrome --from 20s --until 25s -o app.json app.spoor\n"
	"      five seconds of it; --min leaves out the shortest slices\n"
	"  spoor export --to csv -o tables/ app.spoor\n"
	"      a file per kind of event: tables/monitor_contended_enter.csv, ...\n"
	"  spoor export --to csv -e park_begin app.spoor | head\n"
	"  spoor export --to cells -o cells.csv app.spoor\n"
	"      who was blocked by whom, for DuckDB, pandas or a spreadsheet\n"
	"  spoor export --to jsonl app.spoor | jq 'select(.lock_class == \"a.Table\")'\n"
	"\n"
	"The weights add up to the blocked time of the report: time of which no call chain is "
	"known is a frame of its own. Frames in parentheses are no methods; the manual page "
	"explains them.\n"
	"\n"
	"Exit status: 0 done; 1 the log cannot be read, or a part of it is missing, and what could "
	"be read has been exported, or the server did not take it; 2 wrong usage.\n";

static void set_format(struct options *o, const char *arg, struct argp_state *state)
{
	for (int i = FORMAT_NONE + 1; i < FORMAT_COUNT; i++)
		if (!strcmp(arg, format_names[i]))
			o->to = (enum format)i;
	if (!o->to)
		argp_error(state, "--to is " FORMATS ", not '%s'", arg);
}

static void set_side(struct options *o, const char *arg, struct argp_state *state)
{
	static const char *const names[] = {"waiter", "owner", "both", NULL};

	o->sides[0] = (enum export_side)parse_word("side", arg, names, state);
	o->side_count = 1;
}

static bool is_table(const struct options *o)
{
	return o->to == FORMAT_CSV || o->to == FORMAT_JSONL;
}

static void check_anonymize(const struct options *o, struct argp_state *state)
{
	if (o->key && !o->anonymize)
		argp_error(state, "--key is for --anonymize");
	if (!o->anonymize)
		return;
	if (o->to || o->mode || o->send.o.endpoint || o->where || o->of_chains ||
	    o->of_timeline || o->of_tables || o->frames_are_given ||
	    range_is_given(&o->source.range))
		argp_error(state, "--anonymize writes the whole log again: no other option but -o, "
				  "--key and --force goes with it");
	if (!o->output)
		argp_error(state, "where to? -o OUT is the new log; - is standard output");
	if (!strcmp(o->output, "-") && isatty(STDOUT_FILENO))
		argp_error(state, "a log is no text: not to a terminal");
}

static bool is_binary(const struct options *o)
{
	return o->to == FORMAT_PPROF || o->to == FORMAT_OTLP || o->to == FORMAT_PERFETTO ||
	       o->to == FORMAT_JFR;
}

/* Of formats that are messages. */
static void check_messages(const struct options *o, struct argp_state *state)
{
	if (o->input.threads || o->input.locks)
		argp_error(state,
			   "--threads and --locks are not for --to %s: its samples have "
			   "labels for them",
			   format_names[o->to]);
	if (!o->output && !o->send.o.endpoint && isatty(STDOUT_FILENO))
		argp_error(state, "%s is not for a terminal: -o FILE", format_names[o->to]);
}

/* A row has both sides, and all that is known of them. */
static void check_cells(const struct options *o, struct argp_state *state)
{
	if (o->side_count || o->input.lines || o->input.threads || o->input.locks ||
	    o->input.hidden || o->input.lock_class)
		argp_error(state, "of the options for call chains, --to cells takes --where alone");
}

static void set_defaults(struct options *o, struct argp_state *state)
{
	check_anonymize(o, state);
	if (o->anonymize)
		return;
	if (!o->to)
		argp_error(state, "which format? --to " FORMATS);
	send_option_check(&o->send, o->to == FORMAT_OTLP, o->output, state);
	if (o->where && o->to >= FORMAT_CHROME && o->to != FORMAT_HEATMAP)
		argp_error(state, "--where is not for --to %s", format_names[o->to]);
	if (o->to >= FORMAT_CHROME && o->of_chains)
		argp_error(state, "--%s is for call chains, not for --to %s", o->of_chains,
			   format_names[o->to]);
	if (o->to != FORMAT_CHROME && o->of_timeline)
		argp_error(state, "--%s is for --to chrome", o->of_timeline);
	if (!is_table(o) && o->of_tables)
		argp_error(state, "--%s is for --to csv and jsonl", o->of_tables);
	if (o->to != FORMAT_CHROME && !is_table(o) && o->frames_are_given)
		argp_error(state, "--frames is for --to chrome, csv and jsonl");
	if (o->to != FORMAT_CSV && o->tables.events.table.raw)
		argp_error(state, "--raw-text is for --to csv");
	if (is_binary(o))
		check_messages(o, state);
	if (o->to == FORMAT_CELLS)
		check_cells(o, state);
	if (o->side_count)
		return;
	o->sides[0] = EXPORT_WAITER;
	o->sides[1] = EXPORT_OWNER;
	o->side_count = o->to == FORMAT_SPEEDSCOPE || o->to == FORMAT_FIREFOX ? 2 : 1;
}

static const char *name_of(int key)
{
	const struct argp_option *option = option_table;

	while (option->key != key)
		option++;
	return option->name;
}

static void set_time(uint64_t *ret, int key, const char *arg, struct argp_state *state)
{
	if (duration_parse(arg, ret))
		argp_error(state, "--%s is a time, such as 100us, 1.5s or 2m, not '%s'",
			   name_of(key), arg);
}

static void set_frames(struct options *o, const char *arg, struct argp_state *state)
{
	char *end;
	unsigned long count = strtoul(arg, &end, 10);

	if (*arg < '0' || *arg > '9' || *end || count > FRAMES_MAX)
		argp_error(state, "--frames is a number up to %d, not '%s'", FRAMES_MAX, arg);
	o->frames = (unsigned)count;
	o->frames_are_given = true;
}

static error_t parse_timeline(int key, const char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case KEY_MIN:
		set_time(&o->timeline.min_ns, key, arg, state);
		break;
	case KEY_THREAD_NAME:
		o->timeline.threads = arg;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	if (!o->of_timeline)
		o->of_timeline = name_of(key);
	return 0;
}

static error_t parse_tables(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case KEY_FRAMES:
		set_frames(o, arg, state);
		return 0;
	case 'e':
		o->tables.events.filter = true;
		parse_events(arg, o->tables.events.selected, state);
		break;
	case KEY_RAW:
		o->tables.events.table.raw = true;
		break;
	default:
		return parse_timeline(key, arg, state);
	}
	if (!o->of_tables)
		o->of_tables = name_of(key);
	return 0;
}

static error_t parse_chains(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 's':
		set_side(o, arg, state);
		break;
	case 'c':
		o->input.lock_class = arg;
		break;
	case 'w':
		set_where(&o->where, arg, ~0u, state);
		return 0;
	case KEY_LINES:
		o->input.lines = true;
		break;
	case KEY_THREADS:
		o->input.threads = true;
		break;
	case KEY_LOCKS:
		o->input.locks = true;
		break;
	case KEY_HIDDEN:
		o->input.hidden = true;
		break;
	default:
		return parse_tables(key, arg, state);
	}
	if (!o->of_chains)
		o->of_chains = name_of(key);
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (log_files_option(&o->source, key, arg, state) ||
	    send_option_parse(&o->send, key, arg, state))
		return 0;
	switch (key) {
	case 't':
		set_format(o, arg, state);
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case KEY_ANONYMIZE:
		o->anonymize = true;
		return 0;
	case KEY_KEY:
		o->key = arg;
		return 0;
	case KEY_MODE:
		o->mode = o->tables.mode = parse_mode(arg, state);
		return 0;
	case ARGP_KEY_SUCCESS:
		set_defaults(o, state);
		return 0;
	default:
		return parse_chains(key, arg, state);
	}
}

static void report_nothing(const struct options *o)
{
	if (o->where)
		msg_warning("%s: no time was lost on locks in what --where chooses: nothing to "
			    "export",
			    o->source.name);
	else if (o->input.lock_class)
		msg_warning("%s: no time was lost on locks whose class is '%s': nothing to export",
			    o->source.name, o->input.lock_class);
	else
		msg_warning("%s: no time was lost on locks: nothing to export", o->source.name);
}

static int write_cells(const struct export_input *in, const struct facet_cells *facets,
		       const struct session_log *log, FILE *out)
{
	const struct report_input all = {
		.log = log, .facets = facets, .cells = in->cells, .cell_count = in->cell_count};

	return report_cells_csv(&all, out);
}

static int write_messages(const struct options *o, const struct export_input *in,
			  const struct session_log *log, FILE *out)
{
	struct contention_options messages = {
		.side = o->sides[0],
		.format = o->to == FORMAT_OTLP ? &profile_format_otlp : &profile_format_pprof};

	contention_options_set(&messages, log);
	return contention_messages(in, &messages, out);
}

/* 0; 1: the reader of a pipe wants no more; or negative errno, and it has been said. */
static int write_output(struct options *o, const struct export_input *in,
			const struct facet_cells *facets, const struct session_log *log)
{
	FILE *out = o->send.o.endpoint ? send_option_open(&o->send)
				       : export_output_open(&o->source, o->output, o->mode);
	int err;

	if (!out)
		return -EIO;
	if (o->to == FORMAT_COLLAPSED)
		err = export_collapsed(in, o->sides[0], out);
	else if (is_binary(o))
		err = write_messages(o, in, log, out);
	else if (o->to == FORMAT_CELLS)
		err = write_cells(in, facets, log, out);
	else if (o->to == FORMAT_FIREFOX)
		err = export_firefox(in, o->sides, o->side_count, log_source_title(&o->source),
				     out);
	else
		err = export_speedscope(in, o->sides, o->side_count, log_source_title(&o->source),
					out);
	if (err)
		msg_error("%s: cannot export it: %s", o->source.name, max_memory_error(err));
	else
		err = finish_output(out);
	err = export_output_close(out, o->send.o.endpoint ? o->send.o.endpoint : o->output, err);
	return err || !o->send.o.endpoint ? err : send_option_send(&o->send);
}

static int export(struct options *o, const struct analyzed_log *log,
		  const struct facet_watch *watched)
{
	const struct facet_cells *facets = watched->cells;
	struct export_input in = o->input;
	struct cell *chosen = NULL;
	int err;

	in.names = analysis_names(log->analysis);
	in.cells = contention_cells(analysis_contention(log->analysis), &in.cell_count);
	if (o->where) {
		err = facets ? facet_cells_error(facets) : 0;
		err = err ? err
			  : where_chosen(o->where, log->analysis, facets, &chosen, &in.cell_count);
		if (err) {
			msg_error("%s: cannot export it: %s", o->source.name,
				  max_memory_error(err));
			return err;
		}
		in.cells = chosen;
	}
	err = write_output(o, &in, facets, &log->log);
	if (err >= 0 && !export_total(&in))
		report_nothing(o);
	free(chosen);
	err = err < 0 ? err : facet_watch_windows(watched, "choose another condition");
	return err < 0 ? err : analyzed_log_report(log, "exported");
}

static int export_chains(struct options *o)
{
	struct facet_watch facets = {.source = &o->source, .facets = where_facets(o->where)};
	const struct log_watch watch = facet_watch_of(&facets);
	struct analyzed_log log;
	int err = analyze_log_watched(&o->source, facets.facets ? &watch : NULL, &log);

	if (!err) {
		err = export(o, &log, &facets);
		analyzed_log_close(&log);
	}
	facet_watch_free(&facets);
	return err < 0 ? CMD_FAILED : CMD_OK;
}

int cmd_export(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE...", doc,
					 NULL,         NULL,         NULL};
	struct options o = {.frames = 12};
	int status;

	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	if (send_option_start(&o.send) || rights_filter() || rights_write_to(o.output))
		return CMD_FAILED;
	o.timeline.frames = o.tables.events.table.frames = o.frames;
	o.tables.events.table.csv = o.to == FORMAT_CSV;
	if (o.anonymize)
		status = export_anonymize(&o.source, &(struct anonymize_options){o.output, o.key});
	else if (is_table(&o))
		status = export_tables(&o.source, o.output, &o.tables);
	else if (o.to == FORMAT_CHROME)
		status = export_chrome(&o.source, o.output, o.mode, &o.timeline);
	else if (o.to == FORMAT_PERFETTO)
		status = export_contentions(&o.source, o.output, o.mode, perfetto_contentions);
	else if (o.to == FORMAT_HEATMAP)
		status = export_heatmap(&o.source, o.output, o.mode, o.where);
	else if (o.to == FORMAT_JFR)
		status = export_contentions(&o.source, o.output, o.mode, jfr_contentions);
	else
		status = export_chains(&o);
	send_option_end(&o.send);
	where_free(o.where);
	log_source_free(&o.source);
	return status;
}
