/*
 * Within a collection all moves are looked up in the heap as it was before, and are applied
 * together at its end: collectors' threads move in no order.
 */
#include "heap/replay/object_effort.h"
#include "heap/replay/object_replay_internal.h"

#include <errno.h>
#include <string.h>

#include "jvm-hooks/objects.h"

#define NOWHERE UINT64_MAX
#define UNITS_MAX 0x7fffffffu

static struct object_collection *current(struct object_replay *r)
{
	return r->collecting ? &r->collections[r->collection_count - 1] : NULL;
}

void object_replay_give_up_heap(struct object_replay *r)
{
	object_heap_free(&r->heap);
	object_lifetimes_free(&r->lifetimes);
	r->sums.heap_given_up = true;
	r->run_count = 0;
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
	if (r->online)
		r->collection_count = 0;
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
	object_graph_begin(r);
}

void object_moves_finish_words(struct object_replay *r, const uint32_t *words)
{
	if (current(r))
		current(r)->end_ns = (uint64_t)words[3] << 32 | words[2];
}

void object_moves_space(struct object_replay *r, uint64_t at, uint64_t units)
{
	r->last_space_count = 0;
	if (array_grow(&r->spaces, &r->spaces_capacity, r->space_count, sizeof(*r->spaces)))
		r->err = -ENOMEM;
	else
		r->spaces[r->space_count++] = (struct object_space){at, units};
	if (r->watch.space)
		r->watch.space(r->watch.ctx, r->heap_base + (at << r->sums.heap_shift),
			       units << r->sums.heap_shift);
}

/* Objects from here on follow those of the emitter's event before, with the same distance. */
static bool extends(const struct object_replay *r, const struct object_emitter *t, uint64_t from,
		    uint64_t to, uint64_t units)
{
	const struct object_run *run = t->run ? &r->runs[t->run - 1] : NULL;

	return run && object_run_from(run) + run->units == from &&
	       object_run_to(run) + run->units == to && run->units + units <= UNITS_MAX;
}

static void add_run(struct object_replay *r, struct object_emitter *t, uint64_t from, uint64_t to,
		    uint32_t units)
{
	uint64_t objects = r->sums.count + r->sums.left_out + r->sums.found +
			   r->sums.carried;

	if (extends(r, t, from, to, units)) {
		r->runs[t->run - 1].units += units;
		return;
	}
	if (r->run_count >= objects || from >= r->heap.units || to >= r->heap.units) {
		r->sums.bad_words++; /* more than there can be; nowhere */
		return;
	}
	if (array_grow(&r->runs, &r->runs_capacity, r->run_count, sizeof(*r->runs))) {
		r->err = -ENOMEM;
		return;
	}
	r->runs[r->run_count++] = object_run(from, to, units);
	t->run = r->run_count;
}

/* What begins there, as it was before the collection. */
static const struct object_desc *look_up(struct object_replay *r, struct object_emitter *t,
					 uint64_t from)
{
	struct object_entry p;
	const struct object_desc *d = NULL;

	if (!r->sums.heap_given_up && object_heap_find(&r->heap, from, &p))
		d = &r->heap.descs.rows[p.desc];
	object_replay_spend_sorting(r);
	t->moved_kind = d ? d->kind : 0;
	return d;
}

void object_moves_one(struct object_replay *r, struct object_emitter *t, uint64_t from, uint64_t to,
		      int destination)
{
	const struct object_desc *d = look_up(r, t, from);

	r->sums.moves++;
	if (destination >= 0)
		t->last_from = from;
	if (destination >= 0)
		t->next_to[destination] = d && to != NOWHERE ? to + d->units : NOWHERE;
	if (!d || to == NOWHERE) {
		r->sums.unknown_moves++;
		t->moved_kind = 0;
		t->run = 0;
		return;
	}
	add_run(r, t, from, to, d->units ? d->units : 1);
}

/* What of it is no object is found when the collection is applied. */
void object_moves_run(struct object_replay *r, struct object_emitter *t, uint64_t from, uint64_t to,
		      uint64_t units)
{
	look_up(r, t, from);
	r->sums.moves++;
	if (units && !r->sums.heap_given_up)
		add_run(r, t, from, to, (uint32_t)units);
}

