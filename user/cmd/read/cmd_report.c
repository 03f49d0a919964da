#include "base/text/strbuf.h"
#include "cmd/cmd.h"
#include "session/facet_watch.h"
#include "cmd/read/log_options.h"
#include "cmd/read/where_option.h"

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/groups/facet_cells.h"
#include "base/text/msg.h"
#include "base/text/units.h"
#include "cmd/parse.h"
#include "report/model/attribution_basis.h"
#include "report/model/by_list.h"
#include "report/model/report.h"
#include "session/analyze_log.h"
#include "session/log_source.h"

#define ASPECTS_TEXT_MAX 4096
#define TOP_DEFAULT 10

enum { OPT_FULL = 1000, OPT_PARKED, OPT_CSV, OPT_ALL, OPT_SORT, OPT_WINDOW };

struct options {
	struct log_source source;
	struct by_list by;
	bool json;
	const char *csv;        /* the section; NULL: not CSV */
	const char *where_text; /* NULL: all contentions */
	struct condition *where;
	enum group_order order;
	uint64_t window_ns; /* 0: not given */
	bool full;
	bool parked;
	unsigned top;
};

static const struct argp_option option_table[] = {
	{"by", 'b', "A[,B...]", 0, "Only blocked time, nested by these aspects, in any order:", 0},
	{"where", 'w', "CONDITION", 0,
	 "Only the contentions of which it holds: ASPECT=GLOB, ASPECT!=GLOB, not, and, or, "
	 "parentheses; of a call chain any frame's method may match. Aspects are those of --by",
	 0},
	{"sort", OPT_SORT, "work|blocked|count|max|p50|p90|p99|p999|value", 0,
	 "What comes first: what lost work most time (default); most blocked time; most "
	 "contentions; the longest one; the longest by a quantile; or by the aspect's value, as "
	 "windows in the order of time. Locks at which threads only take turns in waiting for new "
	 "work (accept, select, take) lose no work: by default they are listed apart",
	 0},
	{"all", OPT_ALL, NULL, 0, "The same as --sort blocked", 0},
	{"window", OPT_WINDOW, "TIME", 0,
	 "How long a window is, for --by window: 500ms, 10s. If not given: the shortest of 1, 2, "
	 "10, 20, 100 ms and so on with which there are 60 at most",
	 0},
	{"full", OPT_FULL, NULL, 0,
	 "Call chains with all their frames; else those of java.util.concurrent and the like are "
	 "folded, and long chains cut. With --by, also the quantiles p90 and p99.9. And the VM's "
	 "threads pool by pool",
	 0},
	{"parked", OPT_PARKED, NULL, 0,
	 "With --by: not the time blocked in locks, but the time parked on anything else "
	 "(conditions, semaphores, latches, queues, futures); the owner is the thread that has "
	 "ended it. Of a patched JVM only",
	 0},
	{"format", 'f', "text|json", 0, "For people (default) or for programs", 0},
	{"csv", OPT_CSV, "SECTION", 0,
	 "One section alone, with all its rows, as CSV; contention: a row for each class, lock, "
	 "holder and waiter, or for each group that --by asks for. The sections are",
	 0},
	{"top", 't', "N", 0, "Rows in each list of the text report (default 10)", 0},
	RANGE_OPTIONS,
	LOG_SOURCE_OPTIONS,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Says who was blocked on which lock, who held it meanwhile and what the "
	"holder did, and where else "
	"the time went: parking, collections, safepoints, CPUs, the hypervisor.\v"
	"  spoor report app.spoor\n"
	"      everything, for a terminal\n"
	"  spoor report --by lock_class,owner_thread app.spoor\n"
	"      which threads caused the waiting, per class of lock\n"
	"  spoor report --by waiter_thread,lock,owner_thread app.spoor\n"
	"      what each thread waited for, and for whom\n"
	"  spoor report --by waiter_method,owner_stack app.spoor\n"
	"      in which methods threads wait, and what the holders are doing "
	"meanwhile\n"
	"  spoor report --where 'waiter_pool=http-* and owner_stack=*Cache*' app.spoor\n"
	"      only what a pool waited for while the holder was in some code\n"
	"  spoor report --format json app.spoor | jq '.contention.groups[0]'\n"
	"      all figures, in ns\n"
	"  spoor report --csv threads app.spoor > threads.csv\n"
	"      one of its tables, for a spreadsheet\n"
	"  spoor report --csv contention --by waiter_method,owner_method app.spoor\n"
	"      the blocked time as rows, by any aspects\n"
	"  spoor report logs/\n"
	"      a recording in parts (record --max-size): a folder, a pattern, or "
	"some of the files, in any order\n"
	"\n"
	"A thread is charged with the time that others were blocked while it was "
	"the last one seen to hold the lock. "
	"(hand-over): released and not yet seen taken. (unknown): nothing says "
	"who held it. The manual page and "
	"docs/report.md say how each figure is found.\n"
	"\n"
	"Exit status: 0 done; 1 the log cannot be read, or a part of it is "
	"missing, and what could be read has been "
	"reported; 2 wrong usage.\n";

/* "lock_class (class of the lock object), ...". */
static void aspects_list(char buf[ASPECTS_TEXT_MAX])
{
	*buf = '\0';
	for (int i = 0; i < ASPECT_COUNT; i++) {
		const struct aspect *a = aspect_get(i);

		buffer_add(buf, ASPECTS_TEXT_MAX, "%s%s (%s)", i ? ", " : "", a->name, a->doc);
	}
}

/* Appends the aspects to what --by says of itself, and the sections to what --csv does. What is
 * returned is argp's. */
static char *help(int key, const char *text, void *input)
{
	char list[ASPECTS_TEXT_MAX], *filled;

	(void)input;
	if (key == 'b')
		aspects_list(list);
	else if (key == OPT_CSV)
		report_sections(list);
	else
		return (char *)text;
	return asprintf(&filled, "%s %s", text, list) < 0 ? (char *)text : filled;
}

static void add_aspects(struct options *o, const char *arg, struct argp_state *state)
{
	char error[BY_LIST_ERROR_MAX];

	if (by_list_add(&o->by, arg, error))
		argp_error(state, "%s", error);
}

static void set_csv(struct options *o, const char *arg, struct argp_state *state)
{
	char list[REPORT_SECTIONS_MAX];

	if (!report_has_section(arg))
		argp_error(state, "there is no section '%s'; there are %s", arg,
			   report_sections(list));
	o->csv = arg;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (log_files_option(&o->source, key, arg, state))
		return 0;
	switch (key) {
	case 'b':
		add_aspects(o, arg, state);
		return 0;
	case 'f':
		o->json = parse_is_json(arg, state);
		return 0;
	case OPT_CSV:
		set_csv(o, arg, state);
		return 0;
	case OPT_FULL:
		o->full = true;
		return 0;
	case OPT_ALL:
		o->order = GROUP_BY_TIME;
		return 0;
	case OPT_SORT:
		o->order = parse_found("sort", arg, by_order(arg), BY_ORDERS, state);
		return 0;
	case 'w':
		set_where(&o->where, arg, ~0u, state);
		o->where_text = arg;
		return 0;
	case OPT_WINDOW:
		o->window_ns = parse_window(arg, state);
		return 0;
	case OPT_PARKED:
		o->parked = true;
		return 0;
	case 't':
		o->top = parse_top(arg, state);
		return 0;
	case ARGP_KEY_END:
		if (o->parked && !o->by.depth)
			argp_error(state, "--parked says what --by is about: --by is missing");
		if (o->csv && (o->json || (o->by.depth && !report_section_takes_by(o->csv))))
			argp_error(state, "--csv is one section alone: without --format json, and "
					  "only that of contention takes --by");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int print(const struct options *o, const struct report_input *in)
{
	if (o->csv)
		return report_csv(in, o->csv, o->by.by, o->by.depth, stdout);
	if (o->by.depth)
		return (o->json ? report_by_json : report_by_text)(in, o->by.by, o->by.depth,
								   stdout);
	return (o->json ? report_json : report_text)(in, stdout);
}

/* The cells that it is about. */
static int choose(const struct options *o, const struct analyzed_log *log,
		  const struct facet_cells *facets, struct report_input *in, struct cell **ret)
{
	int err = facets ? facet_cells_error(facets) : 0;

	in->facets = facets;
	if (facets) {
		in->cells = facet_cells(facets)->rows;
		in->cell_count = facet_cells(facets)->count;
	}
	if (err || !o->where)
		return err;
	err = where_chosen(o->where, log->log.analysis, facets, ret, &in->cell_count);
	in->cells = *ret;
	if (!err && !in->cell_count)
		msg_warning("%s: --where chooses none of its contentions", o->source.name);
	return err;
}

static int report(const struct options *o, struct analyzed_log *log,
		  const struct facet_watch *watched)
{
	struct report_input in = {.log = &log->log,
				  .top = o->top,
				  .full = o->full,
				  .order = o->order,
				  .where = o->where_text,
				  .parked = o->parked};
	const struct facet_cells *facets = watched->cells;
	struct cell *chosen = NULL;
	int err;

	if (o->parked && !basis_of(&in).exact) {
		msg_error("%s: what ends a park is not in the log of a stock JVM", o->source.name);
		return -ENODATA;
	}
	err = choose(o, log, facets, &in, &chosen);
	err = err ? err : print(o, &in);
	free(chosen);
	err = report_finish(&o->source, stdout, err);
	err = err < 0 ? err : facet_watch_windows(watched, "choose a longer --window");
	return err < 0 ? err : analyzed_log_report(log, "reported");
}

static int run(struct options *o)
{
	struct facet_watch facets = {.source = &o->source,
				     .facets = aspects_facets(o->by.by, o->by.depth) |
					       where_facets(o->where),
				     .window_ns = o->window_ns};
	const struct log_watch watch = facet_watch_of(&facets);
	struct analyzed_log log;
	int err = analyze_log_watched(&o->source, facets.facets ? &watch : NULL, &log);

	if (!err) {
		err = report(o, &log, &facets);
		analyzed_log_close(&log);
	}
	facet_watch_free(&facets);
	return err;
}

int cmd_report(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE...", doc,
					 NULL,         help,         NULL};
	struct options o = {.top = TOP_DEFAULT};
	int err;

	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	err = run(&o);
	where_free(o.where);
	log_source_free(&o.source);
	return err < 0 ? CMD_FAILED : CMD_OK;
}
