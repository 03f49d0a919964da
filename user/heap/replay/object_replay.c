/*
 * Phases order the threads, as jvm-hooks/objects.h has it: in even ones the program runs, odd ones
 * are collections. Births of a phase may be applied in any order of the threads, as no memory is
 * used twice within it, so that they need not wait for the end of their phase; moves must.
 */
#include "heap/replay/object_effort.h"
#include "heap/replay/object_replay_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/object_record.h"

#define PHASES_MAX 65536         /* between two looks of the recorder */
/* Steps of less than a ns that are given at once, and for each record. */
#define EFFORT_BEGIN (1ull << 31)
#define EFFORT_RECORD (1ull << 15)

struct object_replay *object_replay_new(uint64_t heap_bytes)
{
	struct object_replay *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->heap_bytes_max = heap_bytes;
	r->sums.heap_shift = 3;
	r->sums.heap_given_up = true;
	r->effort = EFFORT_BEGIN;
	r->waiting_many = OBJECT_WAITING_MANY;
	r->lifetimes.rows_max = LIFETIME_ROWS_MAX;
	if (!object_names_init(&r->names))
		return r;
	object_replay_free(r);
	return NULL;
}

void object_replay_free(struct object_replay *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->streams.count; i++)
		object_stream_free(&r->emitters[i].in);
	object_heap_free(&r->heap);
	object_lifetimes_free(&r->lifetimes);
	object_names_free(&r->names);
	keymap_free(&r->streams);
	keymap_free(&r->desc_map);
	free(r->state_descs);
	free(r->emitters);
	free(r->collections);
	free(r->runs);
	free(r->spaces);
	free(r->due);
	free(r->graph.bytes);
	free(r);
}

static void go_through_all(struct object_replay *r, uint64_t phase, uint64_t complete);

/* --- records ------------------------------------------------------------------------------ */

/*
 * A collection can have more words than are to be held: a graph of a large heap is one. All of them
 * may be gone through before its end, as what they say applies at its end only; but a part of a log
 * that begins amid of it would have to carry that.
 */
static void go_ahead(struct object_replay *r)
{
	if (r->begun && !r->stopped && !r->online && !r->err)
		go_through_all(r, r->done, r->done);
	r->waiting_many = 2 * r->waiting;
	if (r->waiting_many < OBJECT_WAITING_MANY)
		r->waiting_many = OBJECT_WAITING_MANY;
}

static int add_words(struct object_replay *r, const struct object_record *o)
{
	struct object_emitter *t;
	uint64_t bytes;
	uint32_t i;
	int err = object_replay_emitter(r, o->number[WORDS_STREAM], &i);

	if (err)
		return err;
	t = &r->emitters[i];
	if (o->number[WORDS_JAVA_TID])
		t->thread.java_tid = (int64_t)o->number[WORDS_JAVA_TID];
	t->thread.tid = (uint32_t)o->number[WORDS_TID];
	if (!r->sums.begin_ns || o->number[WORDS_BEGIN_NS] < r->sums.begin_ns)
		r->sums.begin_ns = o->number[WORDS_BEGIN_NS];
	err = object_stream_add(&t->in, o, &bytes);
	r->waiting += bytes;
	if (!err && !t->due)
		err = array_grow(&r->due, &r->due_capacity, r->due_count, sizeof(*r->due));
	if (err)
		return err;
	if (!t->due)
		r->due[r->due_count++] = i;
	t->due = true;
	if (r->waiting > r->waiting_many)
		go_ahead(r);
	return r->err ? r->err : r->waiting > OBJECT_WAITING_MAX ? -EFBIG : 0;
}

/* --- phases ------------------------------------------------------------------------------- */

static void hole(struct object_replay *r, struct object_emitter *t)
{
	r->sums.holes++;
	object_losses_of(r, t);
	object_graph_cut(r);
	t->thread.gap = true;
	t->has_tlab = t->has_at = false;
}

/* A slot that begins or ends in a collection dates nothing: what was born before is dated by the
 * collection's begin, which is known at its end. */
static void chunk_date(struct object_replay *r, struct object_emitter *t, uint64_t phase,
		       uint64_t ns)
{
	if (phase % 2 == 0)
		object_replay_date(r, t, ns);
}

static void chunk_begin(struct object_replay *r, struct object_emitter *t, uint64_t phase,
			const struct object_chunk *c)
{
	chunk_date(r, t, phase, c->begin_ns);
	if (t->phase < c->phase)
		t->phase = c->phase;
	t->last_from = 0;
	memset(t->next_to, 0, sizeof(t->next_to));
	t->moved_kind = t->run = 0;
}

