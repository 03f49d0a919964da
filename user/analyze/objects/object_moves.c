/*
 * Within a collection all moves are looked up in the heap as it was before, and are applied
 * together at its end: collectors' threads move in no order.
 */
#include "analyze/objects/object_replay_internal.h"

#include <errno.h>
#include <string.h>

#include "jvm-hooks/objects.h"

/* Units of a run that may be passed over because no object is known there. */
#define RUN_UNKNOWN_MAX 65536
#define NOWHERE UINT64_MAX

static struct object_collection *current(struct object_replay *r)
{
	return r->collecting ? &r->collections[r->collection_count - 1] : NULL;
}

void object_replay_give_up_heap(struct object_replay *r)
{
	object_heap_free(&r->heap);
	r->sums.heap_given_up = true;
	r->move_count = 0;
}

static uint32_t text_of(char *to, size_t size, const uint32_t *words, uint32_t count)
{
	size_t bytes = count * sizeof(*words), length = strnlen((const char *)words, bytes);

	memset(to, 0, size);
	memcpy(to, words, length < size ? length : size - 1);
	for (size_t i = 0; i < size && to[i]; i++) /* names of HotSpot's are ASCII */
		if (to[i] < ' ' || to[i] > '~')
			to[i] = '?';
	return (uint32_t)(length / sizeof(*words)) + 1;
}

void object_moves_begin(struct object_replay *r, const uint32_t *words, uint32_t count)
{
	struct object_collection *c;
	uint32_t used;

	if (r->err || array_grow(&r->collections, &r->collections_capacity, r->collection_count,
				 sizeof(*r->collections))) {
		r->err = -ENOMEM;
		return;
	}
	c = &r->collections[r->collection_count++];
	*c = (struct object_collection){
		.id = words[1],
		.begin_ns = (uint64_t)words[3] << 32 | words[2],
		.all = words[0] >> 8 & SPOOR_GC_ALL,
		.untraced = (words[0] >> 8 & SPOOR_GC_UNTRACED) != 0,
	};
	if (count > 4) {
		used = text_of(c->collector, sizeof(c->collector), words + 4, count - 4);
		if (used < count - 4)
			text_of(c->cause, sizeof(c->cause), words + 4 + used, count - 4 - used);
	}
	r->forget_all |= c->all || c->untraced;
	r->collecting = true;
}

void object_moves_finish_words(struct object_replay *r, const uint32_t *words)
{
	if (current(r))
		current(r)->end_ns = (uint64_t)words[3] << 32 | words[2];
}

void object_moves_space(struct object_replay *r, uint64_t at, uint64_t units)
{
	if (array_grow(&r->spaces, &r->spaces_capacity, r->space_count, sizeof(*r->spaces)))
		r->err = -ENOMEM;
	else
		r->spaces[r->space_count++] = (struct object_space){at, units};
}

static void count_survivor(struct object_replay *r, const struct object_place *p)
{
	uint64_t bytes = (uint64_t)p->units << r->sums.heap_shift;
	struct object_collection *c = current(r);
	struct object_tally *of = &r->names.kinds[p->kind].of;

	if (!p->old) {
		of->survived++;
		of->survived_bytes += bytes;
	}
	if (!c)
		return;
	c->survived++;
	c->survived_bytes += bytes;
	c->first += !p->old;
	c->first_bytes += p->old ? 0 : bytes;
}

void object_moves_one(struct object_replay *r, struct object_teller *t, uint64_t from, uint64_t to,
		      int destination)
{
	const struct object_place *p = object_heap_find(&r->heap, from);

	t->moved = p ? *p : (struct object_place){0};
	r->sums.moves++;
	if (destination >= 0)
		t->last_from = from;
	if (destination >= 0)
		t->next_to[destination] = p && to != NOWHERE ? to + p->units : NOWHERE;
	if (!p || to == NOWHERE) {
		r->sums.unknown_moves++;
		t->moved.kind = 0;
		return;
	}
	if (r->move_count >= r->sums.count) { /* more than there can be */
		r->sums.bad_words++;
		return;
	}
	if (array_grow(&r->moves, &r->moves_capacity, r->move_count, sizeof(*r->moves))) {
		r->err = -ENOMEM;
		return;
	}
	r->moves[r->move_count++] = (struct object_move){to, *p};
}

void object_moves_run(struct object_replay *r, struct object_teller *t, uint64_t from, uint64_t to,
		      uint64_t units)
{
	uint64_t unknown = 0;

	for (uint64_t i = 0; i < units && unknown < RUN_UNKNOWN_MAX && !r->err;) {
		const struct object_place *p = object_heap_find(&r->heap, from + i);

		if (p) {
			object_moves_one(r, t, from + i, to + i, -1);
			i += p->units ? p->units : 1;
			continue;
		}
		r->sums.unknown_moves += !unknown;
		t->moved.kind = 0;
		unknown++;
		i++;
	}
	object_replay_spend(r, EFFORT_LOOK * unknown);
}

void object_moves_end(struct object_replay *r)
{
	bool over;
	int err;

	if (r->stop_at && r->collection_count >= r->stop_at) {
		r->stopped = true;
		if (r->stop_before)
			return;
	}
	if (r->forget_all && object_replay_spend(r, r->heap.page_count))
		object_heap_forget(&r->heap, 0, r->heap.units);
	for (uint32_t i = 0; i < r->space_count; i++)
		if (object_replay_spend(r, 2 * EFFORT_PAGE + r->spaces[i].units / OBJECT_HEAP_PAGE))
			object_heap_forget(&r->heap, r->spaces[i].at, r->spaces[i].units);
	for (uint32_t i = 0; i < r->move_count && !r->sums.heap_given_up; i++) {
		count_survivor(r, &r->moves[i].place);
		r->moves[i].place.old = 1;
		err = object_heap_put(&r->heap, r->moves[i].to, r->moves[i].place, &over);
		if (err == -ENOMEM)
			object_replay_give_up_heap(r);
		else if (err)
			r->sums.bad_words++;
		else
			r->sums.over += over;
	}
	r->move_count = r->space_count = 0;
	r->forget_all = r->collecting = false;
}
