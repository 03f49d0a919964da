#include "report/json/json_collections.h"

#include "analyze/registry/analysis.h"
#include "base/json_put.h"
#include "log/read/names.h"
#include "report/model/label.h"
#include "report/model/phase_tree.h"
#include "report/model/report.h"

static json_t *string_json(const struct log_names *names, uint64_t string)
{
	const char *text = string ? log_names_string(names, string) : NULL;

	return json_string(text ? text : "");
}

void json_set_times(json_t **o, const struct pause_times *t)
{
	json_put(o, "count", json_integer((json_int_t)t->count));
	json_put(o, "total_ns", json_integer((json_int_t)t->total_ns));
	json_put(o, "max_ns", json_integer((json_int_t)t->max_ns));
}

static json_t *collections_json(const struct phases *p, const struct log_names *names)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < p->collection_places.count; i++) {
		json_t *o = json_object();

		json_put(&o, "collector", string_json(names, p->collections[i].collector));
		json_put(&o, "cause", string_json(names, p->collections[i].cause));
		json_set_times(&o, &p->collections[i].times);
		json_add(&array, o);
	}
	return array;
}

static json_t *phases_json(const struct phases *p, const struct log_names *names, uint32_t parent)
{
	json_t *array = json_array();

	for (uint32_t i = phase_tree_next(p, parent, PLACE_NONE); i != PLACE_NONE;
	     i = phase_tree_next(p, parent, i)) {
		json_t *o = json_object();

		json_put(&o, "phase", string_json(names, p->rows[i].phase));
		json_put(&o, "kind", json_string(phase_kind_name(p->rows[i].kind)));
		json_set_times(&o, &p->rows[i].times);
		json_put(&o, "phases", phases_json(p, names, i));
		json_add(&array, o);
	}
	return array;
}

static json_t *requesters_json(const struct safepoints *s, const struct log_names *names,
			       uint32_t row)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < s->requester_places.count; i++) {
		const struct safepoint_requester *r = &s->requesters[i];
		json_t *o;

		if (r->row != row)
			continue;
		o = json_object();
		json_put(&o, "thread",
			 r->thread ? json_string(name_thread(names, r->thread, "(unknown)"))
				   : json_null());
		json_set_times(&o, &r->times);
		json_add(&array, o);
	}
	return array;
}

static json_t *safepoints_json(const struct safepoints *s, const struct log_names *names)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < s->row_places.count; i++) {
		const struct safepoint_row *r = &s->rows[i];
		json_t *o = json_object();

		json_put(&o, "operation", string_json(names, r->operation));
		json_set_times(&o, &r->times);
		json_put(&o, "reach_ns", json_integer((json_int_t)r->reach.total_ns));
		json_put(&o, "reach_max_ns", json_integer((json_int_t)r->reach.max_ns));
		json_put(&o, "cleanup_ns", json_integer((json_int_t)r->cleanup_ns));
		json_put(&o, "operation_ns", json_integer((json_int_t)r->operation_ns));
		json_put(&o, "threads", json_integer((json_int_t)r->threads));
		json_put(&o, "running", json_integer((json_int_t)r->running));
		json_put(&o, "requesters", requesters_json(s, names, i));
		json_add(&array, o);
	}
	return array;
}

void json_set_collections(json_t **pauses, const struct report_input *in)
{
	const struct phases *p = analysis_phases(in->log->analysis);
	const struct safepoints *s = analysis_safepoints(in->log->analysis);
	const struct log_names *names = analysis_names(in->log->analysis);

	if (p->collection_times.count || p->row_places.count || p->incomplete) {
		json_put(pauses, "collections", collections_json(p, names));
		json_put(pauses, "phases", phases_json(p, names, PLACE_NONE));
		json_put(pauses, "phases_incomplete", json_integer((json_int_t)p->incomplete));
	}
	if (s->times.count)
		json_put(pauses, "safepoint_times", safepoints_json(s, names));
}
