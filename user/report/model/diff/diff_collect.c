/* Threads' states, pauses and spans of a log, by name, with their course where it is known. */
#include "report/model/diff/diff_collect.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/diff/generated_name.h"
#include "analyze/gc/gc_series.h"
#include "analyze/registry/analysis.h"
#include "analyze/spans/spans.h"
#include "analyze/threads/wall.h"
#include "base/text/strbuf.h"
#include "log/format/event.h"
#include "log/read/names.h"
#include "report/model/sections/wall_rows.h"

/* "prefix" and name and "suffix", as one name. NULL: no memory. */
static struct measure *row_named(const struct diff_collect *c, enum measure_part part,
				 const char *prefix, const char *name, const char *suffix)
{
	struct strbuf b = {.most = 0};
	struct measure *m = NULL;

	strbuf_add(&b, "%s", prefix);
	generated_name_add(&b, name);
	strbuf_add(&b, "%s", suffix);
	if (!b.err)
		m = measures_row(c->measures, part, strbuf_text(&b));
	strbuf_free(&b);
	return m;
}

static uint32_t index_of(const struct diff_collect *c, const struct measure *m)
{
	return m ? (uint32_t)(m - c->measures->rows) : INDEX_NONE;
}

/* --- states -------------------------------------------------------------------------------- */

struct threads {
	const struct diff_collect *c;
	const struct wall *wall;
	struct wall_rows rows;
	struct states *states;
	uint32_t (*indices)[STATE_COUNT]; /* of measures, by row */
	uint32_t java[STATE_COUNT], cpu;
	bool by_windows; /* sums, too: the first counters of a part are those since the begin */
};

static int totals_make(struct threads *t)
{
	struct measure *m;

	for (int s = 0; s < STATE_COUNT; s++) {
		m = row_named(t->c, MEASURE_TOTALS, "java_", state_name(s), "");
		t->java[s] = index_of(t->c, m);
		if (!m)
			return -ENOMEM;
		m->has_windows = !t->wall->windows.crowded;
	}
	m = measures_row(t->c->measures, MEASURE_TOTALS, "cpu");
	t->cpu = index_of(t->c, m);
	if (m)
		m->has_windows = !t->wall->windows.crowded;
	return m ? 0 : -ENOMEM;
}

/* Of one row, and of all. */
static void add_state(struct threads *t, uint32_t row, enum state state, uint64_t ns,
		      const struct state_window *window)
{
	const uint32_t indices[] = {t->indices[row][state],
				   t->rows.rows[row].group == THREAD_GROUP_JAVA ? t->java[state]
										: INDEX_NONE,
				   state == STATE_RUNNING ? t->cpu : INDEX_NONE};
	struct measures *all = t->c->measures;

	for (size_t i = 0; i < sizeof(indices) / sizeof(*indices); i++) {
		struct measure *m = indices[i] == INDEX_NONE ? NULL : &all->rows[indices[i]];

		if (m && (!window == !t->by_windows))
			m->ns += ns;
		if (m && window)
			windows_spread((double)ns, window->from_ns, window->to_ns, t->c->from_ns,
				       t->c->to_ns, m->windows);
	}
}

static int row_add(struct threads *t, uint32_t row)
{
	const struct wall_row *r = &t->rows.rows[row];
	char suffix[64];

	for (int s = 0; s < STATE_COUNT; s++) {
		struct measure *m;

		t->indices[row][s] = INDEX_NONE;
		if (!r->states.ns[s])
			continue;
		*suffix = '\0';
		buffer_add(suffix, sizeof(suffix), ": %s", state_name(s));
		m = row_named(t->c, MEASURE_POOLS, "",
			      name_wall_row(analysis_names(t->c->analysis), r, WALL_BY_POOL),
			      suffix);
		t->indices[row][s] = index_of(t->c, m);
		if (!m)
			return -ENOMEM;
		m->has_windows = !t->wall->windows.crowded;
		m->count += r->threads;
		add_state(t, row, s, r->states.ns[s], NULL);
	}
	return 0;
}

static void add_windows(struct threads *t)
{
	const struct state_windows *w = &t->wall->windows;

	for (uint32_t i = 0; i < t->wall->map.count && i < w->thread_count && !w->crowded; i++) {
		uint32_t row = t->rows.of[i];

		for (uint32_t k = 0; row != INDEX_NONE && k < w->window_count; k++) {
			struct states s = state_windows_states(w, i, k);

			for (int state = 0; state < STATE_COUNT; state++)
				if (s.ns[state])
					add_state(t, row, state, s.ns[state], &w->windows[k]);
		}
	}
}

static void set_cpu(const struct threads *t)
{
	const struct measure *cpu = &t->c->measures->rows[t->cpu];

	t->c->measures->cpu_ns = cpu->ns;
	for (unsigned i = 0; i < DIFF_WINDOWS; i++)
		t->c->measures->window_cpu_ns[i] = cpu->windows[i];
}

