/*
 * The engine: each event goes to the analyses that subscribe to it, in the order of the rows. It
 * knows no analysis but by its row (rows.def), and itself only counts events and holes.
 */
#include "analyze/registry/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/registry/contention_row.h"
#include "analyze/registry/rows.h"
#include "analyze/stacks/stacks.h"
#include "analyze/threads/wall.h"
#include "base/tables/keymap.h"
#include "log/read/names.h"

struct analysis {
	struct log_names *names;
	struct stacks *stacks;
	void *selves[ANALYSIS_ID_COUNT]; /* by row */
	/* Rows that subscribe to an event, in their order. */
	uint8_t subscribers[SCHEMA_ID_MAX + 1][ANALYSIS_ID_COUNT];
	uint8_t subscriber_counts[SCHEMA_ID_MAX + 1];
	struct analysis_hole *holes;
	uint32_t holes_capacity;
	uint64_t hole_ns;  /* the end of the last hole; 0: there was none */
	uint64_t begin_ns; /* 0: with the first event */
	struct analysis_facts counted;
};

static bool subscribes(const struct analysis_row *row, unsigned id)
{
	const uint16_t *e = row->events;

	while (e && *e && *e != id)
		e++;
	return !e || *e;
}

static void subscribe(struct analysis *a)
{
	for (unsigned id = 0; id <= SCHEMA_ID_MAX; id++)
		for (unsigned i = 0; i < ANALYSIS_ID_COUNT; i++)
			if (subscribes(analysis_rows[i], id))
				a->subscribers[id][a->subscriber_counts[id]++] = (uint8_t)i;
}

struct analysis *analysis_new(void)
{
	struct analysis *a = calloc(1, sizeof(*a));
	bool whole;

	if (!a)
		return NULL;
	subscribe(a);
	a->names = log_names_new();
	whole = a->names;
	for (unsigned i = 0; i < ANALYSIS_ID_COUNT && whole; i++) {
		a->selves[i] = analysis_rows[i]->new (a->names);
		whole = a->selves[i];
	}
	if (whole)
		return a;
	analysis_free(a);
	return NULL;
}

void analysis_free(struct analysis *a)
{
	if (!a)
		return;
	for (unsigned i = 0; i < ANALYSIS_ID_COUNT; i++)
		analysis_rows[i]->free(a->selves[i]);
	stacks_free(a->stacks);
	log_names_free(a->names);
	free(a->holes);
	free(a);
}

static void count(struct analysis_facts *f, const struct event *e, uint64_t begin_ns)
{
	uint64_t time_ns = e->time_ns > begin_ns ? e->time_ns : begin_ns;

	if (!f->events++ || time_ns < f->first_ns)
		f->first_ns = time_ns;
	if (e->time_ns > f->last_ns)
		f->last_ns = e->time_ns;
	if (e->id <= SCHEMA_ID_MAX)
		f->events_by_id[e->id]++;
}

/* The first event says when the log begins, also those that do not subscribe to it. */
static int add_first(struct analysis *a, const struct analysis_input *in)
{
	unsigned id = in->event->id;
	int err = 0;

	for (unsigned i = 0; i < ANALYSIS_ID_COUNT && !err; i++)
		if (analysis_rows[i]->first && !subscribes(analysis_rows[i], id))
			err = analysis_rows[i]->add(a->selves[i], in);
	return err;
}

static inline int add(struct analysis *a, const struct event *e, const struct event *counted)
{
	unsigned id = e->id <= SCHEMA_ID_MAX ? e->id : 0;
	struct analysis_input in = {.event = e, .counted = counted};
	bool first = !a->counted.events;
	int err = 0;

	count(&a->counted, e, a->begin_ns);
	in.last_ns = a->counted.last_ns;
	if (first)
		err = add_first(a, &in);
	for (unsigned i = 0; i < a->subscriber_counts[id] && !err; i++) {
		unsigned row = a->subscribers[id][i];

		err = analysis_rows[row]->add(a->selves[row], &in);
	}
	return err;
}

