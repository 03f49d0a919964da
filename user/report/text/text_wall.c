#include "base/print.h"
#include "report/text/text_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/registry/analysis.h"
#include "base/format.h"
#include "log/format/header_fields.h"
#include "report/model/wall_rows.h"
#include "report/text/table.h"

#define COLUMNS_MAX (STATE_COUNT + 3)

struct wall_table {
	struct table *table;
	bool told;
	bool shown[STATE_COUNT];
	struct table_column columns[COLUMNS_MAX];
};

static int table_open(struct wall_table *w, const struct states *sum, bool told)
{
	unsigned count = 0;

	w->told = told;
	w->columns[count++] = (struct table_column){"thread", true, 28, 44, false};
	w->columns[count++] = (struct table_column){"threads", false, 7, 0, false};
	for (int i = 0; i < STATE_COUNT; i++) {
		w->shown[i] = sum->ns[i] || i == STATE_RUNNING;
		if (w->shown[i])
			w->columns[count++] =
				(struct table_column){state_title(i, told), false, 8, 0, false};
	}
	w->columns[count++] = (struct table_column){"sum", false, 8, 0, false};
	w->table = table_new(w->columns, count);
	return w->table ? 0 : -ENOMEM;
}

/* name: the first cell is there already if NULL. */
static void add_row(struct wall_table *w, uint32_t threads, const struct states *s)
{
	char buf[FORMAT_MAX];

	table_add(w->table, "%s", count_format(threads, buf));
	for (int i = 0; i < STATE_COUNT; i++) {
		if (w->shown[i])
			table_add(w->table, "%s", time_format(s->ns[i], buf));
	}
	table_add(w->table, "%s", time_format(states_sum(s), buf));
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
static void add_java(struct text *t, struct wall_table *w, const struct wall_rows *rows)
{
	struct sum rest = {0};
	char name[LABEL_MAX];

	for (uint32_t i = 0; i < rows->count && rows->rows[i].group == THREAD_GROUP_JAVA; i++) {
		const struct wall_row *row = &rows->rows[i];

		if (i >= t->in->top) {
			sum_add(&rest, row);
			continue;
		}
		table_add(w->table, "%s", label_wall_row(t->labels, row, WALL_BY_POOL, name));
		add_row(w, row->threads, &row->states);
	}
	if (!rest.rows)
		return;
	table_add(w->table, "(%u more)", rest.rows);
	add_row(w, rest.threads, &rest.states);
}

/* A row for each group, and with --full one for each pool of it. */
static void add_others(struct text *t, struct wall_table *w, const struct wall_rows *rows)
{
	char name[LABEL_MAX];

	for (int group = THREAD_GROUP_JAVA + 1; group < THREAD_GROUP_COUNT; group++) {
		struct sum sum = {0};

		for (uint32_t i = 0; i < rows->count; i++) {
			if ((int)rows->rows[i].group == group)
				sum_add(&sum, &rows->rows[i]);
		}
		if (!sum.rows)
			continue;
		table_add(w->table, "(%s)", thread_group_title(group));
		add_row(w, sum.threads, &sum.states);
		for (uint32_t i = 0; i < rows->count && t->in->full; i++) {
			const struct wall_row *row = &rows->rows[i];

			if ((int)row->group != group)
				continue;
			table_add(w->table, "  %s",
				  label_wall_row(t->labels, row, WALL_BY_POOL, name));
			add_row(w, row->threads, &row->states);
		}
	}
}

static int print_rows(struct text *t, const struct wall_rows *rows)
{
	struct wall_table w = {0};
	struct sum all = {0};
	int err;

	for (uint32_t i = 0; i < rows->count; i++)
		sum_add(&all, &rows->rows[i]);
	err = table_open(&w, &all.states, wall_is_told(t->in));
	if (err)
		return err;
	add_java(t, &w, rows);
	add_others(t, &w, rows);
	table_add(w.table, "all");
	add_row(&w, all.threads, &all.states);
	err = table_print(w.table, 2, t->out);
	table_free(w.table);
	return err;
}

/* Do the states of each thread add up to the time by the clock? */
static void print_check(struct text *t)
{
	const struct wall *w = analysis_wall(t->in->log->analysis);
	char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX], name[LABEL_MAX];
	uint32_t checked = 0, off = 0;
	uint64_t sum_ns = 0, error_ns = 0;

	for (uint32_t i = 0; i < w->places.count; i++) {
		const struct wall_thread *one = &w->threads[i];
		int64_t error = wall_thread_error(one);

		if (!one->sampled || !one->checked || !wall_thread_ns(one))
			continue;
		checked++;
		sum_ns += wall_thread_ns(one);
		error_ns += error < 0 ? -(uint64_t)error : (uint64_t)error;
		if (!wall_thread_is_off(one) || off++ >= t->in->top)
			continue;
		print_text(t->out,
			   "  ! %s: its states add up to %s %s than the %s it was watched\n",
			   label_thread(t->labels, one->thread, name),
			   time_format(error < 0 ? -(uint64_t)error : (uint64_t)error, a),
			   error < 0 ? "less" : "more", time_format(wall_thread_ns(one), b));
	}
	if (off > t->in->top)
		print_text(t->out, "  ! and %u more threads whose states do not add up\n",
			   off - t->in->top);
	if (checked)
		print_text(
			t->out,
			"  check: held against the clock, the states of %s threads are off by %s "
			"in %s (%s)\n",
			count_format(checked, a), time_format(error_ns, b), time_format(sum_ns, c),
			share_format(error_ns, sum_ns, name));
}

static void print_limits(struct text *t)
{
	const struct wall *w = analysis_wall(t->in->log->analysis);
	uint64_t missing_ns = 0;
	char missing[FORMAT_MAX];

	if (!wall_is_told(t->in))
		fputs("  blocked: this log does not tell on what\n", t->out);
	else if (!strcmp(header_text(t->in->log->header, "sources", "throttled"), "none"))
		fputs("  time without a CPU because of a quota cannot be told here: it is "
		      "runnable\n",
		      t->out);
	for (uint32_t i = 0; i < w->places.count; i++)
		missing_ns += w->threads[i].missing_ns;
	if (missing_ns)
		print_text(t->out,
			   "  missing: %s of all threads, between the last samples before holes in "
			   "the log and the first behind\n",
			   time_format(missing_ns, missing));
	if (analysis_wall(t->in->log->analysis)->late)
		print_text(t->out, "  %" PRIu64 " samples came too late and are left out\n",
			   analysis_wall(t->in->log->analysis)->late);
}

int text_threads(struct text *t)
{
	const struct wall *w = analysis_wall(t->in->log->analysis);
	struct states *states = calloc(w->places.count + 1, sizeof(*states));
	struct wall_rows rows;
	int err = -ENOMEM;

	for (uint32_t i = 0; i < w->places.count && states; i++)
		states[i] = wall_thread_states(&w->threads[i]);
	if (states)
		err = wall_rows_make(w, analysis_names(t->in->log->analysis), states, true,
				     WALL_BY_POOL, &rows);
	free(states);
	if (err)
		return err;
	if (rows.count) {
		text_heading(t, "WALL CLOCK: where the time of each thread went (runnable: waiting "
				"for a CPU)");
		err = print_rows(t, &rows);
		if (!err) {
			print_check(t);
			print_limits(t);
		}
	}
	wall_rows_free(&rows);
	return err;
}
