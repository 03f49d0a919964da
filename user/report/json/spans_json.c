#include <errno.h>

#include "analyze/cells/cells.h"
#include "analyze/cells/stacks.h"
#include "analyze/registry/analysis.h"
#include "base/json_put.h"
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
		json_put(&o, state_name(i), number(s->ns[i]));
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

		json_put(&row, "lock", number(rows[i].lock));
		json_put(&row, "class", json_string(name_class(o->names, rows[i].lock)));
		json_put(&row, "group", json_string(name_group(o->names, rows[i].lock, monitor)));
		json_put(&row, "holder",
			 json_string(name_thread(o->names, rows[i].holder, "(unknown)")));
		json_put(&row, "holder_method",
			 holder_is_thread(rows[i].holder)
				 ? json_string(label_method(o->stacks, rows[i].method, method))
				 : json_null());
		json_put(&row, "ns", number(rows[i].ns));
		json_add(&array, row);
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

	json_put(&row, "name", json_string(n->text));
	json_put(&row, "count", number(n->times.count));
	json_put(&row, "total_ns", number(n->total_ns));
	json_put(&row, "self_ns", number(n->self_ns));
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++)
		json_put(&row, quantiles[i].key,
			 number(quantiles_at(&n->times, quantiles[i].per_mille)));
	json_put(&row, "max_ns", number(n->times.max));
	json_put(&row, "states", states_json(&n->states));
	json_put(&row, "self_states", states_json(&n->self));
	json_put(&row, "blocked_by", blockers_json(o, &n->blockers));
	json_put(&row, "blocked_by_rest_ns", number(n->blockers.rest_ns));
	return row;
}

static json_t *span_json(const struct out *o, const struct span *s, bool ended)
{
	const struct log_thread *thread = log_names_thread(o->names, s->thread);
	json_t *row = json_object();

	json_put(&row, "name", json_string(s->name));
	json_put(&row, "within", text_or_null(s->within));
	json_put(&row, "thread", json_string(name_thread(o->names, s->thread, "(unknown)")));
	json_put(&row, "tid", number(thread ? thread->tid : 0));
	json_put(&row, "begin_ns", number(s->begin_ns));
	json_put(&row, "ns", number(s->ns));
	json_put(&row, "states", ended ? states_json(&s->states) : json_null());
	json_put(&row, "blocked_by", blockers_json(o, &s->blockers));
	json_put(&row, "blocked_by_rest_ns", number(s->blockers.rest_ns));
	return row;
}

static json_t *facts_json(const struct out *o, const struct spans *s)
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
	json_put(&row, "lost", number(spans_lost(o->in)));
	json_put(&row, "damaged", json_boolean(o->in->log->damaged));
	json_put(&row, "quantile_error", json_real(QUANTILES_ERROR));
	holes_missing_json(o->in->log->analysis, &row);
	return row;
}

static json_t *report_json_of(const struct out *o, const struct spans *s)
{
	json_t *root = json_object(), *names = json_array(), *slowest = json_array(),
	       *open = json_array();
	const struct span_name *const *by_name;
	const struct span *const *spans;
	uint32_t count;

	json_put(&root, "start_mono_ns",
		 number(header_number(o->in->log->header, NULL, "start_mono_ns")));
	json_put(&root, "start_wall_ns",
		 number(header_number(o->in->log->header, NULL, "start_wall_ns")));
	json_put(&root, "duration_ns", number(session_log_duration(o->in->log)));
	by_name = spans_by_name(s, &count);
	for (uint32_t i = 0; i < count; i++)
		json_add(&names, name_json(o, by_name[i]));
	spans = spans_slowest(s, &count);
	for (uint32_t i = 0; i < count; i++)
		json_add(&slowest, span_json(o, spans[i], true));
	spans = spans_open(s, &count);
	for (uint32_t i = 0; i < count; i++)
		json_add(&open, span_json(o, spans[i], false));
	json_put(&root, "names", names);
	json_put(&root, "slowest", slowest);
	json_put(&root, "open", open);
	json_put(&root, "facts", facts_json(o, s));
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
	if (root)
		err = json_dump_write(root, out);
	json_decref(root);
	stacks_free(o.stacks);
	return err;
}