/* From before the end of a hole: it says what was open there. */
static int add_open(struct analysis *a, const struct event *e)
{
	const struct event_desc *desc = schema_event(e->id);
	struct event counted = {.id = e->id,
				.field_count = e->field_count,
				.thread = e->thread,
				.time_ns = a->hole_ns - 1};

	if (e->id == EVENT_NOTE && facts_is_noted(a->selves[ANALYSIS_FACTS], e))
		return 0;
	memcpy(counted.v, e->v, (desc ? desc->field_count : 0) * sizeof(*counted.v));
	return add(a, e, &counted);
}

int analysis_add(struct analysis *a, const struct event *e)
{
	return e->time_ns < a->hole_ns ? add_open(a, e) : add(a, e, e);
}

int analysis_hole(struct analysis *a, uint64_t from_ns, uint64_t to_ns)
{
	struct analysis_facts *f = &a->counted;
	int err = array_grow(&a->holes, &a->holes_capacity, f->hole_count, sizeof(*a->holes));

	for (unsigned i = 0; i < ANALYSIS_ID_COUNT && !err; i++)
		if (analysis_rows[i]->hole)
			err = analysis_rows[i]->hole(a->selves[i], from_ns, to_ns);
	if (err)
		return err;
	a->hole_ns = to_ns;
	a->holes[f->hole_count++] = (struct analysis_hole){from_ns, to_ns};
	f->missing_ns += to_ns - from_ns;
	return 0;
}

int analysis_finish(struct analysis *a)
{
	int err = 0, first = 0;

	/* All of them, so that each can be asked, whatever has failed. */
	for (unsigned i = 0; i < ANALYSIS_ID_COUNT; i++) {
		if (analysis_rows[i]->finish)
			err = analysis_rows[i]->finish(a->selves[i], a->counted.last_ns);
		first = first ? first : err;
	}
	a->stacks = stacks_new(a->names);
	return first || a->stacks ? first : -ENOMEM;
}

void analysis_set_begin(struct analysis *a, uint64_t begin_ns)
{
	a->begin_ns = begin_ns;
	for (unsigned i = 0; i < ANALYSIS_ID_COUNT; i++)
		if (analysis_rows[i]->begin)
			analysis_rows[i]->begin(a->selves[i], begin_ns);
}

void analysis_set_state_windows(struct analysis *a, const struct state_options *options)
{
	struct wall *w = a->selves[ANALYSIS_WALL];

	w->windows.options = *options;
}

void analysis_observe(struct analysis *a, cell_part_observer *observe, void *context)
{
	contention_row_observe(a->selves[ANALYSIS_CONTENTION], observe, context);
}

void analysis_observe_intervals(struct analysis *a, cell_interval_observer *ended)
{
	contention_row_observe_intervals(a->selves[ANALYSIS_CONTENTION], ended);
}

void analysis_facts(const struct analysis *a, struct analysis_facts *ret)
{
	facts_get(a->selves[ANALYSIS_FACTS], ret);
	memcpy(ret->events_by_id, a->counted.events_by_id, sizeof(ret->events_by_id));
	ret->events = a->counted.events;
	ret->first_ns = a->counted.first_ns;
	ret->last_ns = a->counted.last_ns;
	ret->holes = a->holes;
	ret->hole_count = a->counted.hole_count;
	ret->missing_ns = a->counted.missing_ns;
}

const struct log_names *analysis_names(const struct analysis *a)
{
	return a->names;
}

const struct stacks *analysis_stacks(const struct analysis *a)
{
	return a->stacks;
}

const struct contention *analysis_contention(const struct analysis *a)
{
	return contention_row_get(a->selves[ANALYSIS_CONTENTION]);
}

#define ANALYSIS(id, name)                                                                         \
	const struct name *analysis_##name(const struct analysis *a)                               \
	{                                                                                          \
		return a->selves[ANALYSIS_##id];                                                   \
	}
#define OTHER(id, name)
#include "analyze/registry/rows.def"
