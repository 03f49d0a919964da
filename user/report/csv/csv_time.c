#include <inttypes.h>

#include "analyze/registry/analysis.h"
#include "base/print.h"
#include "log/read/names.h"
#include "report/model/time_report.h"

static bool is_column(int state, bool told)
{
	return told || state < STATE_THROTTLED || state == STATE_OTHER;
}

static void print_head(bool told, FILE *out)
{
	fputs("from_ns,to_ns,exact,name,group,tid,threads", out);
	for (int i = 0; i < STATE_COUNT; i++) {
		if (is_column(i, told))
			print_csv(out, ",%s_ns",
				  i == STATE_OTHER && !told ? "blocked" : state_name(i));
	}
	fputc('\n', out);
}

static void print_line(const struct time_input *in, const struct time_table *t, uint32_t r,
		       uint32_t window, FILE *out)
{
	const struct log_names *names = analysis_names(in->in->log->analysis);
	const struct course_window *w = &t->windows[window];
	const struct time_cell *cell = time_cell_get(t, r, window);
	bool told = wall_is_told(in->in);

	fprintf(out, "%" PRIu64 ",%" PRIu64 ",%d,", time_since_start(in, w->from_ns),
		time_since_start(in, w->to_ns), !w->rough_from && !w->rough_to);
	if (r < t->shown) {
		const struct wall_row *row = &t->rows.rows[r];
		const struct log_thread *known =
			in->by == WALL_BY_THREAD ? log_names_thread(names, row->thread) : NULL;

		print_csv(out, "%s,%s,", name_wall_row(names, row, in->by),
			  thread_group_name(row->group));
		if (known)
			fprintf(out, "%" PRIu64, known->tid);
	} else {
		fprintf(out, "(%" PRIu32 " more),,", t->more);
	}
	fprintf(out, ",%" PRIu32, cell->threads);
	for (int i = 0; i < STATE_COUNT; i++) {
		if (is_column(i, told))
			fprintf(out, ",%" PRIu64, cell->states.ns[i]);
	}
	fputc('\n', out);
}

int report_time_csv(const struct time_input *in, FILE *out)
{
	struct time_table t;
	int err = time_table_make(in, &t);

	if (err)
		return err;
	print_head(wall_is_told(in->in), out);
	for (uint32_t w = 0; w < t.window_count; w++) {
		for (uint32_t r = 0; r < time_row_count(&t); r++)
			print_line(in, &t, r, w, out);
	}
	time_table_free(&t);
	return 0;
}
