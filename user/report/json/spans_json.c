#include <errno.h>

#include "analyze/cells/cells.h"
#include "analyze/cells/stacks.h"
#include "analyze/registry/analysis.h"
#include "log/read/names.h"
#include "report/json/json_out.h"
#include "report/model/label.h"
#include "report/model/report.h"
#include "report/model/spans_report.h"
#include "session/holes.h"

#include "log/format/header_fields.h"

struct out {
	const struct report_input *in;
	const struct log_names *names;
	struct stacks *stacks;
};

/* As in json.c: jansson passes on the NULL of a value that could not be made. */
static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *states_json(const struct states *s)
{
	json_t *o = json_object();

	for (int i = 0; i < STATE_COUNT; i++)
		json_object_set_new(o, state_name(i), number(s->ns[i]));
	return o;
}

static json_t *blockers_json(const struct out *o, const struct span_blockers *b)
{
	struct spans_row rows[SPAN_BLOCKERS_MAX];
	unsigned n = spans_rows(b, o->stacks, rows);
	json_t *array = json_array();

	for (unsigned i = 0; i < n; i++) {
		const struct log_lock *lock = log_names_lock(o->names, rows[i].lock);
		bool monitor = lock && lock->group == LOCK_GROUP_MONITOR;
		json_t *row = json_object();
		char method[LABEL_MAX];

		json_object_set_new(row, "lock", number(rows[i].lock));
		json_object_set_new(row, "class", json_string(name_class(o->names, rows[i].lock)));
		json_object_set_new(row, "group",
				    json_string(name_group(o->names, rows[i].lock, monitor)));
		json_object_set_new(
			row, "holder",
			json_string(name_thread(o->names, rows[i].holder, "(unknown)")));
		json_object_set_new(
			row, "holder_method",
			holder_is_thread(rows[i].holder)
				? json_string(label_method(o->stacks, rows[i].method, method))
				: json_null());
		json_object_set_new(row, "ns", number(rows[i].ns));
		json_array_append_new(array, row);
	}
	return array;
}

static json_t *name_json(const struct out *o, const struct span_name *n)
{
	static const struct {
		const char *key;
		unsigned per_mille;
	} quantiles[] = {{"p50_ns", 500}, {"p90_ns", 900}, {"p99_ns", 990}, {"p999_ns", 999}};
	json_t *row = json_object();

	json_object_set_new(row, "name", json_string(n->text));
	json_object_set_new(row, "count", number(n->times.count));
	json_object_set_new(row, "total_ns", number(n->total_ns));
	json_object_set_new(row, "self_ns", number(n->self_ns));
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++)
		json_object_set_new(row, quantiles[i].key,
				    number(quantiles_at(&n->times, quantiles[i].per_mille)));
	json_object_set_new(row, "max_ns", number(n->times.max));
	json_object_set_new(row, "states", states_json(&n->states));
	json_object_set_new(row, "self_states", states_json(&n->self));
	json_object_set_new(row, "blocked_by", blockers_json(o, &n->blockers));
	json_object_set_new(row, "blocked_by_rest_ns", number(n->blockers.rest_ns));
	return row;
}

static json_t *span_json(const struct out *o, const struct span *s, bool ended)
{
	const struct log_thread *thread = log_names_thread(o->names, s->thread);
	json_t *row = json_object();

	json_object_set_new(row, "name", json_string(s->name));
	json_object_set_new(row, "within", text_or_null(s->within));
	json_object_set_new(row, "thread",
			    json_string(name_thread(o->names, s->thread, "(unknown)")));
	json_object_set_new(row, "tid", number(thread ? thread->tid : 0));
	json_object_set_new(row, "begin_ns", number(s->begin_ns));
	json_object_set_new(row, "ns", number(s->ns));
	json_object_set_new(row, "states", ended ? states_json(&s->states) : json_null());
	json_object_set_new(row, "blocked_by", blockers_json(o, &s->blockers));
	json_object_set_new(row, "blocked_by_rest_ns", number(s->blockers.rest_ns));
	return row;
}

static json_t *facts_json(const struct out *o, const struct spans *s)
{
	struct spans_facts f = spans_facts(s);
	json_t *row = json_object();

	json_object_set_new(row, "count", number(f.count));
	json_object_set_new(row, "other_names", number(f.other_names));
	json_object_set_new(row, "begin_missing", number(f.begin_missing));
	json_object_set_new(row, "open", number(f.open));
	json_object_set_new(row, "too_deep", number(f.too_deep));
	json_object_set_new(row, "no_room", number(f.no_room));
	json_object_set_new(row, "states_error_ns", number(f.error_ns));
	json_object_set_new(row, "late_ns", number(f.late_ns));
	json_object_set_new(row, "lost", number(spans_lost(o->in)));
	json_object_set_new(row, "damaged", json_boolean(o->in->log->damaged));
	json_object_set_new(row, "quantile_error", json_real(QUANTILES_ERROR));
	holes_missing_json(o->in->log->analysis, row);
	return row;
}

static json_t *report_json_of(const struct out *o, const struct spans *s)
{
	json_t *root = json_object(), *names = json_array(), *slowest = json_array(),
	       *open = json_array();
	const struct span_name *const *by_name;
	const struct span *const *spans;
	uint32_t count;

	json_object_set_new(root, "start_mono_ns",
			    number(header_number(o->in->log->header, NULL, "start_mono_ns")));
	json_object_set_new(root, "start_wall_ns",
			    number(header_number(o->in->log->header, NULL, "start_wall_ns")));
	json_object_set_new(root, "duration_ns", number(session_log_duration(o->in->log)));
	by_name = spans_by_name(s, &count);
	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(names, name_json(o, by_name[i]));
	spans = spans_slowest(s, &count);
	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(slowest, span_json(o, spans[i], true));
	spans = spans_open(s, &count);
	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(open, span_json(o, spans[i], false));
	json_object_set_new(root, "names", names);
	json_object_set_new(root, "slowest", slowest);
	json_object_set_new(root, "open", open);
	json_object_set_new(root, "facts", facts_json(o, s));
	return root;
}

int report_spans_json(const struct report_input *in, const struct spans *s, FILE *out)
{
	struct out o = {.in = in, .names = analysis_names(in->log->analysis)};
	json_t *root = NULL;
	int err = -ENOMEM;

	o.stacks = stacks_new(o.names);
	if (o.stacks)
		root = report_json_of(&o, s);
	if (root && json_object_size(root) == 7)
		err = json_dump_write(root, out);
	json_decref(root);
	stacks_free(o.stacks);
	return err;
}
