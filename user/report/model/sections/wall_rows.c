#include "report/model/sections/wall_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/registry/analysis.h"
#include "analyze/threads/wall.h"
#include "log/read/names.h"
#include "report/model/label.h"

/* Time in which a thread ran, or could have run, by its states: one that
 * parks, or reads from a socket, may as well have nothing to do. */
static uint64_t demand_ns(const struct states *s)
{
	return s->ns[STATE_RUNNING] + s->ns[STATE_STOLEN] + s->ns[STATE_RUNNABLE] +
	       s->ns[STATE_THROTTLED] + s->ns[STATE_LOCK] + s->ns[STATE_PAUSE];
}

bool wall_has_reasons(const struct report_input *in)
{
	return analysis_wall(in->log->analysis)->has_reasons ||
	       json_object_get(json_object_get(in->log->header, "sources"), "throttled");
}

const char *state_title(enum state state, bool has_reasons)
{
	if (state == STATE_IO)
		return "I/O";
	return state == STATE_OTHER && !has_reasons ? "blocked" : state_name(state);
}

char state_letter(enum state state, bool has_reasons)
{
	static const char letters[] = "RSQTLWPZIX.";

	_Static_assert(sizeof(letters) == STATE_COUNT + 1, "a letter for each");
	return state == STATE_OTHER && !has_reasons ? 'B' : letters[state];
}

const char *thread_group_title(enum thread_group group)
{
	static const char *const titles[] = {"Java threads", "GC threads", "compiler threads",
					     "other VM threads", "native threads"};

	_Static_assert(sizeof(titles) / sizeof(*titles) == THREAD_GROUP_COUNT, "a title for each");
	return titles[group];
}

const char *name_wall_row(const struct log_names *names, const struct wall_row *row,
			  enum wall_by by)
{
	if (by == WALL_BY_GROUP)
		return thread_group_name(row->group);
	return row->name ? row->name : name_thread(names, row->thread, "(unknown)");
}

char *label_wall_row(const struct labels *l, const struct wall_row *row, enum wall_by by, char *buf)
{
	if (by == WALL_BY_GROUP)
		return label_clean(thread_group_title(row->group), buf);
	return row->name ? label_clean(row->name, buf) : label_thread(l, row->thread, buf);
}

/* --- rows -------------------------------------------------------------------------------- */

struct maker {
	const struct wall *wall;
	const struct states *states;
	bool idle;
	enum wall_by by;
	struct pool_thread *names; /* by index */
	uint32_t *map;             /* of those that are in a row */
	uint32_t count;
};

static uint32_t row_of(const struct maker *m, const struct wall_rows *r, uint32_t i)
{
	switch (m->by) {
	case WALL_BY_GROUP:
		return m->names[i].group;
	case WALL_BY_POOL:
		return r->pools.of[i];
	default:
		return i;
	}
}

static uint32_t row_count(const struct maker *m, const struct wall_rows *r)
{
	return m->by == WALL_BY_GROUP  ? THREAD_GROUP_COUNT
	       : m->by == WALL_BY_POOL ? r->pools.count
				       : m->count;
}

static void fill(const struct maker *m, struct wall_rows *r)
{
	for (uint32_t i = 0; i < m->count; i++) {
		uint32_t index = m->map[i], at = row_of(m, r, i);
		struct wall_row *row = &r->rows[at];

		r->of[index] = at;
		row->group = m->names[i].group;
		row->thread = m->wall->threads[index].thread;
		row->threads++;
		states_add(&row->states, &m->states[index]);
	}
	for (uint32_t i = 0; m->by == WALL_BY_POOL && i < r->count; i++)
		r->rows[i].name = r->rows[i].threads > 1 ? r->pools.pools[i].name : NULL;
}

struct rank {
	const struct wall_row *row;
	uint32_t index;
};

static int compare_ranks(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	bool java_x = x->row->group == THREAD_GROUP_JAVA,
	     java_y = y->row->group == THREAD_GROUP_JAVA;
	uint64_t x_ns = demand_ns(&x->row->states), y_ns = demand_ns(&y->row->states);

	if (java_x != java_y)
		return java_x ? -1 : 1;
	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* Groups without threads go. */
static int sort(const struct wall *w, struct wall_rows *r)
{
	struct rank *ranks = calloc(r->count + 1, sizeof(*ranks));
	struct wall_row *rows = calloc(r->count + 1, sizeof(*rows));
	uint32_t *at = calloc(r->count + 1, sizeof(*at)), count = 0;
	int err = ranks && rows && at ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < r->count && !err; i++) {
		if (r->rows[i].threads)
			ranks[count++] = (struct rank){&r->rows[i], i};
	}
	if (!err) {
		qsort(ranks, count, sizeof(*ranks), compare_ranks);
		for (uint32_t i = 0; i < count; i++) {
			rows[i] = *ranks[i].row;
			at[ranks[i].index] = i;
		}
		for (uint32_t i = 0; i < w->map.count; i++)
			r->of[i] = r->of[i] == INDEX_NONE ? INDEX_NONE : at[r->of[i]];
		free(r->rows);
		r->rows = rows;
		r->count = count;
		rows = NULL;
	}
	free(rows);
	free(ranks);
	free(at);
	return err;
}

static int find_threads(struct maker *m, const struct log_names *names, struct wall_rows *r)
{
	uint32_t count = m->wall->map.count;

	m->names = calloc(count + 1, sizeof(*m->names));
	m->map = calloc(count + 1, sizeof(*m->map));
	r->of = calloc(count + 1, sizeof(*r->of));
	if (!m->names || !m->map || !r->of)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct log_thread *t = log_names_thread(names, m->wall->threads[i].thread);
		const char *name = t && *t->name ? t->name : "(unknown)";

		r->of[i] = INDEX_NONE;
		if (!m->wall->threads[i].sampled || (!m->idle && !states_sum(&m->states[i])))
			continue;
		m->map[m->count] = i;
		m->names[m->count++] =
			(struct pool_thread){name, thread_group_of(name, t && t->java_id)};
	}
	return 0;
}

int wall_rows_make(const struct wall *w, const struct log_names *names, const struct states *states,
		   bool idle, enum wall_by by, struct wall_rows *ret)
{
	struct maker m = {.wall = w, .states = states, .idle = idle, .by = by};
	struct wall_rows r = {0};
	int err = find_threads(&m, names, &r);

	if (!err && by == WALL_BY_POOL)
		err = pools_make(m.names, m.count, &r.pools);
	if (!err) {
		r.count = row_count(&m, &r);
		r.rows = calloc(r.count + 1, sizeof(*r.rows));
		err = r.rows ? 0 : -ENOMEM;
	}
	if (!err) {
		fill(&m, &r);
		err = sort(w, &r);
	}
	free(m.names);
	free(m.map);
	if (err)
		wall_rows_free(&r);
	else
		*ret = r;
	return err;
}

void wall_rows_free(struct wall_rows *r)
{
	free(r->rows);
	free(r->of);
	pools_free(&r->pools);
	*r = (struct wall_rows){0};
}
