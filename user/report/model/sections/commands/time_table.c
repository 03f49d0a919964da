#include "report/model/sections/commands/time_report.h"

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

struct time_cell time_cell_get(const struct time_table *t, uint32_t row, uint32_t window)
{
	struct time_cell ret = {.threads = 0};

	for (uint32_t i = t->first[row]; i < t->first[row + 1]; i++) {
		struct states one = state_windows_states(t->course, t->threads[i], window);

		if (!states_sum(&one))
			continue;
		ret.threads++;
		states_add(&ret.states, &one);
	}
	return ret;
}

/* By the index of a thread in the analysis: what it has in all windows. NULL: no memory. */
static struct states *sum_windows(const struct wall *w)
{
	struct states *ret = calloc((size_t)w->map.count + 1, sizeof(*ret));

	for (uint32_t i = 0; i < w->map.count && ret; i++) {
		for (uint32_t k = 0; k < w->windows.window_count; k++) {
			struct states one = state_windows_states(&w->windows, i, k);

			states_add(&ret[i], &one);
		}
	}
	return ret;
}

/* The row of cells that a thread is in, or INDEX_NONE. */
static uint32_t row_of(const struct time_table *t, uint32_t thread)
{
	uint32_t row = t->rows.of[thread];

	return row == INDEX_NONE || row < t->shown ? row : t->shown;
}

/* Puts the threads by their rows, which they stay in order in. */
static void sort_threads(struct time_table *t, uint32_t count)
{
	uint32_t rows = time_row_count(t), row;

	for (uint32_t i = 0; i < count; i++)
		if ((row = row_of(t, i)) != INDEX_NONE)
			t->first[row + 1]++;
	for (uint32_t r = 0; r < rows; r++)
		t->first[r + 1] += t->first[r];
	/* Backwards, so that at the end each row's begin is where it was. */
	for (uint32_t r = rows; r; r--)
		t->first[r] = t->first[r - 1];
	for (uint32_t i = 0; i < count; i++)
		if ((row = row_of(t, i)) != INDEX_NONE)
			t->threads[t->first[row + 1]++] = i;
}

static int fill(const struct time_input *in, const struct states *states, struct time_table *t)
{
	uint32_t count = analysis_wall(in->in->log->analysis)->map.count, row;

	t->shown = in->in->top && in->in->top < t->rows.count ? in->in->top : t->rows.count;
	t->more = t->rows.count - t->shown;
	t->first = calloc((size_t)time_row_count(t) + 2, sizeof(*t->first));
	t->threads = calloc((size_t)count + 1, sizeof(*t->threads));
	t->sums = calloc((size_t)time_row_count(t) + 1, sizeof(*t->sums));
	if (!t->first || !t->threads || !t->sums)
		return -ENOMEM;
	sort_threads(t, count);
	for (uint32_t i = 0; i < count; i++)
		if ((row = row_of(t, i)) != INDEX_NONE)
			states_add(&t->sums[row], &states[i]);
	return 0;
}

int time_table_make(const struct time_input *in, struct time_table *ret)
{
	const struct wall *w = analysis_wall(in->in->log->analysis);
	struct time_table t = {.windows = w->windows.windows,
			       .window_count = w->windows.window_count,
			       .course = &w->windows};
	struct states *states = sum_windows(w);
	int err = states ? wall_rows_make(w, analysis_names(in->in->log->analysis), states, false,
					  in->by, &t.rows)
			 : -ENOMEM;

	if (!err)
		err = fill(in, states, &t);
	if (err)
		time_table_free(&t);
	else
		*ret = t;
	free(states);
	return err;
}

void time_table_free(struct time_table *t)
{
	wall_rows_free(&t->rows);
	free(t->first);
	free(t->threads);
	free(t->sums);
	*t = (struct time_table){0};
}
