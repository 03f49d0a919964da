#include "cmd/cmd.h"
#include "cmd/read/export_output.h"
#include "cmd/read/facet_watch.h"
#include "cmd/read/log_options.h"
#include "cmd/read/where_option.h"
#include "cmd/rights.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells/cell_windows.h"
#include "analyze/gc/gc_series.h"
#include "analyze/registry/analysis.h"
#include "base/text/msg.h"
#include "cmd/parse.h"
#include "log/format/header_fields.h"
#include "report/model/report.h"
#include "report/web/page.h"
#include "session/analyze_log.h"
#include "session/log_source.h"
#include "session/max_memory.h"

#define TOP_DEFAULT 10
/* The page has windows of its own. */
/* Beyond so many cells that are cut by these, the page has those that are not cut. */
#define PAGE_CUT_MAX 50000
#define PAGE_FACETS (FACET_DURATION | FACET_GC | FACET_SPAN | FACET_STATE)

enum { KEY_MODE = 0x100, KEY_TITLE };

struct options {
	struct log_source source;
	const char *output; /* "-": stdout */
	const char *title;  /* NULL: the log's name */
	const char *where_text;
	struct condition *where; /* NULL: all contentions */
	mode_t mode;             /* of what is written; 0: 0600 */
};

static const struct argp_option option_table[] = {
	{"output", 'o', "FILE", 0,
	 "Where the page goes; an older FILE is replaced. - is standard output", 0},
	{"title", KEY_TITLE, "TEXT", 0, "The page's title; if not given, the log's name", 0},
	{"where", 'w', "CONDITION", 0,
	 "Only contentions of which it holds, such as 'owner_thread=http-* and "
	 "waiter_stack=*Cache*'; as report has it. The page itself can filter, too",
	 0},
	{"mode", KEY_MODE, "MODE", 0,
	 "Who may read FILE, in octal as for chmod (0600: nobody but its owner), such as 0644", 0},
	RANGE_OPTIONS,
	LOG_SOURCE_OPTIONS,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Writes a page for a browser: one file with all in it, which opens from disk, asks nothing "
	"of the network, and can be sent to others. It says first what was found and what was "
	"lost; then blocked time can be looked at by any aspects in any order, filtered, and cut "
	"down to a part of the time, with flame graphs, with who blocked whom, with pauses and "
	"threads.\v"
	"  spoor html -o app.html app.spoor\n"
	"      the page of a log\n"
	"  spoor html -o - app.spoor | gzip > app.html.gz\n"
	"  spoor html --from 20s --to 30s -o app.html app.spoor\n"
	"      ten seconds of it, in finer steps\n"
	"  spoor html --where 'waiter_thread=http-*' -o http.html app.spoor\n"
	"      what one pool of threads waited for, and nothing else\n"
	"  spoor export --anonymize -o anonymous.spoor app.spoor &&\n"
	"      spoor html -o app.html anonymous.spoor\n"
	"      a page for others, without the names of your own code\n"
	"\n"
	"The page has the names of threads, classes and methods, as the log has. All figures are "
	"those of 'spoor report' of the same log. docs/html.md explains the page.\n"
	"\n"
	"Exit status: 0 done; 1 the log cannot be read, or a part of it is missing, and what could "
	"be read is in the page; 2 wrong usage.\n";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (log_files_option(&o->source, key, arg, state))
		return 0;
	switch (key) {
	case 'o':
		o->output = arg;
		return 0;
	case KEY_TITLE:
		o->title = arg;
		return 0;
	case 'w':
		set_where(&o->where, arg, PAGE_FACETS, state);
		o->where_text = arg;
		return 0;
	case KEY_MODE:
		o->mode = parse_mode(arg, state);
		return 0;
	case ARGP_KEY_SUCCESS:
		page_output_check(o->output, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* What the page has beyond the report's findings. */
struct watched {
	const struct range *range;
	struct facet_watch facets;
	struct cell_windows windows;
	struct gc_series *series;
};

static int on_begin(void *ctx, struct analysis *a, const json_t *header)
{
	struct watched *w = ctx;
	uint64_t begin_ns = header_begin_ns(header);

	if (w->range->from && w->range->from_ns > begin_ns)
		begin_ns = w->range->from_ns;
	cell_windows_init(&w->windows, begin_ns);
	if (facet_watch_begin(&w->facets, a, header))
		return -ENOMEM;
	facet_cells_observe(w->facets.cells, cell_windows_observe, &w->windows);
	w->series = gc_series_new(analysis_names(a), header_flag(header, "MaxHeapSize"));
	return w->series ? 0 : -ENOMEM;
}

static int on_event(void *ctx, const struct event *e)
{
	struct watched *w = ctx;
	int err = facet_watch_event(&w->facets, e);

	return err ? err : gc_series_add(w->series, e);
}

static int on_hole(void *ctx, uint64_t from_ns, uint64_t to_ns)
{
	struct watched *w = ctx;

	(void)to_ns;
	gc_series_hole(w->series);
	return facet_watch_hole(&w->facets, from_ns);
}

static int page_write(const struct options *o, const struct page_input *page)
{
	const char *output = strcmp(o->output, "-") ? o->output : NULL;
	FILE *out = export_output_open(&o->source, output, o->mode);
	int err;

	if (!out)
		return -EIO;
	err = report_page(page, out);
	if (err)
		msg_error("%s: cannot make a page of it: %s", o->source.name,
			  max_memory_error(err));
	else
		err = finish_output(out);
	return export_output_close(out, output, err);
}

static int page(const struct options *o, struct analyzed_log *log, struct watched *w)
{
	struct report_input in = {.log = &log->log, .top = TOP_DEFAULT, .where = o->where_text};
	struct page_input page = {.in = &in,
				  .windows = &w->windows,
				  .series = w->series,
				  .source = log_source_title(&o->source)};
	struct cell *chosen = NULL;
	int err = w->windows.err ? w->windows.err : facet_cells_error(w->facets.cells);

	gc_series_finish(w->series);
	page.title = o->title ? o->title : page.source;
	page.start_ns = session_log_start(&log->log);
	if (facet_cells(w->facets.cells)->count <= PAGE_CUT_MAX || where_facets(o->where)) {
		in.facets = w->facets.cells;
		in.cells = facet_cells(w->facets.cells)->rows;
		in.cell_count = facet_cells(w->facets.cells)->count;
	}
	if (o->where && !err)
		err = where_chosen(o->where, log->analysis, in.facets, &chosen, &in.cell_count);
	if (o->where)
		in.cells = chosen;
	if (o->where && !err && !in.cell_count)
		msg_warning("%s: --where chooses none of its contentions", o->source.name);
	if (err)
		msg_error("%s: cannot make a page of it: %s", o->source.name,
			  max_memory_error(err));
	else
		err = page_write(o, &page);
	free(chosen);
	return err < 0 ? err : analyzed_log_report(log, "put into the page");
}

static int run(struct options *o)
{
	struct watched w = {.range = &o->source.range,
			    .facets = {.source = &o->source, .facets = PAGE_FACETS}};
	const struct log_watch watch = {
		.begin = on_begin, .event = on_event, .hole = on_hole, .ctx = &w};
	struct analyzed_log log;
	int err = analyze_log_watched(&o->source, &watch, &log);

	if (!err) {
		err = page(o, &log, &w);
		analyzed_log_close(&log);
	}
	facet_watch_free(&w.facets);
	cell_windows_free(&w.windows);
	gc_series_free(w.series);
	return err;
}

int cmd_html(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE...", doc,
					 NULL,         NULL,         NULL};
	struct options o = {.output = NULL};
	int err;

	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	if (rights_write_to(o.output))
		return CMD_FAILED;
	err = run(&o);
	where_free(o.where);
	log_source_free(&o.source);
	return err < 0 ? CMD_FAILED : CMD_OK;
}
