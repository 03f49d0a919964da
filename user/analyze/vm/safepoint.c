#include "analyze/vm/safepoint.h"

#include <stdlib.h>

#include "analyze/row.h"

static int requester_add(struct safepoints *s, uint32_t row, uint64_t thread, uint64_t ns)
{
	uint32_t index, known = s->requester_map.count;
	int err = keymap_add_row(&s->requester_map, (struct keymap_key){.a = row, .b = thread},
				 &s->requesters, &s->requesters_capacity, sizeof(*s->requesters),
				 &index);
	struct safepoint_row *r = &s->rows[row];

	if (err)
		return err;
	if (index == known) {
		s->requesters[index].thread = thread;
		s->requesters[index].next = INDEX_NONE;
		if (r->times.count == 1)
			r->requester = index;
		else
			s->requesters[r->last_requester].next = index;
		r->last_requester = index;
	}
	pause_times_add(&s->requesters[index].times, ns);
	return 0;
}

int safepoints_add(struct safepoints *s, const struct event *e)
{
	uint64_t reach_ns, cleanup_ns, operation_ns, whole_ns;
	struct safepoint_row *row;
	uint32_t index;
	int err;

	if (e->id != EVENT_SAFEPOINT)
		return 0;
	err = keymap_add_row(&s->row_map, (struct keymap_key){.a = e->v[SAFEPOINT_OPERATION].u},
			     &s->rows, &s->rows_capacity, sizeof(*s->rows), &index);
	if (err)
		return err;
	reach_ns = e->v[SAFEPOINT_REACH_NS].u;
	cleanup_ns = e->v[SAFEPOINT_CLEANUP_NS].u;
	operation_ns = e->v[SAFEPOINT_OPERATION_NS].u;
	whole_ns = reach_ns + cleanup_ns + operation_ns;
	row = &s->rows[index];
	row->operation = e->v[SAFEPOINT_OPERATION].u;
	row->cleanup_ns += cleanup_ns;
	row->operation_ns += operation_ns;
	row->threads += e->v[SAFEPOINT_THREADS].u;
	row->running += e->v[SAFEPOINT_RUNNING].u;
	pause_times_add(&row->times, whole_ns);
	pause_times_add(&row->reach, reach_ns);
	pause_times_add(&s->times, whole_ns);
	pause_times_add(&s->reach, reach_ns);
	pause_times_add(&s->operation, cleanup_ns + operation_ns);
	return requester_add(s, index, e->v[SAFEPOINT_REQUESTER].u, whole_ns);
}

void safepoints_free(struct safepoints *s)
{
	keymap_free(&s->row_map);
	keymap_free(&s->requester_map);
	free(s->rows);
	free(s->requesters);
	*s = (struct safepoints){0};
}

ROW_ZEROED(safepoints)

static int safepoints_row_add(void *self, const struct analysis_input *in)
{
	return safepoints_add(self, in->event);
}

const struct analysis_row safepoints_analysis = {
	.events = ROW_EVENTS(EVENT_SAFEPOINT),
	.new = safepoints_row_new,
	.add = safepoints_row_add,
	.free = safepoints_row_free,
};
