/*
 * Each interval of a recording is analysed by itself, and what was found is added to sums that only
 * grow. A thread that is blocked when an interval ends has its time up to then counted in it: the
 * next interval counts it from its begin on. (A contention that has ended is in the analysis as a
 * whole, or from somewhere before the interval's begin on: what was before is taken off again.)
 * What it had before is kept, so that it has its whole length in the histogram.
 */
#include "report/live/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells/blocked_list.h"
#include "analyze/contention/contention.h"
#include "analyze/groups/contended.h"
#include "analyze/groups/groups.h"
#include "analyze/registry/analysis.h"
#include "analyze/spans/spans.h"
#include "analyze/threads/sched.h"
#include "analyze/threads/wall.h"
#include "analyze/vm/pause.h"
#include "log/format/header_fields.h"
#include "report/live/live_cells.h"
#include "report/live/live_view.h"
#include "report/live/metrics_internal.h"
#include "report/model/label.h"
#include "report/model/sections/wall_rows.h"
#include "session/session_log.h"

#define CPUS_MAX 256

struct metrics *metrics_new(unsigned labels_max)
{
	struct metrics *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	if (!metrics_table_init(&m->locks, labels_max, LOCK_VALUE_COUNT) &&
	    !metrics_table_init(&m->pools, labels_max, POOL_VALUE_COUNT) &&
	    !metrics_table_init(&m->gcs, labels_max, GC_VALUE_COUNT) &&
	    !metrics_table_init(&m->spans, labels_max, SPAN_VALUE_COUNT) &&
	    !metrics_table_init(&m->methods, labels_max, METHOD_VALUE_COUNT) &&
	    !metrics_table_init(&m->cpus, CPUS_MAX, 1))
		return m;
	metrics_free(m);
	return NULL;
}

void metrics_free(struct metrics *m)
{
	if (!m)
		return;
	metrics_table_free(&m->locks);
	metrics_table_free(&m->pools);
	metrics_table_free(&m->gcs);
	metrics_table_free(&m->spans);
	metrics_table_free(&m->cpus);
	metrics_table_free(&m->methods);
	free(m->carried);
	free(m);
}

/* --- an interval ------------------------------------------------------------------------------ */

struct interval {
	struct metrics *m;
	const struct live_view *v;
	const struct analysis *a;
	const struct log_names *names;
	struct labels *labels;
};

static uint64_t *lock_row(const struct interval *in, uint64_t lock, bool monitor)
{
	char label[LABEL_MAX];

	label_class(in->labels, lock, label);
	if (metrics_name(label))
		return NULL;
	return metrics_table_row(&in->m->locks, label, name_group(in->names, lock, monitor));
}

/* Without its part of what was before the begin: the interval before has had that as open. */
static uint64_t later(const uint64_t *row, uint64_t ns)
{
	uint64_t now_ns = row[LOCK_NOW_NS], early_ns = row[LOCK_EARLY_NS];

	early_ns = early_ns < now_ns ? early_ns : now_ns;
	return now_ns ? (uint64_t)((unsigned __int128)ns * (now_ns - early_ns) / now_ns) : ns;
}

static void add_lock(uint64_t *row, const struct group *g)
{
	const uint64_t held[HELD_COUNT] = {g->split.running_ns,  g->split.stolen_ns,
					   g->split.runnable_ns, g->split.throttled_ns,
					   g->split.blocked_ns,  g->split.unknown_ns};

	row[LOCK_BLOCKED_NS] += later(row, g->blocked_ns);
	row[LOCK_IDLE_NS] += later(row, g->idle_ns);
	row[LOCK_CONTENTIONS] += g->count;
	for (int k = 0; k < HELD_COUNT; k++)
		row[LOCK_HELD_NS + k] += later(row, held[k]);
}

/* A class and its kinds of locks; all of one are in one row. */
static int for_locks(const struct interval *in, const struct group *root,
		     void (*add)(uint64_t *row, const struct group *g))
{
	for (uint32_t i = 0; i < root->group_count; i++) {
		const struct group *class = &root->groups[i];

		for (uint32_t k = 0; k < class->group_count; k++) {
			const struct cell *cell = class->groups[k].cell;
			uint64_t *row = lock_row(in, cell->lock, cell->monitor);

			if (!row)
				return -ENOMEM;
			add(row, &class->groups[k]);
		}
	}
	return 0;
}

