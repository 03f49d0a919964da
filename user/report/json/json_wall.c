#include "report/json/json_wall.h"

#include <stdlib.h>

#include "analyze/registry/analysis.h"
#include "base/json_put.h"
#include "log/read/names.h"
#include "report/model/label.h"
#include "report/model/wall_rows.h"

/* running_ns to blocked_ns are the counters of the log: runnable_ns includes throttled time. */
static json_t *thread_json(const struct report_input *in, const struct wall_thread *t,
			   const struct wall_row *pool)
{
	const struct log_names *names = analysis_names(in->log->analysis);
	const struct log_thread *known = log_names_thread(names, t->thread);
	struct states s = wall_thread_states(t);
	uint64_t blocked_ns = 0;
	json_t *o;

	for (int i = STATE_THROTTLED + 1; i < STATE_COUNT; i++)
		blocked_ns += s.ns[i];
	o = json_pack("{sssIsIsIsIsIsI}", "name", name_thread(names, t->thread, "(unknown)"), "tid",
		      (json_int_t)(known ? known->tid : 0), "java_id",
		      (json_int_t)(known ? known->java_id : 0), "running_ns",
		      (json_int_t)s.ns[STATE_RUNNING], "stolen_ns", (json_int_t)s.ns[STATE_STOLEN],
		      "runnable_ns", (json_int_t)(s.ns[STATE_RUNNABLE] + s.ns[STATE_THROTTLED]),
		      "blocked_ns", (json_int_t)blocked_ns);
	if (wall_is_told(in))
		json_put(&o, "states", states_json(&s, true));
	json_put(&o, "wall_ns", json_integer((json_int_t)wall_thread_ns(t)));
	if (t->holes)
		json_put(&o, "missing_ns", json_integer((json_int_t)t->missing_ns));
	json_put(&o, "error_ns", t->checked ? json_integer(wall_thread_error(t)) : json_null());
	json_put(&o, "group", json_string(thread_group_name(pool->group)));
	json_put(&o, "pool", json_string(name_wall_row(names, pool, WALL_BY_POOL)));
	return o;
}

json_t *wall_json(const struct report_input *in)
{
	const struct wall *w = analysis_wall(in->log->analysis);
	struct states *states = calloc(w->places.count + 1, sizeof(*states));
	json_t *array = NULL;
	struct wall_rows rows;
	int err = -1;

	for (uint32_t i = 0; i < w->places.count && states; i++)
		states[i] = wall_thread_states(&w->threads[i]);
	if (states)
		err = wall_rows_make(w, analysis_names(in->log->analysis), states, true,
				     WALL_BY_POOL, &rows);
	free(states);
	if (err)
		return NULL;
	array = json_array();
	for (uint32_t i = 0; i < w->places.count; i++) {
		if (rows.of[i] != PLACE_NONE)
			json_add(&array, thread_json(in, &w->threads[i], &rows.rows[rows.of[i]]));
	}
	wall_rows_free(&rows);
	return array;
}
