#include <errno.h>

#include "analyze/registry/analysis.h"
#include "analyze/stacks/stacks.h"
#include "base/text/json_put.h"
#include "log/read/names.h"
#include "report/json/findings_json.h"
#include "report/json/json_out.h"
#include "report/model/sections/commands/spans_report.h"
#include "report/model/sections/sections.h"
#include "session/holes.h"

#include "log/format/header_fields.h"

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *facts_json(const struct report_input *in, const struct spans *s)
{
	struct spans_facts f = spans_facts(s);
	json_t *row = json_object();

	json_put(&row, "count", number(f.count));
	json_put(&row, "other_names", number(f.other_names));
	json_put(&row, "begin_missing", number(f.begin_missing));
	json_put(&row, "open", number(f.open));
	json_put(&row, "too_deep", number(f.too_deep));
	json_put(&row, "no_room", number(f.no_room));
	json_put(&row, "states_error_ns", number(f.error_ns));
	json_put(&row, "late_ns", number(f.late_ns));
	json_put(&row, "lost", number(spans_lost(in)));
	json_put(&row, "damaged", json_boolean(in->log->damaged));
	json_put(&row, "quantile_error", json_real(QUANTILES_ERROR));
	holes_missing_json(in->log->analysis, &row);
	return row;
}

static json_t *report_json_of(const struct section_input *o, const struct spans *s)
{
	const json_t *header = o->in->log->header;
	const struct span *const *spans;
	json_t *root = json_object();
	uint32_t count;

	json_put(&root, "start_mono_ns", number(header_number(header, NULL, "start_mono_ns")));
	json_put(&root, "start_wall_ns", number(header_number(header, NULL, "start_wall_ns")));
	json_put(&root, "duration_ns", number(session_log_duration(o->in->log)));
	json_put(&root, "names", findings_take_json(spans_section_names(o, s)));
	spans = spans_slowest(s, &count);
	json_put(&root, "slowest", findings_take_json(spans_section_list(o, spans, count, true)));
	spans = spans_open(s, &count);
	json_put(&root, "open", findings_take_json(spans_section_list(o, spans, count, false)));
	json_put(&root, "facts", facts_json(o->in, s));
	return root;
}

int report_spans_json(const struct report_input *in, const struct spans *s, FILE *out)
{
	struct section_input section;
	int err = section_open(in, &section);
	struct stacks *stacks;
	json_t *root = NULL;

	if (err)
		return err;
	section.stacks = stacks = stacks_new(section.names);
	if (stacks)
		root = report_json_of(&section, s);
	err = root ? json_dump_write(root, out) : -ENOMEM;
	json_decref(root);
	stacks_free(stacks);
	section_close(&section);
	return err;
}