static void add_now(uint64_t *row, const struct group *g)
{
	row[LOCK_NOW_NS] += g->blocked_ns;
}

/* What it was blocked for before this interval began, if it was blocked then: of one thread and
 * lock, that is the first contention that ends. */
static uint64_t before(const struct interval *in, uint64_t lock, uint64_t waiter)
{
	struct metrics *m = in->m;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < m->carried_count && m->carried_at_ns == in->v->from_ns; i++) {
		struct metrics_carried *c = &m->carried[i];

		if (c->lock != lock || c->waiter != waiter)
			continue;
		ns = c->ns;
		c->ns = 0;
		break;
	}
	return ns;
}

static void add_buckets(uint64_t *row, const struct time_buckets *b)
{
	for (int i = 0; i <= TIME_BUCKETS; i++)
		row[i] += b->counts[i];
}

static int add_lengths(const struct interval *in, const struct blocked_list *l)
{
	for (uint32_t i = 0; i < l->count; i++) {
		const struct blocked_interval *b = &l->rows[i];
		uint64_t ns = b->until_ns - b->since_ns, early_ns, *row;
		struct time_buckets one = {.counts = {0}};

		if (!lock_is_contended(in->names, b->key.lock, b->monitor))
			continue;
		row = lock_row(in, b->key.lock, b->monitor);
		if (!row)
			return -ENOMEM;
		early_ns = b->since_ns < in->v->from_ns ? in->v->from_ns - b->since_ns : 0;
		row[LOCK_EARLY_NS] += early_ns < ns ? early_ns : ns;
		ns -= early_ns < ns ? early_ns : ns;
		ns += before(in, b->key.lock, b->key.waiter);
		time_buckets_add(&one, ns);
		add_buckets(row + LOCK_BUCKETS, &one);
		row[LOCK_LENGTHS_NS] += ns;
	}
	return 0;
}

static int add_cells(const struct interval *in, const struct blocked_list *intervals)
{
	static const enum aspect_id by[] = {ASPECT_LOCK_CLASS, ASPECT_GROUP};
	uint32_t count;
	const struct cell *cells = contention_cells(analysis_contention(in->a), &count);
	struct metrics_table *t = &in->m->locks;
	struct group root;
	int err = groups_make(analysis_stacks(in->a), cells, count, by, 2, GROUP_BY_TIME, &root);

	if (err)
		return err;
	for (uint32_t i = 0; i <= t->max; i++)
		metrics_table_values(t, i)[LOCK_NOW_NS] =
			metrics_table_values(t, i)[LOCK_EARLY_NS] = 0;
	err = for_locks(in, &root, add_now);
	err = err ? err : add_lengths(in, intervals);
	err = err ? err : for_locks(in, &root, add_lock);
	groups_free(&root);
	return err;
}

/* The next interval counts them from its begin on. */
static int add_open(const struct interval *in)
{
	struct metrics_carried *carried = NULL;
	uint32_t count, capacity = 0, kept = 0;
	const struct contention_open *open = contention_open(analysis_contention(in->a), &count);
	struct metrics *m = in->m;
	int err = 0;

	for (uint32_t i = 0; i <= m->locks.max; i++)
		metrics_table_values(&m->locks, i)[LOCK_WAITERS] = 0;
	for (uint32_t i = 0; i < count && !err; i++) {
		const struct contention_open *o = &open[i];
		const struct contention_lock *l =
			contention_lock_find(analysis_contention(in->a), o->lock);
		uint64_t *row, ns = live_open_ns(in->v, o);

		if (!lock_is_contended(in->names, o->lock, l && l->monitor))
			continue;
		row = lock_row(in, o->lock, l && l->monitor);
		err = row ? array_grow(&carried, &capacity, kept, sizeof(*carried)) : -ENOMEM;
		if (err)
			break;
		row[LOCK_BLOCKED_NS] += ns;
		row[LOCK_HELD_NS + HELD_UNKNOWN] += ns;
		row[LOCK_WAITERS]++;
		carried[kept++] = (struct metrics_carried){o->lock, o->waiter,
							   ns + before(in, o->lock, o->waiter)};
	}
	free(m->carried);
	m->carried = carried;
	m->carried_count = kept;
	m->carried_at_ns = in->v->to_ns;
	return err;
}