/* All words of a stream up to the end of a phase. complete: of what the log has, as it says. */
static void go_through(struct object_replay *r, struct object_emitter *t, uint64_t phase,
		       uint64_t complete)
{
	struct object_chunk *c;
	bool missing;
	uint32_t n;

	while (!r->err && (c = object_stream_next(&t->in, complete, &missing))) {
		if (missing)
			hole(r, t);
		if (c->phase > phase)
			return;
		if (!c->at)
			chunk_begin(r, t, phase, c);
		while (c->at < c->count && t->phase <= phase && !r->err) {
			n = object_event(r, t, c->words + c->at);
			c->at = n && n < c->count - c->at ? c->at + n : c->count;
		}
		/* A slot can end with the mark of a phase; then its end is of that phase. */
		if (c->at < c->count || !c->last || t->phase > phase)
			return;
		if (c->broken)
			hole(r, t);
		chunk_date(r, t, phase, c->end_ns);
		r->waiting -= object_stream_drop(&t->in);
	}
}

/* Has all words of the emitter been looked at? What is left is of a later phase otherwise. */
static bool is_idle(const struct object_emitter *t)
{
	const struct object_chunk *c = t->in.first;

	return !c || (!c->next && c->at == c->count && !c->last);
}

/* Who has words of this phase, which is the first that is not done. */
static void go_through_all(struct object_replay *r, uint64_t phase, uint64_t complete)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < r->due_count; i++) {
		struct object_emitter *t = &r->emitters[r->due[i]];

		if (!r->err)
			go_through(r, t, phase, complete);
		t->due = !is_idle(t);
		if (t->due)
			r->due[kept++] = r->due[i];
	}
	r->due_count = kept;
	object_replay_spend(r, EFFORT_THREAD * kept);
}

static void go_to(struct object_replay *r, uint64_t complete, uint64_t now)
{
	for (; r->done < complete && !r->err && !r->stopped; r->done++) {
		go_through_all(r, r->done, complete);
		if (r->done % 2)
			object_moves_end(r);
		if (!r->due_count)
			r->done = complete - 1;
	}
	if (now % 2 == 0 && !r->stopped)
		go_through_all(r, now, complete);
}

void object_replay_catch_up(struct object_replay *r)
{
	if (!r->err && r->begun && r->done % 2 == 0 && !r->stopped)
		go_through_all(r, r->done, r->done);
}

/* Of what the log has: the JVM may have run for long before it was recorded. */
static uint64_t first_phase(const struct object_replay *r, uint64_t phase)
{
	for (uint32_t i = 0; i < r->due_count; i++) {
		const struct object_chunk *c = r->emitters[r->due[i]].in.first;

		if (c && c->phase < phase)
			phase = c->phase;
	}
	return phase;
}

static int add_phase(struct object_replay *r, const struct object_record *o)
{
	uint64_t phase = (uint32_t)o->number[PHASE_NUMBER]; /* the rest is the ring's number */

	object_losses_said(r, o);
	object_rings_phase(r, o);
	if (o->number[PHASE_ENDED] < OBJECT_END_COUNT)
		r->sums.end = (enum object_end)o->number[PHASE_ENDED];
	if (!r->begun)
		r->done = first_phase(r, phase);
	r->begun = true;
	if (phase < r->done || phase - r->done > PHASES_MAX) {
		r->sums.bad_words++;
		return 0;
	}
	go_to(r, phase, r->sums.end == OBJECT_END_ENDED ? 1 : phase);
	if (r->sums.end != OBJECT_END_NONE && phase % 2 == 0 && !r->stopped)
		go_through_all(r, phase, phase + 1); /* what is missing will not come any more */
	return r->err;
}

int object_replay_add(struct object_replay *r, const struct object_record *o)
{
	if (r->stopped)
		return 0;
	r->effort += EFFORT_RECORD;
	if (o->kind >= OBJECT_STATE)
		return object_replay_carried(r, o);
	if (r->skip_state)
		return 0;
	if (o->kind == OBJECT_RING) {
		object_replay_catch_up(r); /* of a ring without an end */
		return object_rings_add(r, o);
	}
	if (!object_rings_has(r, o))
		return 0;
	switch (o->kind) {
	case OBJECT_WORDS:
		return add_words(r, o);
	case OBJECT_PHASE:
		return add_phase(r, o);
	default:
		return object_names_add(&r->names, o);
	}
}

