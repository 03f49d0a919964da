/* What a page has beyond the report's findings is taken down while the events come. */
#include "cmd/read/page_log.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/cells/cell_windows.h"
#include "analyze/gc/gc_series.h"
#include "analyze/registry/analysis.h"
#include "base/text/msg.h"
#include "session/facet_watch.h"
#include "cmd/read/where_option.h"
#include "log/format/header_fields.h"
#include "report/model/report.h"
#include "report/web/page.h"
#include "report/web/parts/page_parts.h"
#include "session/analyze_log.h"
#include "session/log_source.h"
#include "session/max_memory.h"

#define TOP_DEFAULT 10
/* Beyond so many cells that are cut by PAGE_FACETS, the page has those that are not cut. */
#define PAGE_CUT_MAX 50000

struct watched {
	const struct range *range;
	struct facet_watch facets;
	struct cell_windows windows;
	struct gc_series *series;
	struct page_parts *parts;
};

static void on_blocked(void *ctx, const struct cell_part *part)
{
	struct watched *w = ctx;

	facet_cells_part(w->facets.cells, part);
	page_parts_blocked(w->parts, part);
}

static void on_interval(void *ctx, const struct cell_interval *interval)
{
	struct watched *w = ctx;

	facet_cells_interval(w->facets.cells, interval);
}

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
	w->parts = page_parts_new(a, header, w->range);
	if (!w->series || !w->parts)
		return -ENOMEM;
	analysis_observe(a, on_blocked, w);
	analysis_observe_intervals(a, on_interval);
	return 0;
}

static int on_event(void *ctx, const struct event *e)
{
	struct watched *w = ctx;
	int err = facet_watch_event(&w->facets, e);

	if (!w->windows.begin_ns)
		w->windows.begin_ns = e->time_ns;
	err = err ? err : page_parts_event(w->parts, e);
	return err ? err : gc_series_add(w->series, e);
}

static int on_hole(void *ctx, uint64_t from_ns, uint64_t to_ns)
{
	struct watched *w = ctx;
	int err = page_parts_hole(w->parts, from_ns, to_ns);

	gc_series_hole(w->series);
	return err ? err : facet_watch_hole(&w->facets, from_ns);
}

static int page(const struct page_log *l, struct analyzed_log *log, struct watched *w)
{
	struct report_input in = {.log = &log->log, .top = TOP_DEFAULT, .where = l->where_text};
	struct page_input page = {.in = &in,
				  .windows = &w->windows,
				  .series = w->series,
				  .title = log_source_title(l->source),
				  .source = log_source_title(l->source),
				  .parts = page_parts_write,
				  .parts_ctx = w->parts};
	struct analysis_facts facts;
	struct cell *chosen = NULL;
	int err = w->windows.err ? w->windows.err : facet_cells_error(w->facets.cells);

	gc_series_finish(w->series);
	err = err ? err : page_parts_finish(w->parts, log->analysis);
	page.window_ns = page_parts_window_ns(w->parts);
	analysis_facts(log->analysis, &facts);
	page.end_ns = facts.last_ns;
	page.start_ns = session_log_start(&log->log);
	if (facet_cells(w->facets.cells)->count <= PAGE_CUT_MAX ||
	    (l->where && where_facets(l->where))) {
		in.facets = w->facets.cells;
		in.cells = facet_cells(w->facets.cells)->rows;
		in.cell_count = facet_cells(w->facets.cells)->count;
	}
	if (l->where && !err)
		err = where_chosen(l->where, log->analysis, in.facets, &chosen, &in.cell_count);
	if (l->where)
		in.cells = chosen;
	if (l->where && !err && !in.cell_count)
		msg_warning("%s: --where chooses none of its contentions", l->source->name);
	if (err)
		msg_error("%s: cannot make a page of it: %s", l->source->name,
			  max_memory_error(err));
	else
		err = l->write(l->ctx, &page);
	free(chosen);
	return err < 0 ? err : analyzed_log_report(log, "put into the page");
}

int page_log_read(const struct page_log *l)
{
	struct watched w = {.range = &l->source->range,
			    .facets = {.source = l->source, .facets = PAGE_FACETS}};
	bool cut = l->where && where_facets(l->where);
	const struct log_watch watch = {
		.begin = on_begin, .event = on_event, .hole = on_hole, .ctx = &w};
	struct analyzed_log log;
	int err;

	/* Of more cells than the page takes, only that there are more is asked. */
	w.facets.cells_max = cut ? 0 : PAGE_CUT_MAX + 1;
	err = analyze_log_watched(l->source, &watch, &log);

	if (!err) {
		err = page(l, &log, &w);
		analyzed_log_close(&log);
	}
	facet_watch_free(&w.facets);
	cell_windows_free(&w.windows);
	gc_series_free(w.series);
	page_parts_free(w.parts);
	return err;
}
