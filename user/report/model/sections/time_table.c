#include "report/model/sections/time_report.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/registry/analysis.h"
#include "analyze/threads/wall.h"

uint64_t time_since_start(const struct time_input *in, uint64_t ns)
{
	return ns > in->start_ns ? ns - in->start_ns : 0;
}

uint32_t time_row_count(const struct time_table *t)
{
	return t->shown + !!t->more;
}

const struct time_cell *time_cell_get(const struct time_table *t, uint32_t row, uint32_t window)
{
	return &t->cells[(size_t)row * t->window_count + window];
}

static int make_rows(const struct time_input *in, struct time_table *t)
{
	const struct wall *w = analysis_wall(in->in->log->analysis);
	struct states *states = calloc(w->map.count + 1, sizeof(*states));
	int err;

	if (!states)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->map.count; i++) {
		for (uint32_t k = 0; k < w->windows.window_count; k++) {
			struct states one = state_windows_states(&w->windows, i, k);

			states_add(&states[i], &one);
		}
	}
	err = wall_rows_make(w, analysis_names(in->in->log->analysis), states, false, in->by,
			     &t->rows);
	free(states);
	return err;
}

static void add_thread(const struct state_windows *c, uint32_t thread, struct time_table *t,
		       uint32_t row)
{
	struct time_cell *cells = &t->cells[(size_t)row * t->window_count];

	for (uint32_t k = 0; k < t->window_count; k++) {
		struct states one = state_windows_states(c, thread, k);

		if (!states_sum(&one))
			continue;
		cells[k].threads++;
		states_add(&cells[k].states, &one);
		states_add(&t->sums[row], &one);
	}
}

static int fill(const struct time_input *in, struct time_table *t)
{
	const struct wall *w = analysis_wall(in->in->log->analysis);
	uint32_t rows;

	t->shown = in->in->top && in->in->top < t->rows.count ? in->in->top : t->rows.count;
	t->more = t->rows.count - t->shown;
	rows = time_row_count(t);
	t->cells = calloc((size_t)rows * t->window_count + 1, sizeof(*t->cells));
	t->sums = calloc(rows + 1, sizeof(*t->sums));
	if (!t->cells || !t->sums)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->map.count; i++) {
		uint32_t row = t->rows.of[i];

		if (row != INDEX_NONE)
			add_thread(&w->windows, i, t, row < t->shown ? row : t->shown);
	}
	return 0;
}

int time_table_make(const struct time_input *in, struct time_table *ret)
{
	const struct state_windows *c = &analysis_wall(in->in->log->analysis)->windows;
	struct time_table t = {.windows = c->windows, .window_count = c->window_count};
	int err = make_rows(in, &t);

	if (!err)
		err = fill(in, &t);
	if (err)
		time_table_free(&t);
	else
		*ret = t;
	return err;
}

void time_table_free(struct time_table *t)
{
	wall_rows_free(&t->rows);
	free(t->cells);
	free(t->sums);
	*t = (struct time_table){0};
}
