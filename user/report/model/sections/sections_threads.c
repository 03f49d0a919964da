/* Where the time of threads went: of people's pools and kinds of threads, and of each thread. */
#include <stdio.h>
#include <stdlib.h>

#include "analyze/registry/analysis.h"
#include "analyze/threads/wall.h"
#include "log/read/names.h"
#include "report/model/label.h"
#include "report/model/sections/section_internal.h"
#include "report/model/sections/sections.h"
#include "report/model/sections/wall_rows.h"

static int make_rows(const struct section_input *in, struct wall_rows *ret)
{
	const struct wall *w = analysis_wall(in->analysis);
	struct states *states = calloc(w->map.count + 1, sizeof(*states));
	int err = -1;

	for (uint32_t i = 0; i < w->map.count && states; i++)
		states[i] = wall_thread_states(&w->threads[i]);
	if (states)
		err = wall_rows_make(w, in->names, states, true, WALL_BY_POOL, ret);
	free(states);
	return err;
}

static void add_row(struct findings *f, const char *name, uint32_t threads, const struct states *s)
{
	findings_row(f, FINDINGS_ALL);
	findings_text(f, name, NULL);
	findings_number(f, threads);
	findings_numbers(f, s->ns, STATE_COUNT);
	findings_number(f, states_sum(s));
}

struct sum {
	uint32_t rows, threads;
	struct states states;
};

static void sum_add(struct sum *sum, const struct wall_row *row)
{
	sum->rows++;
	sum->threads += row->threads;
	states_add(&sum->states, &row->states);
}

/* The first rows are those of Java threads. */
static void add_java(const struct section_input *in, const struct wall_rows *rows,
		     struct findings *f)
{
	struct sum rest = {0};
	char name[LABEL_MAX];

	for (uint32_t i = 0; i < rows->count && rows->rows[i].group == THREAD_GROUP_JAVA; i++) {
		const struct wall_row *row = &rows->rows[i];

		if (i < in->in->top)
			add_row(f, label_wall_row(in->labels, row, WALL_BY_POOL, name),
				row->threads, &row->states);
		else
			sum_add(&rest, row);
	}
	snprintf(name, sizeof(name), "(%u more)", rest.rows);
	if (rest.rows)
		add_row(f, name, rest.threads, &rest.states);
}

/* A row for each group, and with --full one for each pool of it. */
static void add_group(const struct section_input *in, const struct wall_rows *rows,
		      enum thread_group group, struct findings *f)
{
	char name[LABEL_MAX], within[LABEL_MAX + 2];
	struct sum sum = {0};

	for (uint32_t i = 0; i < rows->count; i++) {
		if (rows->rows[i].group == group)
			sum_add(&sum, &rows->rows[i]);
	}
	snprintf(name, sizeof(name), "(%s)", thread_group_title(group));
	if (sum.rows)
		add_row(f, name, sum.threads, &sum.states);
	for (uint32_t i = 0; i < rows->count && in->in->full; i++) {
		const struct wall_row *row = &rows->rows[i];

		if (row->group != group)
			continue;
		snprintf(within, sizeof(within), "  %s",
			 label_wall_row(in->labels, row, WALL_BY_POOL, name));
		add_row(f, within, row->threads, &row->states);
	}
}

struct findings *section_wall(const struct section_input *in)
{
	struct findings_column columns[STATE_COUNT + 3] = {
		{.title = "thread", .least = 28, .most = 44},
		{.title = "threads", .unit = FINDINGS_COUNT, .least = 7},
		[STATE_COUNT + 2] = {.title = "sum", .unit = FINDINGS_NS}};
	struct sum all = {0};
	struct wall_rows rows;
	struct findings *f;

