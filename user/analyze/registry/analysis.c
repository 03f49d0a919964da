#include "analyze/registry/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells/stacks.h"
#include "analyze/contention/contention.h"
#include "log/read/names.h"

struct analysis {
	struct log_names *names;
	struct contention *contention; /* since the last hole; at the end, all of it */
	struct contention *before;     /* that, finished; NULL: there was no hole */
	void (*observe)(void *context, const struct cell_key *key, uint64_t from_ns,
			uint64_t to_ns);
	void *observer;
	struct stacks *stacks;
	struct parking parking;
	struct pauses pauses;
	struct phases phases;
	struct safepoints safepoints;
	struct sched sched;
	struct wall wall;
	struct places lost_places;
	struct analysis_lost *lost;
	uint32_t lost_capacity;
	struct analysis_hole *holes;
	uint32_t holes_capacity;
	uint64_t hole_ns;                          /* the end of the last one; 0: there was none */
	uint64_t begin_ns;                         /* 0: with the first event */
	uint64_t walks_before[ANALYSIS_WALKS_MAX]; /* by then */
	struct analysis_bounded bounded_before[ANALYSIS_BOUNDED_MAX];
	struct analysis_note *notes;
	uint32_t notes_capacity;
	struct analysis_facts facts;
};

struct analysis *analysis_new(void)
{
	struct analysis *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->names = log_names_new();
	a->contention = a->names ? contention_new(a->names) : NULL;
	if (a->contention)
		return a;
	analysis_free(a);
	return NULL;
}

void analysis_free(struct analysis *a)
{
	if (!a)
		return;
	stacks_free(a->stacks);
	log_names_free(a->names);
	contention_free(a->contention);
	contention_free(a->before);
	parking_free(&a->parking);
	pauses_free(&a->pauses);
	phases_free(&a->phases);
	safepoints_free(&a->safepoints);
	sched_free(&a->sched);
	wall_free(&a->wall);
	places_free(&a->lost_places);
	free(a->lost);
	for (uint32_t i = 0; i < a->facts.note_count; i++)
		free(a->notes[i].text);
	free(a->notes);
	free(a->holes);
	free(a);
}

/* These counts are cumulative; the greatest is the last, also when events come a little out of
 * order. */
static void walks_add(struct analysis *a, const struct event *e)
{
	struct analysis_facts *f = &a->facts;
	uint64_t result = e->v[STACK_WALK_RESULT].u, count = e->v[STACK_WALK_COUNT].u;

	if (result >= ANALYSIS_WALKS_MAX)
		return;
	if (e->time_ns < a->begin_ns)
		a->walks_before[result] = count;
	else if (count > f->walks[result] && count - f->walks[result] > a->walks_before[result])
		f->walks[result] = count - a->walks_before[result];
}

/* So are these. */
static int lost_add(struct analysis *a, const struct event *e)
{
	struct place_key key = {.a = e->v[LOST_EVENT_ID].u, .b = e->v[LOST_PLACE].u};
	struct analysis_lost *row;
	uint32_t place;
	int err;

	if (!e->v[LOST_COUNT].u)
		return 0;
	err = places_add_row(&a->lost_places, key, &a->lost, &a->lost_capacity, sizeof(*a->lost),
			     &place);
	if (err)
		return err;
	row = &a->lost[place];
	row->event_id = key.a;
	row->place = key.b;
	if (e->time_ns < a->begin_ns)
		row->before = e->v[LOST_COUNT].u;
	else if (e->v[LOST_COUNT].u > row->count && e->v[LOST_COUNT].u - row->count > row->before)
		row->count = e->v[LOST_COUNT].u - row->before;
	return 0;
}

static uint64_t since(uint64_t count, uint64_t before, uint64_t known)
{
	return count > before && count - before > known ? count - before : known;
}

/* And these. */
static void bounded_add(struct analysis *a, const struct event *e)
{
	uint64_t kind = e->v[MEMORY_BOUND_KIND].u;
	struct analysis_bounded *b, *before;

	if (kind >= ANALYSIS_BOUNDED_MAX)
		return;
	b = &a->facts.bounded[kind];
	before = &a->bounded_before[kind];
	if (e->time_ns < a->begin_ns) {
		before->forgotten = e->v[MEMORY_BOUND_FORGOTTEN].u;
		before->shared = e->v[MEMORY_BOUND_SHARED].u;
		return;
	}
	b->forgotten = since(e->v[MEMORY_BOUND_FORGOTTEN].u, before->forgotten, b->forgotten);
	b->shared = since(e->v[MEMORY_BOUND_SHARED].u, before->shared, b->shared);
}