static int add_threads(const struct interval *in)
{
	const struct wall *w = analysis_wall(in->a);
	struct states *states = calloc(w->map.count + 1ul, sizeof(*states));
	struct wall_rows rows;
	char label[LABEL_MAX];
	uint64_t *row;
	int err = states ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < w->map.count && !err; i++)
		states[i] = wall_thread_states(&w->threads[i]);
	err = err ? err : wall_rows_make(w, in->names, states, true, WALL_BY_POOL, &rows);
	free(states);
	if (err)
		return err;
	for (uint32_t i = 0; i <= in->m->pools.max; i++)
		metrics_table_values(&in->m->pools, i)[POOL_THREADS] = 0;
	for (uint32_t i = 0; i < rows.count && !err; i++) {
		label_wall_row(in->labels, &rows.rows[i], WALL_BY_POOL, label);
		row = metrics_table_row(&in->m->pools, label, NULL);
		err = row ? 0 : -ENOMEM;
		for (int k = 0; k < STATE_COUNT && row; k++)
			row[k] += rows.rows[i].states.ns[k];
		if (row)
			row[POOL_THREADS] += rows.rows[i].threads;
	}
	wall_rows_free(&rows);
	return err;
}

static int add_pauses(const struct interval *in)
{
	static const char *const kinds[GC_KIND_COUNT] = {"unknown", "young", "full", "concurrent"};
	const struct pauses *p = analysis_pauses(in->a);
	char label[LABEL_MAX];
	uint64_t *row;

	for (uint32_t i = 0; i < p->gc_map.count; i++) {
		const struct pause_gc *g = &p->gcs[i];

		row = metrics_table_row(&in->m->gcs,
					label_string(in->labels, g->collector, "unknown", label),
					kinds[g->kind < GC_KIND_COUNT ? g->kind : 0]);
		if (!row)
			return -ENOMEM;
		row[GC_PAUSES] += g->times.count;
		row[GC_NS] += g->times.total_ns;
		add_buckets(row + GC_BUCKETS, &g->times.buckets);
	}
	metrics_add_safepoints(in->m, in->a);
	return 0;
}

/* Those with the most time come first. */
static int add_spans(const struct interval *in, const struct spans *spans)
{
	uint32_t count = 0;
	const struct span_name *const *names = spans ? spans_by_name(spans, &count) : NULL;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t *row = metrics_table_row(&in->m->spans, names[i]->text, NULL);

		if (!row)
			return -ENOMEM;
		row[SPAN_NS] += names[i]->total_ns;
		add_buckets(row + SPAN_BUCKETS, &names[i]->buckets);
	}
	return 0;
}

static int add_cpus(const struct interval *in)
{
	const struct sched *s = analysis_sched(in->a);
	char number[24];
	uint64_t *row;

	for (uint32_t i = 0; i < s->cpu_map.count; i++) {
		snprintf(number, sizeof(number), "%" PRIu64, s->cpus[i].cpu);
		row = metrics_table_row(&in->m->cpus, number, NULL);
		if (!row)
			return -ENOMEM;
		*row += sched_cpu_growth(&s->cpus[i], SCHED_CPU_CLOCK_NS);
	}
	return 0;
}

int metrics_add(struct metrics *m, const struct metrics_interval *interval)
{
	const struct live_view *v = interval->view;
	struct interval in = {.m = m, .v = v, .a = v->log->analysis};
	int err = interval->blocked->err;

	in.names = analysis_names(in.a);
	in.labels = labels_new(in.names);
	snprintf(m->kind, sizeof(m->kind), "%s", header_text(v->log->header, "jvm", "kind"));
	snprintf(m->version, sizeof(m->version), "%s",
		 header_text(v->log->header, "jvm", "version"));
	err = err || in.labels ? err : -ENOMEM;
	err = err ? err : add_cells(&in, interval->blocked);
	err = err ? err : add_open(&in);
	err = err ? err : add_threads(&in);
	err = err ? err : add_pauses(&in);
	err = err ? err : add_cpus(&in);
	err = err ? err : add_spans(&in, interval->spans);
	err = err ? err : metrics_add_methods(m, interval);
	labels_free(in.labels);
	metrics_add_lost(m, interval);
	m->unseen_ns += v->unseen_ns;
	m->record_cpu_ns += v->record_cpu_ns;
	m->view_cpu_ns += v->view_cpu_ns;
	m->seen_ns += v->to_ns - v->from_ns;
	m->intervals++;
	return err;
}

void metrics_end(struct metrics *m)
{
	m->ended = true;
}