	if (make_rows(in, &rows))
		return NULL;
	section_states(columns + 2, &(struct findings_column){.flags = FINDINGS_IF_ANY},
		       wall_has_reasons(in->in));
	columns[2 + STATE_RUNNING].flags = 0;
	f = FINDINGS_NEW(columns);
	add_java(in, &rows, f);
	for (int group = THREAD_GROUP_JAVA + 1; group < THREAD_GROUP_COUNT; group++)
		add_group(in, &rows, group, f);
	for (uint32_t i = 0; i < rows.count; i++)
		sum_add(&all, &rows.rows[i]);
	if (rows.count)
		add_row(f, "all", all.threads, &all.states);
	wall_rows_free(&rows);
	return f;
}

/* running_ns to blocked_ns are the counters of the log: runnable_ns includes throttled time. */
static void add_thread(const struct section_input *in, const struct wall_thread *t,
		       const struct wall_row *pool, struct findings *f)
{
	const struct log_thread *known = log_names_thread(in->names, t->thread);
	struct states s = wall_thread_states(t);
	uint64_t blocked_ns = 0;
	char label[LABEL_MAX];

	for (int i = STATE_THROTTLED + 1; i < STATE_COUNT; i++)
		blocked_ns += s.ns[i];
	findings_row(f, FINDINGS_ALL);
	findings_text(f, name_thread(in->names, t->thread, "(unknown)"),
		      label_thread(in->labels, t->thread, label));
	FINDINGS_NUMBERS(f, known ? known->tid : 0, known ? known->java_id : 0, s.ns[STATE_RUNNING],
			 s.ns[STATE_STOLEN], s.ns[STATE_RUNNABLE] + s.ns[STATE_THROTTLED],
			 blocked_ns);
	findings_numbers(f, s.ns, STATE_COUNT);
	findings_number(f, wall_thread_ns(t));
	findings_maybe(f, t->holes, t->missing_ns);
	findings_maybe(f, t->checked, (uint64_t)wall_thread_error(t));
	findings_text(f, thread_group_name(pool->group), NULL);
	findings_text(f, name_wall_row(in->names, pool, WALL_BY_POOL), NULL);
}

struct findings *section_threads(const struct section_input *in)
{
	struct findings_column columns[] = {
		{.key = "name", .title = "thread", .least = 28, .most = 44},
		{.key = "tid", .unit = FINDINGS_NUMBER},
		{.key = "java_id", .unit = FINDINGS_NUMBER},
		{.key = "running_ns", .title = "running", .unit = FINDINGS_NS},
		{.key = "stolen_ns", .title = "stolen", .unit = FINDINGS_NS},
		{.key = "runnable_ns",
		 .title = "runnable",
		 .meaning = "Waiting for a CPU, or throttled.",
		 .unit = FINDINGS_NS},
		{.key = "blocked_ns", .title = "blocked", .unit = FINDINGS_NS},
		[7 + STATE_COUNT] = {.key = "wall_ns",
				     .title = "watched",
				     .meaning = "How long it was watched, by the clock.",
				     .unit = FINDINGS_NS},
		{.key = "missing_ns",
		 .meaning = "Between the samples around holes in the log: in no state.",
		 .unit = FINDINGS_NS},
		{.key = "error_ns",
		 .meaning = "What the states add up to too much; none: not known.",
		 .unit = FINDINGS_MORE_NS,
		 .flags = FINDINGS_NULL},
		{.key = "group", .meaning = "java, gc, compiler, vm or native."},
		{.key = "pool"},
	};
	const struct wall *w = analysis_wall(in->analysis);
	bool has_reasons = wall_has_reasons(in->in);
	struct wall_rows rows;
	struct findings *f;

	if (make_rows(in, &rows))
		return NULL;
	for (int i = 0; i < STATE_COUNT; i++)
		columns[7 + i].unit = FINDINGS_NS;
	if (has_reasons)
		section_states(columns + 7, &(struct findings_column){.group = "states"},
			       has_reasons);
	f = FINDINGS_NEW(columns);
	for (uint32_t i = 0; i < w->map.count; i++) {
		if (rows.of[i] != INDEX_NONE)
			add_thread(in, &w->threads[i], &rows.rows[rows.of[i]], f);
	}
	wall_rows_free(&rows);
	return f;
}
