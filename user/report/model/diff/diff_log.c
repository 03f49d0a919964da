#include "report/model/diff/diff_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/gc/gc_series.h"
#include "analyze/groups/contended.h"
#include "analyze/registry/analysis.h"
#include "analyze/spans/spans.h"
#include "analyze/threads/state_windows.h"
#include "base/text/msg.h"
#include "base/text/strbuf.h"
#include "base/text/units.h"
#include "log/format/event.h"
#include "log/format/header_fields.h"
#include "report/model/diff/diff_collect.h"
#include "report/model/diff/diff_running.h"
#include "report/model/where.h"
#include "session/analyze_log.h"
#include "session/holes.h"
#include "session/log_source.h"
#include "session/max_memory.h"

#define STATE_WINDOWS_MOST 200 /* of the course of states, from which windows are made */

/* --- while events come --------------------------------------------------------------------- */

struct reading {
	const struct diff_selection *selection;
	const struct log_source *source;
	struct diff_watch watch;
	struct diff_running running;
};

static void on_blocked(void *ctx, const struct cell_part *part)
{
	struct diff_watch *w = &((struct reading *)ctx)->watch;
	struct keymap_key k = diff_cell_key(&part->key);
	uint32_t row = 0, cell, cut = INDEX_NONE;

	if (w->err || !lock_is_contended(w->names, part->key.lock, false))
		return;
	cell = keymap_find(&w->cells, k);
	if (cell != INDEX_NONE)
		cut = keymap_find(&w->cuts, diff_cut_key(cell, part->key.facets));
	if (cut != INDEX_NONE) {
		row = cut + 2;
	} else if (w->cuts.count + 2 < TIME_BINS_ROWS_MAX) {
		w->err = time_bins_row(&w->bins, &row);
		if (!w->err)
			w->err = keymap_add(&w->cells, k, &cell);
		if (!w->err)
			w->err = keymap_add(&w->cuts, diff_cut_key(cell, part->key.facets), &cut);
	}
	if (!w->err)
		time_bins_add(&w->bins, row, part->from_ns, part->to_ns);
}

static void plan_windows(const struct reading *r, struct analysis *a, const json_t *header)
{
	uint64_t sample_ns = header_number(header, "record", "window_ns");
	uint64_t begin_ns = header_begin_ns(header);
	const struct range *range = &r->source->range;
	bool given = range->from && range->from_ns > begin_ns;

	analysis_set_state_windows(
		a, &(struct state_options){.from_ns = given ? range->from_ns : begin_ns,
					   .to_ns = range->to ? range->to_ns : UINT64_MAX,
					   .window_ns = sample_ns ? sample_ns : NS_PER_S,
					   .sample_ns = sample_ns,
					   .from_begin = !given,
					   .most = STATE_WINDOWS_MOST});
}

static int on_begin(void *ctx, struct analysis *a, const json_t *header)
{
	struct reading *r = ctx;
	struct diff_watch *w = &r->watch;
	const struct range *range = &r->source->range;
	struct spans_options spans = {.names = analysis_names(a), .pattern = r->selection->span};
	uint32_t row;
	int err;

	w->names = analysis_names(a);
	w->bins.from_ns = range->from ? range->from_ns : header_begin_ns(header);
	err = time_bins_row(&w->bins, &row);
	if (!err)
		err = time_bins_row(&w->bins, &row);
	w->gc = gc_series_new(w->names, 0);
	w->spans = spans_new(&spans);
	if (facet_watch_begin(&w->facets, a, header))
		return -ENOMEM;
	if (w->facets.cells)
		facet_cells_observe(w->facets.cells, on_blocked, r);
	else
		analysis_observe(a, on_blocked, r);
	diff_running_begin(&r->running, a, header, range, w->bins.from_ns);
	plan_windows(r, a, header);
	return err || !w->gc || !w->spans ? -ENOMEM : 0;
}

static int on_event(void *ctx, const struct event *e)
{
	struct reading *r = ctx;
	struct diff_watch *w = &r->watch;
	int err = w->err ? w->err : facet_watch_event(&w->facets, e);

	err = err ? err : gc_series_add(w->gc, e);
	err = err ? err : profile_add(&r->running.profile, e);
	if (e->id == EVENT_SPAN_END)
		time_bins_add(&w->bins, 1, e->time_ns, e->time_ns);
	return err ? err : spans_add(w->spans, e);
}

static int on_hole(void *ctx, uint64_t from_ns, uint64_t to_ns)
{
	struct reading *r = ctx;
	struct diff_watch *w = &r->watch;
	int err = facet_watch_hole(&w->facets, from_ns);

	profile_hole(&r->running.profile);
	gc_series_hole(w->gc);
	return err ? err : spans_hole(w->spans, from_ns, to_ns);
}

static void watch_free(struct diff_watch *w)
{
	time_bins_free(&w->bins);
	keymap_free(&w->cells);
	keymap_free(&w->cuts);
	facet_watch_free(&w->facets);
	gc_series_free(w->gc);
	spans_free(w->spans);
}

/* --- afterwards ---------------------------------------------------------------------------- */

