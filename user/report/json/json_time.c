#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/registry/analysis.h"
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

/* Without memory there is no value, or it is not taken: then *err says so. */
static void append(json_t *array, json_t *value, int *err)
{
	if (json_array_append_new(array, value))
		*err = -ENOMEM;
}

static void set(json_t *o, const char *key, json_t *value, int *err)
{
	if (json_object_set_new(o, key, value))
		*err = -ENOMEM;
}

static json_t *windows_json(const struct time_input *in, const struct time_table *t, int *err)
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
			set(o, "missing_ns", number(missing_ns), err);
		append(array, o, err);
	}
	return array;
}

static json_t *cells_json(const struct time_table *t, uint32_t row, bool told, int *err)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < t->window_count; i++) {
		const struct time_cell *cell = time_cell_get(t, row, i);
		json_t *o = json_object();

		set(o, "threads", number(cell->threads), err);
		set(o, "states", states_json(&cell->states, told), err);
		append(array, o, err);
	}
	return array;
}

static json_t *row_json(const struct time_input *in, const struct time_table *t, uint32_t i,
			int *err)
{
	const struct log_names *names = analysis_names(in->in->log->analysis);
	bool told = wall_is_told(in->in);
	json_t *o = json_object();

	if (i < t->shown) {
		const struct wall_row *row = &t->rows.rows[i];
		const struct log_thread *known = log_names_thread(names, row->thread);

		set(o, "name", json_string(name_wall_row(names, row, in->by)), err);
		set(o, "group", json_string(thread_group_name(row->group)), err);
		if (in->by == WALL_BY_THREAD) {
			set(o, "tid", number(known ? known->tid : 0), err);
			set(o, "java_id", number(known ? known->java_id : 0), err);
		}
		set(o, "threads", number(row->threads), err);
	} else {
		set(o, "more", number(t->more), err);
	}
	set(o, "states", states_json(&t->sums[i], told), err);
	set(o, "windows", cells_json(t, i, told, err), err);
	return o;
}

static json_t *head_json(const struct time_input *in, const struct time_table *t, int *err)
{
	static const char *const by[WALL_BY_COUNT] = {"thread", "pool", "group"};
	const struct wall *w = analysis_wall(in->in->log->analysis);
	uint64_t start_wall_ns = header_number(in->in->log->header, NULL, "start_wall_ns");
	json_t *o = json_object();

	set(o, "by", json_string(by[in->by]), err);
	set(o, "start_mono_ns", number(in->start_ns), err);
	set(o, "start_wall_ns", number(start_wall_ns), err);
	set(o, "told_apart", json_boolean(wall_is_told(in->in)), err);
	set(o, "intervals", number(w->course.intervals), err);
	set(o, "intervals_shared_out", number(w->course.spread), err);
	set(o, "samples_late", number(w->late), err);
	holes_missing_json(in->in->log->analysis, o);
	set(o, "windows", windows_json(in, t, err), err);
	return o;
}

/* Takes over o. */
static int write_json(json_t *o, size_t flags, int err, FILE *out)
{
	if (!err)
		err = print_json_value(out, o, JSON_COMPACT | flags);
	json_decref(o);
	return err && !ferror(out) ? -ENOMEM : 0;
}

/* Row by row: there may be thousands of threads in thousands of windows. */
int report_time_json(const struct time_input *in, FILE *out)
{
	struct time_table t;
	int err = time_table_make(in, &t), set_err = 0;
	json_t *o;

	if (err)
		return err;
	o = head_json(in, &t, &set_err);
	fputc('{', out);
	err = write_json(o, JSON_EMBED, set_err, out);
	fputs(",\"rows\":[", out);
	for (uint32_t i = 0; i < time_row_count(&t) && !err; i++) {
		if (i)
			fputs(",\n", out);
		o = row_json(in, &t, i, &set_err);
		err = write_json(o, 0, set_err, out);
	}
	fputs("]}\n", out);
	time_table_free(&t);
	return err;
}
