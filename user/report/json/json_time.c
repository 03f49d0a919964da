#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/registry/analysis.h"
#include "base/json_put.h"
#include "base/print.h"
#include "log/read/names.h"
#include "report/model/label.h"
#include "report/model/time_report.h"
#include "session/holes.h"

#include "log/format/header_fields.h"

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *windows_json(const struct time_input *in, const struct time_table *t)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < t->window_count; i++) {
		const struct course_window *w = &t->windows[i];

		json_t *o = json_pack("{sIsIsb}", "from_ns",
				      (json_int_t)time_since_start(in, w->from_ns), "to_ns",
				      (json_int_t)time_since_start(in, w->to_ns), "exact",
				      !w->rough_from && !w->rough_to);
		uint64_t missing_ns = holes_missing_ns(in->in->log->analysis, w->from_ns, w->to_ns);

		if (missing_ns)
			json_put(&o, "missing_ns", number(missing_ns));
		json_add(&array, o);
	}
	return array;
}

static json_t *cells_json(const struct time_table *t, uint32_t row, bool told)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < t->window_count; i++) {
		const struct time_cell *cell = time_cell_get(t, row, i);
		json_t *o = json_object();

		json_put(&o, "threads", number(cell->threads));
		json_put(&o, "states", states_json(&cell->states, told));
		json_add(&array, o);
	}
	return array;
}

static json_t *row_json(const struct time_input *in, const struct time_table *t, uint32_t i)
{
	const struct log_names *names = analysis_names(in->in->log->analysis);
	bool told = wall_is_told(in->in);
	json_t *o = json_object();

	if (i < t->shown) {
		const struct wall_row *row = &t->rows.rows[i];
		const struct log_thread *known = log_names_thread(names, row->thread);

		json_put(&o, "name", json_string(name_wall_row(names, row, in->by)));
		json_put(&o, "group", json_string(thread_group_name(row->group)));
		if (in->by == WALL_BY_THREAD) {
			json_put(&o, "tid", number(known ? known->tid : 0));
			json_put(&o, "java_id", number(known ? known->java_id : 0));
		}
		json_put(&o, "threads", number(row->threads));
	} else {
		json_put(&o, "more", number(t->more));
	}
	json_put(&o, "states", states_json(&t->sums[i], told));
	json_put(&o, "windows", cells_json(t, i, told));
	return o;
}

static json_t *head_json(const struct time_input *in, const struct time_table *t)
{
	static const char *const by[WALL_BY_COUNT] = {"thread", "pool", "group"};
	const struct wall *w = analysis_wall(in->in->log->analysis);
	uint64_t start_wall_ns = header_number(in->in->log->header, NULL, "start_wall_ns");
	json_t *o = json_object();

	json_put(&o, "by", json_string(by[in->by]));
	json_put(&o, "start_mono_ns", number(in->start_ns));
	json_put(&o, "start_wall_ns", number(start_wall_ns));
	json_put(&o, "told_apart", json_boolean(wall_is_told(in->in)));
	json_put(&o, "intervals", number(w->course.intervals));
	json_put(&o, "intervals_shared_out", number(w->course.spread));
	json_put(&o, "samples_late", number(w->late));
	holes_missing_json(in->in->log->analysis, &o);
	json_put(&o, "windows", windows_json(in, t));
	return o;
}

/* Takes over o, which is NULL without memory. */
static int write_json(json_t *o, size_t flags, FILE *out)
{
	int err = o ? print_json_value(out, o, JSON_COMPACT | flags) : -ENOMEM;

	json_decref(o);
	return err && !ferror(out) ? -ENOMEM : 0;
}

/* Row by row: there may be thousands of threads in thousands of windows. */
int report_time_json(const struct time_input *in, FILE *out)
{
	struct time_table t;
	int err = time_table_make(in, &t);

	if (err)
		return err;
	fputc('{', out);
	err = write_json(head_json(in, &t), JSON_EMBED, out);
	fputs(",\"rows\":[", out);
	for (uint32_t i = 0; i < time_row_count(&t) && !err; i++) {
		if (i)
			fputs(",\n", out);
		err = write_json(row_json(in, &t, i), 0, out);
	}
	fputs("]}\n", out);
	time_table_free(&t);
	return err;
}
