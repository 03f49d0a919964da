#include "analyze/registry/facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/row.h"
#include "base/tables/keymap.h"

struct facts {
	struct analysis_facts found;
	struct keymap lost_stages;
	struct analysis_lost *lost;
	uint32_t lost_capacity;
	uint64_t begin_ns;                         /* 0: with the first event */
	uint64_t walks_before[ANALYSIS_WALKS_MAX]; /* by then */
	struct analysis_bounded bounded_before[ANALYSIS_BOUNDED_MAX];
	struct analysis_note *notes;
	uint32_t notes_capacity;
};

static void *facts_row_new(struct log_names *names)
{
	(void)names;
	return calloc(1, sizeof(struct facts));
}

static void facts_row_free(void *self)
{
	struct facts *a = self;

	if (!a)
		return;
	keymap_free(&a->lost_stages);
	free(a->lost);
	for (uint32_t i = 0; i < a->found.note_count; i++)
		free(a->notes[i].text);
	free(a->notes);
	free(a);
}

static void facts_row_begin(void *self, uint64_t begin_ns)
{
	((struct facts *)self)->begin_ns = begin_ns;
}

/* These counts are cumulative; the greatest is the last, also when events come a little out of
 * order. */
static void walks_add(struct facts *a, const struct event *e)
{
	struct analysis_facts *f = &a->found;
	uint64_t result = e->v[STACK_WALK_RESULT].u, count = e->v[STACK_WALK_COUNT].u;

	if (result >= ANALYSIS_WALKS_MAX)
		return;
	if (e->time_ns < a->begin_ns)
		a->walks_before[result] = count;
	else if (count > f->walks[result] && count - f->walks[result] > a->walks_before[result])
		f->walks[result] = count - a->walks_before[result];
}

/* So are these. */
static int lost_add(struct facts *a, const struct event *e)
{
	struct keymap_key key = {.a = e->v[LOST_EVENT_ID].u, .b = e->v[LOST_PLACE].u};
	struct analysis_lost *row;
	uint32_t index;
	int err;

	if (!e->v[LOST_COUNT].u)
		return 0;
	err = keymap_add_row(&a->lost_stages, key, &a->lost, &a->lost_capacity, sizeof(*a->lost),
			     &index);
	if (err)
		return err;
	row = &a->lost[index];
	row->event_id = key.a;
	row->stage = key.b;
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
static void bounded_add(struct facts *a, const struct event *e)
{
	uint64_t kind = e->v[MEMORY_BOUND_KIND].u;
	struct analysis_bounded *b, *before;

	if (kind >= ANALYSIS_BOUNDED_MAX)
		return;
	b = &a->found.bounded[kind];
	before = &a->bounded_before[kind];
	if (e->time_ns < a->begin_ns) {
		before->forgotten = e->v[MEMORY_BOUND_FORGOTTEN].u;
		before->shared = e->v[MEMORY_BOUND_SHARED].u;
		return;
	}
	b->forgotten = since(e->v[MEMORY_BOUND_FORGOTTEN].u, before->forgotten, b->forgotten);
	b->shared = since(e->v[MEMORY_BOUND_SHARED].u, before->shared, b->shared);
}

static int note_add(struct facts *a, const struct event *e)
{
	struct analysis_note note = {.level = e->v[NOTE_LEVEL].u};
	int err = array_grow(&a->notes, &a->notes_capacity, a->found.note_count, sizeof(*a->notes));

	if (err)
		return err;
	note.text = strdup(e->v[NOTE_TEXT].s ? e->v[NOTE_TEXT].s : "");
	if (!note.text)
		return -ENOMEM;
	a->notes[a->found.note_count++] = note;
	return 0;
}

bool facts_is_noted(const void *self, const struct event *e)
{
	const struct facts *a = self;

	for (uint32_t i = 0; i < a->found.note_count; i++) {
		if (a->notes[i].level == e->v[NOTE_LEVEL].u &&
		    !strcmp(a->notes[i].text, e->v[NOTE_TEXT].s ? e->v[NOTE_TEXT].s : ""))
			return true;
	}
	return false;
}

static void samples_add(struct facts *a, const struct event *e)
{
	if (e->time_ns < a->begin_ns)
		return;
	a->found.samples++;
	a->found.spins += e->v[RUN_SAMPLE_MODE].u == SAMPLE_MODE_SPIN;
}

static int facts_row_add(void *self, const struct analysis_input *in)
{
	const struct event *e = in->event;
	struct facts *a = self;
	struct analysis_facts *f = &a->found;

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
	case EVENT_RUN_SAMPLE:
		samples_add(a, e);
		return 0;
	case EVENT_END:
		f->ended = true;
		f->end_reason = e->v[END_REASON].u;
		return 0;
	default:
		return 0;
	}
}

static int facts_row_finish(void *self, uint64_t end_ns)
{
	struct facts *a = self;

	(void)end_ns;
	for (uint32_t i = 0; i < a->lost_stages.count; i++) {
		struct analysis_lost row = a->lost[i];

		if (!row.count)
			continue;
		a->lost[i] = a->lost[a->found.lost_count];
		a->lost[a->found.lost_count++] = row;
	}
	a->found.lost_all = a->lost_stages.count;
	return 0;
}

void facts_get(const void *self, struct analysis_facts *ret)
{
	const struct facts *a = self;

	*ret = a->found;
	ret->lost = a->lost;
	ret->notes = a->notes;
}

const struct analysis_row facts_analysis = {
	.events =
		ROW_EVENTS(EVENT_LOST, EVENT_NOTE, EVENT_STACK_WALK, EVENT_MEMORY_BOUND,
			   EVENT_RUN_SAMPLE, EVENT_END),
	.new = facts_row_new,
	.begin = facts_row_begin,
	.add = facts_row_add,
	.finish = facts_row_finish,
	.free = facts_row_free,
};