/* Not of before the log, and not left out. */
static bool is_recorded(const struct object_replay *r, uint32_t kind)
{
	uint32_t part = r->names.kinds[kind].part;

	return part != OBJECT_PART_NONE && part != OBJECT_PART_CARRIED &&
	       !object_names_was_found(&r->names, kind);
}

static void lives(void *ctx, const struct object_entry *p)
{
	struct object_replay *r = ctx;
	const struct object_desc *d = &r->heap.descs.rows[p->desc];
	uint64_t bytes = (uint64_t)d->units << r->sums.heap_shift;
	struct object_collection *c = current(r);
	struct object_tally *of = &r->names.kinds[d->kind].of;
	bool carried = r->names.kinds[d->kind].part == OBJECT_PART_CARRIED;
	bool first = !p->age && !carried && !object_names_was_found(&r->names, d->kind);

	if (r->names.kinds[d->kind].part == OBJECT_PART_NONE)
		return;
	if (first) {
		of->survived++;
		of->survived_bytes += bytes;
	}
	if (!c)
		return;
	c->survived++;
	c->survived_bytes += bytes;
	c->first += first;
	c->first_bytes += first ? bytes : 0;
}

static void dies(void *ctx, const struct object_entry *p)
{
	struct object_replay *r = ctx;
	const struct object_desc *d = &r->heap.descs.rows[p->desc];

	r->sums.uncertain += r->lossy && is_recorded(r, d->kind);
	if (!r->err && !r->online)
		r->err = object_lifetimes_add(&r->lifetimes, d->kind, p->birth,
					      (uint64_t)d->units << r->sums.heap_shift);
}

static bool keeps_some(const struct object_replay *r)
{
	uint32_t i = 0;

	while (i < r->run_count && object_run_from(&r->runs[i]) != object_run_to(&r->runs[i]))
		i++;
	return i < r->run_count;
}

static void apply(struct object_replay *r)
{
	struct object_collect c = {
		.runs = r->runs,
		.run_count = r->run_count,
		.spaces = r->spaces,
		.space_count = r->space_count,
		.all = r->forget_all,
		.lives = lives,
		.dies = dies,
		.ctx = r,
	};
	int err = object_heap_collect(&r->heap, &c);

	r->sums.unknown_moves += c.unknown;
	r->sums.bad_words += c.outside;
	r->last_space_count = c.all ? 0 : c.space_count;
	object_replay_spend(r, c.pages * EFFORT_PAGE);
	object_replay_spend_sorting(r);
	if (err)
		object_replay_give_up_heap(r);
	else if (!r->err && !r->online)
		r->err = object_lifetimes_close(&r->lifetimes, r->collection_count);
}

/* Whoever looks at the heap goes through all of it. */
static void show(struct object_replay *r)
{
	uint64_t steps = r->heap.count + r->heap.page_count;

	if (r->err || !r->watch.end || r->sums.heap_given_up || steps > r->effort)
		return;
	object_heap_sort(&r->heap);
	object_replay_spend_sorting(r);
	object_replay_spend(r, steps);
	if (!r->err)
		r->err = r->watch.end(r->watch.ctx, r->collection_count - 1);
}

static void heap_sums(const struct object_replay *r, uint64_t *objects, uint64_t *bytes)
{
	*objects = r->heap.count;
	*bytes = r->heap.live_units << r->sums.heap_shift;
}

void object_moves_end(struct object_replay *r)
{
	struct object_collection *c = current(r);

	if (c) {
		heap_sums(r, &c->before, &c->before_bytes);
		c->kept = keeps_some(r);
	}
	if (r->stop_at && r->collection_count >= r->stop_at) {
		r->stopped = true;
		if (r->stop_before)
			return;
	}
	object_losses_before(r);
	if (c && c->untraced) {
		r->sums.forgotten += r->heap.count;
		object_heap_forget(&r->heap);
	} else if (!r->sums.heap_given_up) {
		apply(r);
	}
	object_losses_after(r, c);
	if (c)
		heap_sums(r, &c->after, &c->after_bytes);
	if (c && !c->untraced)
		show(r);
	for (uint32_t i = r->first_emitter; i < r->streams.count; i++) {
		r->emitters[i].run = 0;
		if (!c || !r->choice)
			continue;
		object_replay_date(r, &r->emitters[i], c->begin_ns);
		object_replay_date(r, &r->emitters[i], c->end_ns);
	}
	r->run_count = r->space_count = 0;
	r->forget_all = r->collecting = false;
}
