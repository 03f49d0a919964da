#include <errno.h>

#include "analyze/registry/analysis.h"
#include "base/text/json_put.h"
#include "base/text/print.h"
#include "base/text/strbuf.h"
#include "log/format/header_fields.h"
#include "report/json/findings_json.h"
#include "report/json/json_out.h"
#include "report/model/sections/commands/gc_report.h"
#include "report/model/sections/sections.h"
#include "session/holes.h"

/* Numbers beyond those of JSON are the largest one. */
static json_t *number(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

static json_t *known(uint64_t n)
{
	return n ? number(n) : json_null();
}

/* Those that have something to say. */
static json_t *sentences_json(const struct gc_model *m)
{
	static void (*const all[])(const struct gc_model *, struct strbuf *) = {
		gc_sentence_pauses, gc_sentence_kept, gc_sentence_heap, gc_sentence_rate};
	json_t *o = json_array();

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct strbuf text = {0};

		all[i](m, &text);
		if (text.used || text.err)
			json_add(&o, text.err ? NULL : json_string(strbuf_text(&text)));
		strbuf_free(&text);
	}
	return o;
}

static json_t *pauses_json(const struct gc_model *m)
{
	const struct gc_sums *s = &m->sums;
	json_t *o = json_object();

	json_put(&o, "count", number(s->pauses.count));
	json_put(&o, "total_ns", number(s->pauses.total_ns));
	json_put(&o, "max_ns", number(s->pauses.max_ns));
	json_put(&o, "p50_ns", number(s->quantiles.p50_ns));
	json_put(&o, "p90_ns", number(s->quantiles.p90_ns));
	json_put(&o, "p99_ns", number(s->quantiles.p99_ns));
	json_put(&o, "p999_ns", number(s->quantiles.p999_ns));
	return o;
}

static json_t *heap_json(const struct gc_model *m)
{
	json_t *o = json_object();

	json_put(&o, "limit_bytes", known(m->facts.limits.heap_bytes));
	json_put(&o, "old_limit_bytes", known(m->facts.limits.old_bytes));
	json_put(&o, "freed_bytes", number(m->sums.freed_bytes));
	json_put(&o, "allocated_bytes", number(m->sums.allocated_bytes));
	json_put(&o, "allocated_in_ns", number(m->sums.allocated_ns));
	return o;
}

static json_t *trend_json(const struct gc_model *m)
{
	const struct gc_trend *t = &m->trend;
	json_t *o = json_object();

	json_put(&o, "basis", json_string(gc_basis_name(t->basis)));
	json_put(&o, "confidence", json_string("inferred"));
	json_put(&o, "collections", number(t->count));
	json_put(&o, "collections_of_old", number(t->old_count));
	if (t->basis == GC_TREND_NONE)
		return o;
	json_put(&o, "course", json_string(gc_course_name(t->course)));
	json_put(&o, "from_ns", number(gc_since_start(m, t->from_ns)));
	json_put(&o, "to_ns", number(gc_since_start(m, t->to_ns)));
	json_put(&o, "first_bytes", number(t->first_bytes));
	json_put(&o, "last_bytes", number(t->last_bytes));
	json_put(&o, "bytes_per_min", json_integer(t->bytes_per_min));
	json_put(&o, "limit_bytes", known(t->limit_bytes));
	json_put(&o, "full_after_ns", t->fills ? number(t->full_ns) : json_null());
	return o;
}

static json_t *head_json(const struct section_input *section, const struct gc_model *m)
{
	const json_t *header = m->in->in->log->header;
	json_t *o = json_object();

	json_put(&o, "start_mono_ns", number(m->in->start_ns));
	json_put(&o, "start_wall_ns", number(header_number(header, NULL, "start_wall_ns")));
	json_put(&o, "duration_ns", number(m->duration_ns));
	json_put(&o, "collector", json_string(header_collector(header)));
	json_put(&o, "sentences", sentences_json(m));
	json_put(&o, "pauses", pauses_json(m));
	json_put(&o, "heap", heap_json(m));
	json_put(&o, "trend", trend_json(m));
	json_put(&o, "causes", findings_take_json(gc_section_causes(section, m)));
	json_put(&o, "incomplete", number(m->facts.incomplete));
	json_put(&o, "left_out", number(m->facts.left_out));
	holes_missing_json(m->in->in->log->analysis, &o);
	json_put(&o, "not_known", findings_take_json(gc_section_not_known(m)));
	return o;
}

/* Some at a time: there may be a million. */
static int rows_write(const struct section_input *section, const struct gc_model *m,
		      enum gc_which which, FILE *out)
{
	bool first = true;
	uint32_t at = 0;
	int err = 0;

	while (!err && at < m->row_count && !ferror(out)) {
		json_t *rows = findings_take_json(gc_section_rows(section, m, which, &at));

		if (rows && json_array_size(rows)) {
			if (!first)
				fputs(",\n", out);
			first = false;
			err = print_json_value(out, rows, JSON_COMPACT | JSON_EMBED);
		}
		err = !rows || (err && !ferror(out)) ? -ENOMEM : 0;
		json_decref(rows);
	}
	return err;
}

static int write(const struct section_input *section, const struct gc_model *m, FILE *out)
{
	int err;

	fputc('{', out);
	err = json_members_write(head_json(section, m), out);
	if (!err) {
		fputs(",\"collections\":[", out);
		err = rows_write(section, m, GC_WHICH_HEAP, out);
	}
	if (!err && m->in->pauses) {
		fputs("],\"each_pause\":[", out);
		err = rows_write(section, m, GC_WHICH_PAUSES, out);
	}
	fputs("]}\n", out);
	return err;
}

int report_gc_json(const struct gc_input *in, FILE *out)
{
	struct section_input section;
	struct gc_model m;
	int err = section_open(in->in, &section);

	if (err)
		return err;
	err = gc_model_make(in, &m);
	if (!err) {
		err = write(&section, &m, out);
		gc_model_free(&m);
	}
	section_close(&section);
	return err;
}
