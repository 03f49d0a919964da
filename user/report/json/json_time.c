#include <errno.h>

#include "analyze/registry/analysis.h"
#include "analyze/threads/wall.h"
#include "base/text/json_put.h"
#include "base/text/print.h"
#include "report/json/findings_json.h"
#include "report/model/findings.h"
#include "report/model/sections/commands/time_report.h"
#include "session/holes.h"

#include "log/format/header_fields.h"

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
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
	json_put(&o, "told_apart", json_boolean(wall_has_reasons(in->in)));
	json_put(&o, "intervals", number(w->windows.intervals));
	json_put(&o, "intervals_shared_out", number(w->windows.spread));
	json_put(&o, "samples_late", number(w->late));
	holes_missing_json(in->in->log->analysis, &o);
	json_put(&o, "windows", findings_take_json(time_section_windows(in, t)));
	return o;
}

/* Takes over o, which is NULL without memory. */
static int write_json(json_t *o, size_t flags, FILE *out)
{
	int err = o ? print_json_value(out, o, JSON_COMPACT | flags) : -ENOMEM;

	json_decref(o);
	return err && !ferror(out) ? -ENOMEM : 0;
}

static json_t *row_json(const struct time_input *in, const struct time_table *t, uint32_t row)
{
	json_t *array = findings_take_json(time_section_row(in, t, row));
	json_t *o = json_incref(json_array_get(array, 0));

	json_decref(array);
	return o;
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