static int collect_threads(struct threads *t)
{
	int err = totals_make(t);

	for (uint32_t i = 0; i < t->rows.count && !err; i++)
		err = row_add(t, i);
	if (err)
		return err;
	add_windows(t);
	set_cpu(t);
	return 0;
}

int diff_collect_threads(const struct diff_collect *c)
{
	struct threads t = {.c = c, .wall = analysis_wall(c->analysis)};
	uint32_t count = t.wall->map.count;
	int err;

	t.by_windows = c->is_part && !t.wall->windows.crowded;
	t.states = calloc(count + 1, sizeof(*t.states));
	for (uint32_t i = 0; t.states && i < count; i++)
		t.states[i] = wall_thread_states(&t.wall->threads[i]);
	err = t.states ? wall_rows_make(t.wall, analysis_names(c->analysis), t.states, true,
					WALL_BY_POOL, &t.rows)
		       : -ENOMEM;
	if (!err) {
		t.indices = calloc(t.rows.count + 1, sizeof(*t.indices));
		err = t.indices ? collect_threads(&t) : -ENOMEM;
		wall_rows_free(&t.rows);
	}
	free(t.indices);
	free(t.states);
	return err;
}

/* --- collections --------------------------------------------------------------------------- */

static const char *kind_name(const struct gc_row *r)
{
	if (r->is_cycle)
		return r->is_minor ? ": minor cycle" : ": cycle";
	return r->kind == GC_KIND_YOUNG     ? ": young"
	       : r->kind == GC_KIND_FULL    ? ": full"
	       : r->kind == GC_KIND_UNKNOWN ? ": pause"
					    : ": pause of a cycle";
}

static void add_pause(const struct diff_collect *c, struct measure *m, const struct gc_row *r)
{
	uint64_t from_ns = r->begin_ns > c->from_ns ? r->begin_ns : c->from_ns;
	uint64_t to_ns = r->end_ns < c->to_ns ? r->end_ns : c->to_ns;

	m->has_windows = true;
	if (to_ns <= from_ns)
		return;
	m->count++;
	m->ns += to_ns - from_ns;
	windows_spread((double)(to_ns - from_ns), from_ns, to_ns, c->from_ns, c->to_ns, m->windows);
}

int diff_collect_pauses(const struct diff_collect *c)
{
	uint32_t count;
	const struct gc_row *rows = gc_series_rows(c->watch->gc, &count);
	struct measure *m = measures_row(c->measures, MEASURE_TOTALS, "gc_pauses");

	if (!m)
		return -ENOMEM;
	m->has_windows = true;
	for (uint32_t i = 0; i < count; i++) {
		const char *name = log_names_string(analysis_names(c->analysis), rows[i].collector);

		m = row_named(c, MEASURE_PAUSES, "", name ? name : "(unknown)",
			      kind_name(&rows[i]));
		if (!m)
			return -ENOMEM;
		add_pause(c, m, &rows[i]);
		m = rows[i].is_cycle ? NULL
				     : measures_row(c->measures, MEASURE_TOTALS, "gc_pauses");
		if (m)
			add_pause(c, m, &rows[i]);
	}
	return 0;
}

/* --- spans --------------------------------------------------------------------------------- */

static int add_span(const struct diff_collect *c, const struct span_name *s)
{
	static const struct {
		const char *suffix;
		unsigned per_mille;
	} quantiles[] = {{": p50", 500}, {": p90", 900}, {": p99", 990}};
	struct measure *m = row_named(c, MEASURE_SPANS, "", s->text, "");

	if (!m)
		return -ENOMEM;
	m->ns += s->total_ns;
	m->count += s->times.count;
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++) {
		m = row_named(c, MEASURE_SPAN_TIMES, "", s->text, quantiles[i].suffix);
		if (!m)
			return -ENOMEM;
		m->level = true;
		m->ns = quantiles_at(&s->times, quantiles[i].per_mille);
		m->count = s->times.count;
	}
	return 0;
}

/* Ends of all names have a course; that of the names that were asked for is taken to be the same.
 */
static void set_spans(const struct diff_collect *c, uint64_t spans)
{
	double windows[DIFF_WINDOWS] = {0}, all = 0;

	time_bins_windows(&c->watch->bins, 1, c->from_ns, c->to_ns, windows);
	for (unsigned i = 0; i < DIFF_WINDOWS; i++)
		all += windows[i];
	c->measures->spans = spans;
	for (unsigned i = 0; i < DIFF_WINDOWS && all > 0; i++)
		c->measures->window_spans[i] = windows[i] / all * (double)spans;
}

int diff_collect_spans(const struct diff_collect *c)
{
	uint32_t count;
	const struct span_name *const *names = spans_by_name(c->watch->spans, &count);
	uint64_t spans = 0;
	int err = 0;

	for (uint32_t i = 0; i < count && !err; i++) {
		err = add_span(c, names[i]);
		spans += names[i]->times.count;
	}
	set_spans(c, spans);
	return err;
}
