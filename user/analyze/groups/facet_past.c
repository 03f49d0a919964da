#include "analyze/groups/facet_past.h"

#include <stdlib.h>

#include "analyze/groups/facets.h"
#include "log/format/event.h"

void facet_past_free(struct facet_past *p)
{
	for (uint32_t i = 0; i < p->threads.count; i++)
		free(p->spans[i].changes);
	free(p->spans);
	free(p->pauses);
	keymap_free(&p->names);
	keymap_free(&p->threads);
	*p = (struct facet_past){0};
}

static struct gc_pause *pause_open(const struct facet_past *p)
{
	struct gc_pause *last = p->pause_count ? &p->pauses[p->pause_count - 1] : NULL;

	return last && !last->to_ns ? last : NULL;
}

/* A begin after a begin: the end between them is lost, and nobody knows when it was. */
static int gc_begin(struct facet_past *p)
{
	int err;

	if (pause_open(p)) {
		pause_open(p)->from_ns = p->now_ns;
		return 0;
	}
	err = array_grow(&p->pauses, &p->pauses_capacity, p->pause_count, sizeof(*p->pauses));
	if (!err)
		p->pauses[p->pause_count++] = (struct gc_pause){p->now_ns, 0};
	return err;
}

static void gc_end(struct facet_past *p)
{
	struct gc_pause *open = pause_open(p);

	if (!open)
		return;
	open->to_ns = p->now_ns;
	p->pause_count -= open->to_ns <= open->from_ns; /* over at once */
}

static int change_add(struct span_past *s, uint64_t ns)
{
	uint32_t depth = s->depth < FACET_SPAN_DEPTH ? s->depth : FACET_SPAN_DEPTH;
	int err = array_grow(&s->changes, &s->capacity, s->count, sizeof(*s->changes));

	if (!err)
		s->changes[s->count++] =
			(struct span_change){ns, depth ? s->open[depth - 1] : FACET_SPAN_NONE};
	return err;
}

static int span_begin(struct facet_past *p, const struct event *e)
{
	uint32_t thread, name;
	struct span_past *s;
	int err = keymap_add_row(&p->threads, (struct keymap_key){.a = e->thread}, &p->spans,
				 &p->spans_capacity, sizeof(*p->spans), &thread);

	if (!err)
		err = keymap_add_number(&p->names, e->v[SPAN_BEGIN_NAME].u, &name);
	if (err)
		return err;
	s = &p->spans[thread];
	if (s->depth < FACET_SPAN_DEPTH)
		s->open[s->depth] = name < FACET_SPAN_NAMES ? name + 1 : FACET_SPAN_MORE;
	s->depth++;
	return change_add(s, p->now_ns);
}

static int span_end(struct facet_past *p, const struct event *e)
{
	uint32_t thread = keymap_find_number(&p->threads, e->thread);

	if (thread == INDEX_NONE || !p->spans[thread].depth)
		return 0;
	p->spans[thread].depth--;
	return change_add(&p->spans[thread], p->now_ns);
}

int facet_past_add(struct facet_past *p, const struct event *e)
{
	/* An event that comes too late may not turn time back. */
	if (e->time_ns > p->now_ns)
		p->now_ns = e->time_ns;
	switch (e->id) {
	case EVENT_GC_BEGIN:
		return gc_begin(p);
	case EVENT_GC_END:
		gc_end(p);
		return 0;
	case EVENT_SPAN_BEGIN:
		return span_begin(p, e);
	case EVENT_SPAN_END:
		return span_end(p, e);
	default:
		return 0;
	}
}

int facet_past_hole(struct facet_past *p, uint64_t from_ns)
{
	int err = 0;

	if (from_ns > p->now_ns)
		p->now_ns = from_ns;
	gc_end(p);
	for (uint32_t i = 0; i < p->threads.count && !err; i++) {
		if (!p->spans[i].depth)
			continue;
		p->spans[i].depth = 0;
		err = change_add(&p->spans[i], p->now_ns);
	}
	return err;
}

bool facet_past_gc(const struct facet_past *p, uint64_t ns, uint64_t *ret_until_ns)
{
	uint32_t low = 0, high = p->pause_count;

	/* The first one that begins later. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (p->pauses[middle].from_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_until_ns = low < p->pause_count ? p->pauses[low].from_ns : UINT64_MAX;
	if (!low || (p->pauses[low - 1].to_ns && p->pauses[low - 1].to_ns <= ns))
		return false;
	*ret_until_ns = p->pauses[low - 1].to_ns ? p->pauses[low - 1].to_ns : UINT64_MAX;
	return true;
}

unsigned facet_past_span(const struct facet_past *p, uint64_t thread, uint64_t ns)
{
	uint32_t row = keymap_find_number(&p->threads, thread), low = 0, high;
	const struct span_past *s;

	if (row == INDEX_NONE)
		return FACET_SPAN_NONE;
	s = &p->spans[row];
	for (high = s->count; low < high;) {
		uint32_t middle = low + (high - low) / 2;

		if (s->changes[middle].since_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? s->changes[low - 1].span : FACET_SPAN_NONE;
}

uint64_t facet_past_name(const struct facet_past *p, unsigned span)
{
	return span && span <= p->names.count ? p->names.keys[span - 1].a : 0;
}