static int note_add(struct analysis *a, const struct event *e)
{
	struct analysis_note note = {.level = e->v[NOTE_LEVEL].u};
	int err = array_grow(&a->notes, &a->notes_capacity, a->facts.note_count, sizeof(*a->notes));

	if (err)
		return err;
	note.text = strdup(e->v[NOTE_TEXT].s ? e->v[NOTE_TEXT].s : "");
	if (!note.text)
		return -ENOMEM;
	a->notes[a->facts.note_count++] = note;
	return 0;
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

static int facts_add(struct analysis *a, const struct event *e)
{
	struct analysis_facts *f = &a->facts;

	switch (e->id) {
	case EVENT_LOST:
		return lost_add(a, e);
	case EVENT_NOTE:
		return note_add(a, e);
	case EVENT_STACK_WALK:
		walks_add(a, e);
		return 0;
	case EVENT_MEMORY_BOUND:
		bounded_add(a, e);
		return 0;
	case EVENT_END:
		f->ended = true;
		f->end_reason = e->v[END_REASON].u;
		return 0;
	default:
		return 0;
	}
}

/* Who wants which events, besides contention, which goes by the time of all of them. */
enum wants {
	WANT_FACTS = 1,
	WANT_NAMES = 2,
	WANT_PARKING = 4,
	WANT_PAUSES = 8,
	WANT_PHASES = 16,
	WANT_SAFEPOINTS = 32,
	WANT_SCHED = 64,
	WANT_WALL = 128,
};

static const uint8_t wants[SCHEMA_ID_MAX + 1] = {
	[EVENT_LOST] = WANT_FACTS,
	[EVENT_NOTE] = WANT_FACTS,
	[EVENT_STACK_WALK] = WANT_FACTS,
	[EVENT_MEMORY_BOUND] = WANT_FACTS,
	[EVENT_END] = WANT_FACTS,
	[EVENT_THREAD] = WANT_NAMES | WANT_WALL,
	[EVENT_CLASS] = WANT_NAMES,
	[EVENT_LOCK] = WANT_NAMES,
	[EVENT_STRING] = WANT_NAMES,
	[EVENT_METHOD] = WANT_NAMES,
	[EVENT_STACK] = WANT_NAMES,
	[EVENT_PARK_BEGIN] = WANT_PARKING,
	[EVENT_PARK_END] = WANT_PARKING,
	[EVENT_UNPARK] = WANT_PARKING,
	[EVENT_MONITOR_WAIT_BEGIN] = WANT_PARKING,
	[EVENT_MONITOR_WAIT_END] = WANT_PARKING,
	[EVENT_THREAD_END] = WANT_PARKING | WANT_WALL,
	[EVENT_THREAD_SAMPLE] = WANT_WALL,
	[EVENT_GC_BEGIN] = WANT_PAUSES,
	[EVENT_GC_END] = WANT_PAUSES,
	[EVENT_GC_POOL] = WANT_PAUSES,
	[EVENT_SAFEPOINT_BEGIN] = WANT_PAUSES,
	[EVENT_SAFEPOINT_END] = WANT_PAUSES,
	[EVENT_VM_OPERATION_BEGIN] = WANT_PAUSES,
	[EVENT_VM_OPERATION_END] = WANT_PAUSES,
	[EVENT_COLLECTION_BEGIN] = WANT_PHASES,
	[EVENT_COLLECTION_END] = WANT_PHASES,
	[EVENT_GC_PHASE_BEGIN] = WANT_PHASES,
	[EVENT_GC_PHASE_END] = WANT_PHASES,
	[EVENT_SAFEPOINT] = WANT_SAFEPOINTS,
	[EVENT_CPU_SAMPLE] = WANT_SCHED,
};

/* Who keeps the time is told it: it has not gone back since an event that he did not see. */
static void catch_up(uint64_t *now_ns, const struct analysis *a)
{
	if (*now_ns < a->facts.last_ns)
		*now_ns = a->facts.last_ns;
}

/* All but the usual ones. from: the event with the time from which on it counts. */
static int add_other(struct analysis *a, const struct event *e, const struct event *from,
		     unsigned who)
{
	int err = who & WANT_FACTS ? facts_add(a, e) : 0;

	catch_up(&a->pauses.now_ns, a);
	catch_up(&a->phases.now_ns, a);
	if (!err && who & WANT_NAMES)
		err = log_names_add(a->names, e);
	if (!err && who & WANT_PAUSES)
		err = pauses_add(&a->pauses, from);
	if (!err && who & WANT_PHASES)
		err = phases_add(&a->phases, from);
	if (!err && who & WANT_SAFEPOINTS)
		err = safepoints_add(&a->safepoints, e);
	if (!err && who & WANT_SCHED)
		err = sched_add(&a->sched, e);
	if (!err && who & WANT_WALL)
		err = wall_add(&a->wall, e);
	return err;
}

static inline int add(struct analysis *a, const struct event *e, const struct event *from)
{
	unsigned who = e->id <= SCHEMA_ID_MAX ? wants[e->id] : 0;
	int err = 0;

	if (!a->facts.events) /* which tells it when the log begins, of whatever kind it is */
		who |= WANT_WALL;
	count(&a->facts, e, a->begin_ns);
	if (who & WANT_PARKING) { /* most of them */
		catch_up(&a->parking.now_ns, a);
		err = parking_add(&a->parking, from);
	}
	if (!err && who & ~(unsigned)WANT_PARKING)
		err = add_other(a, e, from, who);
	return err ? err : contention_add(a->contention, from);
}

static bool is_noted(const struct analysis *a, const struct event *e)
{
	for (uint32_t i = 0; i < a->facts.note_count; i++) {
		if (a->notes[i].level == e->v[NOTE_LEVEL].u &&
		    !strcmp(a->notes[i].text, e->v[NOTE_TEXT].s ? e->v[NOTE_TEXT].s : ""))
			return true;
	}
	return false;
}

/* From before the end of a hole: it tells of what was open there, or is noted again. */
static int add_open(struct analysis *a, const struct event *e)
{
	const struct event_desc *desc = schema_event(e->id);
	struct event from = {.id = e->id,
			     .field_count = e->field_count,
			     .thread = e->thread,
			     .time_ns = a->hole_ns - 1};

	if (e->id == EVENT_NOTE && is_noted(a, e))
		return 0;
	memcpy(from.v, e->v, (desc ? desc->field_count : 0) * sizeof(*from.v));
	return add(a, e, &from);
}

int analysis_add(struct analysis *a, const struct event *e)
{
	return e->time_ns < a->hole_ns ? add_open(a, e) : add(a, e, e);
}

static int contention_end(struct analysis *a, uint64_t end_ns)
{
	int err = contention_finish(a->contention, end_ns);

	if (err || !a->before)
		return err;
	err = contention_merge(a->before, a->contention);
	contention_free(a->contention);
	a->contention = a->before;
	a->before = NULL;
	return err;
}

static int contention_begin(struct analysis *a, uint64_t begin_ns)
{
	struct contention *c = contention_new(a->names);

	if (!c)
		return -ENOMEM;
	contention_set_begin(c, begin_ns);
	contention_observe(c, a->observe, a->observer);
	a->before = a->contention;
	a->contention = c;
	return 0;
}

int analysis_hole(struct analysis *a, uint64_t from_ns, uint64_t to_ns)
{
	struct analysis_facts *f = &a->facts;
	int err = array_grow(&a->holes, &a->holes_capacity, f->hole_count, sizeof(*a->holes));

	if (!err)
		err = contention_end(a, from_ns);
	if (!err)
		err = contention_begin(a, to_ns);
	if (!err)
		err = parking_hole(&a->parking, from_ns, to_ns);
	if (err)
		return err;
	pauses_finish(&a->pauses);
	phases_finish(&a->phases);
	sched_hole(&a->sched);
	wall_hole(&a->wall, to_ns);
	a->hole_ns = to_ns;
	a->holes[f->hole_count++] = (struct analysis_hole){from_ns, to_ns};
	f->missing_ns += to_ns - from_ns;
	return 0;
}

int analysis_finish(struct analysis *a)
{
	int err = contention_end(a, a->facts.last_ns);

	for (uint32_t i = 0; i < a->lost_places.count; i++)
		if (a->lost[i].count)
			a->lost[a->facts.lost_count++] = a->lost[i];
	a->stacks = stacks_new(a->names);
	if (!a->stacks)
		err = -ENOMEM;
	pauses_finish(&a->pauses);
	phases_finish(&a->phases);
	if (!err)
		err = wall_finish(&a->wall);
	return err ? err : parking_finish(&a->parking, a->facts.last_ns);
}

void analysis_set_begin(struct analysis *a, uint64_t begin_ns)
{
	a->begin_ns = begin_ns;
	contention_set_begin(a->contention, begin_ns);
}

void analysis_set_course(struct analysis *a, const struct course_options *options)
{
	a->wall.course.options = *options;
}

void analysis_observe(struct analysis *a,
		      void (*observe)(void *context, const struct cell_key *key, uint64_t from_ns,
				      uint64_t to_ns),
		      void *context)
{
	a->observe = observe;
	a->observer = context;
	contention_observe(a->contention, observe, context);
}

void analysis_facts(const struct analysis *a, struct analysis_facts *ret)
{
	*ret = a->facts;
	ret->lost = a->lost;
	ret->notes = a->notes;
	ret->holes = a->holes;
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
	return a->contention;
}

const struct parking *analysis_parking(const struct analysis *a)
{
	return &a->parking;
}

const struct pauses *analysis_pauses(const struct analysis *a)
{
	return &a->pauses;
}

const struct phases *analysis_phases(const struct analysis *a)
{
	return &a->phases;
}

const struct safepoints *analysis_safepoints(const struct analysis *a)
{
	return &a->safepoints;
}

const struct sched *analysis_sched(const struct analysis *a)
{
	return &a->sched;
}

const struct wall *analysis_wall(const struct analysis *a)
{
	return &a->wall;
}