/* What lives has no death. */
static int close_lifetimes(struct object_replay *r)
{
	struct object_entry p;
	int err = 0;

	for (uint64_t at = 0; !err && object_heap_next(&r->heap, &at, &p); at++) {
		const struct object_desc *d = &r->heap.descs.rows[p.desc];

		err = object_lifetimes_add(&r->lifetimes, d->kind, p.birth,
					   (uint64_t)d->units << r->sums.heap_shift);
	}
	return err ? err : object_lifetimes_close(&r->lifetimes, LIFETIME_ALIVE);
}

int object_replay_finish(struct object_replay *r)
{
	if (r->sums.end == OBJECT_END_NONE)
		object_replay_catch_up(r);
	for (uint32_t i = 0; i < r->streams.count; i++)
		object_replay_date(r, &r->emitters[i], UINT64_MAX);
	object_names_end_again(&r->names);
	r->sums.incomplete_now = object_losses_now(r);
	object_heap_sort(&r->heap);
	r->sums.over = r->heap.over;
	r->sums.live = r->heap.count;
	r->sums.live_bytes = r->heap.live_units << r->sums.heap_shift;
	r->sums.map_bytes = r->heap.bytes;
	r->sums.map_bytes_most = r->heap.bytes_most;
	if (!r->err && !r->sums.heap_given_up)
		r->err = close_lifetimes(r);
	return r->err;
}

void object_replay_by_thread(struct object_replay *r)
{
	r->by_thread = true;
}

void object_replay_watch(struct object_replay *r, const struct object_watch *w)
{
	r->watch = *w;
}

const struct object_lifetimes *object_replay_lifetimes(const struct object_replay *r)
{
	return &r->lifetimes;
}

void object_replay_stop(struct object_replay *r, uint32_t collection, bool before)
{
	r->stop_at = collection + 1;
	r->stop_before = before;
}

bool object_replay_stopped(const struct object_replay *r)
{
	return r->stopped;
}

bool object_replay_next(const struct object_replay *r, uint64_t *unit, struct object_found *ret)
{
	const struct object_desc *d;
	struct object_entry p;

	if (!object_heap_next(&r->heap, unit, &p))
		return false;
	d = &r->heap.descs.rows[p.desc];
	*ret = (struct object_found){
		.address = r->heap_base + (*unit << r->sums.heap_shift),
		.bytes = (uint64_t)d->units << r->sums.heap_shift,
		.length = d->length,
		.kind = d->kind,
		.class = r->names.kinds[d->kind].class,
		.birth = p.birth,
		.age = p.age,
	};
	++*unit;
	return true;
}

uint64_t object_replay_base(const struct object_replay *r)
{
	return r->heap_base;
}

bool object_replay_ever(const struct object_replay *r, uint64_t address)
{
	return address >= r->heap_base &&
	       object_heap_ever(&r->heap, (address - r->heap_base) >> r->sums.heap_shift);
}

bool object_replay_left_out(const struct object_replay *r, uint64_t address)
{
	uint64_t at = (address - r->heap_base) >> r->sums.heap_shift;
	uint32_t low = 0, high = r->last_space_count;

	while (low < high) { /* they are sorted, and apart from each other */
		uint32_t mid = low + (high - low) / 2;
		const struct object_space *s = &r->spaces[mid];

		if (at >= s->at && at - s->at < s->units)
			return false;
		if (s->at <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return r->last_space_count && address >= r->heap_base;
}

/* --- what was found ----------------------------------------------------------------------- */

const struct object_names *object_replay_names(const struct object_replay *r)
{
	return &r->names;
}

struct object_names *object_replay_own_names(struct object_replay *r)
{
	return &r->names;
}

const struct object_sums *object_replay_sums(const struct object_replay *r)
{
	return &r->sums;
}

uint32_t object_replay_thread_count(const struct object_replay *r)
{
	return r->streams.count;
}

const struct object_thread *object_replay_thread(const struct object_replay *r, uint32_t i)
{
	return &r->emitters[i].thread;
}

const struct object_collection *object_replay_collections(const struct object_replay *r,
							  uint32_t *ret_count)
{
	*ret_count = r->collection_count;
	return r->collections;
}

uint32_t object_replay_ended(const struct object_replay *r)
{
	return r->collection_count - (r->stopped && r->stop_before);
}