static void set_range(struct diff_collect *c, const struct session_log *l,
		      const struct analysis_facts *f)
{
	uint64_t begin_ns = header_begin_ns(l->header);

	c->from_ns = l->from_ns > begin_ns ? l->from_ns : begin_ns ? begin_ns : f->first_ns;
	c->to_ns = l->to_ns && l->to_ns < f->last_ns ? l->to_ns : f->last_ns;
	/* The log goes on after the stretch that was asked for, but was not read any further. */
	if (l->to_ns && !f->ended && !l->damaged)
		c->to_ns = l->to_ns;
	if (c->to_ns < c->from_ns)
		c->to_ns = c->from_ns;
}

static uint64_t known_ns(const struct diff_collect *c, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t missing_ns = holes_missing_ns(c->analysis, from_ns, to_ns);

	return to_ns - from_ns > missing_ns ? to_ns - from_ns - missing_ns : 0;
}

static void set_times(const struct diff_collect *c)
{
	uint64_t length_ns = c->to_ns - c->from_ns;

	c->measures->recorded_ns = known_ns(c, c->from_ns, c->to_ns);
	for (unsigned i = 0; i < DIFF_WINDOWS; i++)
		c->measures->window_ns[i] =
			(double)known_ns(c, c->from_ns + length_ns / DIFF_WINDOWS * i,
					 c->from_ns + length_ns / DIFF_WINDOWS * (i + 1));
}

/* "17.0.15+6, G1, stock" */
static char *jvm_text(const json_t *header)
{
	const char *parts[] = {header_text(header, "jvm", "version"), header_collector(header),
			       header_text(header, "jvm", "kind")};
	struct strbuf b = {.most = 0};
	char *text;

	for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (*parts[i])
			strbuf_add(&b, "%s%s", b.used ? ", " : "", parts[i]);
	text = b.err ? NULL : strdup(strbuf_text(&b));
	strbuf_free(&b);
	return text;
}

static int set_facts(const struct diff_collect *c, const struct log_source *s,
		     const struct session_log *l, const struct analysis_facts *f,
		     struct diff_log_facts *ret)
{

	ret->name = strdup(s->name);
	ret->jvm = jvm_text(l->header);
	ret->recorded_ns = c->measures->recorded_ns;
	ret->missing_ns = holes_missing_ns(c->analysis, c->from_ns, c->to_ns);
	for (uint32_t i = 0; i < f->lost_count; i++)
		ret->lost += f->lost[i].count;
	ret->damaged = l->damaged;
	ret->no_end = !f->ended && !l->to_ns;
	return ret->name && ret->jvm ? 0 : -ENOMEM;
}

static int collect(struct reading *r, const struct analyzed_log *log, struct diff_side *side)
{
	unsigned at = side->figures.count;
	struct diff_collect c = {.selection = r->selection,
				 .watch = &r->watch,
				 .analysis = log->analysis,
				 .is_part = range_is_given(&r->source->range),
				 .measures = &side->figures.logs[at],
				 .waiters = &side->chains[DIFF_CHAINS_WAITERS][at],
				 .owners = &side->chains[DIFF_CHAINS_OWNERS][at]};
	struct diff_log_facts *ret = &side->logs[side->figures.count++];
	struct analysis_facts facts;
	int err;

	analysis_facts(log->analysis, &facts);
	set_range(&c, &log->log, &facts);
	set_times(&c);
	gc_series_finish(r->watch.gc);
	err = r->watch.err;
	if (!err && r->watch.facets.cells)
		err = facet_cells_error(r->watch.facets.cells);
	err = err ? err : spans_finish(r->watch.spans, facts.last_ns);
	err = err ? err : set_facts(&c, r->source, &log->log, &facts, ret);
	err = err ? err : diff_collect_blocked(&c);
	err = err ? err : diff_collect_threads(&c);
	err = err ? err : diff_collect_pauses(&c);
	err = err ? err : diff_collect_spans(&c);
	err = err ? err
		  : diff_running_collect(&c, &r->running, &log->log,
					 &side->chains[DIFF_CHAINS_RUNNING][at],
					 &side->chains[DIFF_CHAINS_WHOLE][at]);
	for (int kind = 0; kind < DIFF_CHAINS_COUNT; kind++)
		call_paths_sort(&side->chains[kind][at]);
	return err;
}

int diff_side_add(struct diff_side *side, struct log_source *source,
		  const struct diff_selection *selection)
{
	struct reading r = {.selection = selection,
			    .source = source,
			    .watch.facets = {.source = source,
					     .facets = aspects_facets(selection->by,
								      selection->depth) |
						       where_facets(selection->where)}};
	const struct log_watch watch = {
		.begin = on_begin, .event = on_event, .hole = on_hole, .ctx = &r};
	struct analyzed_log log;
	int err = analyze_log_watched(source, &watch, &log);

	if (!err) {
		err = collect(&r, &log, side);
		if (err)
			msg_error("%s: cannot compare it: %s", source->name, max_memory_error(err));
		analyzed_log_close(&log);
	}
	watch_free(&r.watch);
	diff_running_free(&r.running);
	return err;
}

void diff_side_free(struct diff_side *side)
{
	for (unsigned i = 0; i < side->figures.count; i++) {
		measures_free(&side->figures.logs[i]);
		free(side->logs[i].name);
		free(side->logs[i].jvm);
		for (int kind = 0; kind < DIFF_CHAINS_COUNT; kind++)
			call_paths_free(&side->chains[kind][i]);
	}
}
