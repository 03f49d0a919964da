/*
 * A part of a log begins with what it needs of those before: names, each stream as its words have
 * left it, words that wait for their phase, and the objects in the heap. A replay that has seen the
 * parts before passes over it. Between two records no collection is applied by half, so that there
 * is nothing to carry of one.
 */
#include "heap/replay/object_replay_internal.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/object_record.h"

#define RECORD_WORDS (OBJECT_WORDS_MAX / 4)

struct carrier {
	struct object_replay *r;
	int (*emit)(void *ctx, const struct object_record *o);
	void *ctx;
	struct object_record o; /* with words of which count are used */
	uint32_t count, words[RECORD_WORDS];
};

void object_replay_online(struct object_replay *r)
{
	r->online = true;
}

uint64_t object_replay_waiting(const struct object_replay *r)
{
	return r->waiting;
}

static int emit_record(struct carrier *c, const struct object_record *o)
{
	struct object_record numbered;

	if (!c->r->ring_number || o->kind == OBJECT_STATE || o->kind == OBJECT_DESCS ||
	    o->kind == OBJECT_KEPT)
		return c->emit(c->ctx, o);
	numbered = *o;
	numbered.number[0] |= (uint64_t)c->r->ring_number << OBJECT_RING_SHIFT;
	return c->emit(c->ctx, &numbered);
}

static int flush(struct carrier *c)
{
	int err = 0;

	c->o.words = (const uint8_t *)c->words;
	c->o.word_bytes = 4 * c->count;
	if (c->count)
		err = emit_record(c, &c->o);
	c->count = 0;
	return err;
}

static void put(struct carrier *c, uint64_t word)
{
	c->words[c->count++] = htole32((uint32_t)word);
}

static int carry_class(struct carrier *c, uint32_t i)
{
	const struct object_names *n = &c->r->names;
	const struct object_class *of = &n->classes[i];
	struct object_record o = {.kind = OBJECT_CLASS, .text = {of->name}};

	o.number[CLASS_ID] = of->id;
	o.number[CLASS_KLASS] = of->klass;
	o.number[CLASS_LAYOUT] = (uint32_t)of->layout;
	o.text_bytes[0] = (uint32_t)strlen(of->name);
	return emit_record(c, &o);
}

/* Those that have no address any more come first: what comes later takes it. */
static int carry_classes(struct carrier *c)
{
	const struct object_names *n = &c->r->names;
	int err = 0;

	for (int has = 0; has < 2; has++)
		for (uint32_t i = 0; i < n->class_map.count && !err; i++) {
			struct object_record gone = {.kind = OBJECT_GONE,
						     .number = {n->classes[i].id}};

			if (has != (object_names_class_at(n, n->classes[i].klass) == i))
				continue;
			err = carry_class(c, i);
			if (!err && !has)
				err = emit_record(c, &gone);
		}
	return err;
}

static int carry_method(struct carrier *c, uint32_t i)
{
	const struct object_names *n = &c->r->names;
	const struct object_method *m = &n->methods[i];
	struct object_record o = {.kind = OBJECT_METHOD, .text = {m->name, m->signature}};

	o.number[METHOD_ID] = m->id;
	o.number[METHOD_CLASS_ID] = m->class == INDEX_NONE ? 0 : n->classes[m->class].id;
	o.text_bytes[0] = (uint32_t)strlen(m->name);
	o.text_bytes[1] = (uint32_t)strlen(m->signature);
	return emit_record(c, &o);
}

static int carry_site(struct carrier *c, uint32_t i)
{
	const struct object_names *n = &c->r->names;
	const struct object_site *s = &n->sites[i];
	struct object_record o = {.kind = OBJECT_SITE, .frame_count = s->frame_count};

	o.number[SITE_ID] = s->id;
	o.number[SITE_CLASS_ID] = s->class == INDEX_NONE ? 0 : n->classes[s->class].id;
	o.number[SITE_TIER] = s->tier;
	for (uint32_t f = 0; f < s->frame_count; f++) {
		o.frames[f][0] = n->frames[s->first_frame + f].method;
		o.frames[f][1] = n->frames[s->first_frame + f].bci;
	}
	return emit_record(c, &o);
}

static int carry_names(struct carrier *c)
{
	int err = carry_classes(c);

	for (uint32_t i = 0; i < c->r->names.method_map.count && !err; i++)
		err = carry_method(c, i);
	for (uint32_t i = 0; i < c->r->names.site_map.count && !err; i++)
		err = carry_site(c, i);
	return err;
}

static int carry_ring(struct carrier *c)
{
	struct object_record o = {.kind = OBJECT_RING};

	memcpy(o.number, c->r->ring, sizeof(c->r->ring));
	return emit_record(c, &o);
}

/* What waits of a slot. The words of a slot that has no more may be none. */
static int carry_chunk(struct carrier *c, const struct object_emitter *t,
		       const struct object_chunk *chunk)
{
	struct object_record o = {.kind = OBJECT_WORDS};

	o.number[WORDS_STREAM] = t->thread.stream;
	o.number[WORDS_SEQUENCE] = chunk->sequence;
	o.number[WORDS_PHASE] = chunk->phase;
	o.number[WORDS_OFFSET] = 4ull * chunk->at + chunk->broken; /* broken stays so */
	o.number[WORDS_LAST] = chunk->last;
	o.number[WORDS_JAVA_TID] = (uint64_t)t->thread.java_tid;
	o.number[WORDS_TID] = t->thread.tid;
	o.number[WORDS_BEGIN_NS] = chunk->begin_ns;
	o.number[WORDS_END_NS] = chunk->end_ns;
	for (uint32_t i = chunk->at; i < chunk->count; i++)
		put(c, chunk->words[i]);
	o.words = (const uint8_t *)c->words;
	o.word_bytes = 4 * c->count;
	c->count = 0;
	return o.word_bytes || chunk->last ? emit_record(c, &o) : 0;
}

static int carry_stream(struct carrier *c, const struct object_emitter *t)
{
	const struct object_chunk *first = t->in.first;
	bool taken = first && first->at && first->sequence == t->in.sequence;
	uint64_t values[STREAM_VALUES] = {
		[STREAM_PHASE] = t->phase,
		[STREAM_FLAGS] = (t->has_tlab ? STREAM_HAS_TLAB : 0) |
				 (t->has_at ? STREAM_HAS_AT : 0) | (t->thread.gap ? STREAM_GAP : 0),
		[STREAM_TLAB] = t->tlab,
		[STREAM_TLAB_END] = t->tlab_end,
		[STREAM_AT] = t->at,
		[STREAM_NS] = t->ns,
		[STREAM_LAST_FROM] = t->last_from,
		[STREAM_BYTES] = t->thread.all_bytes,
	};
	int err;

	memcpy(values + STREAM_NEXT_TO, t->next_to, sizeof(t->next_to));
	c->o = (struct object_record){.kind = OBJECT_STREAM};
	c->o.number[STREAM_ID] = t->thread.stream;
	c->o.number[STREAM_SEQUENCE] = t->in.sequence;
	c->o.number[STREAM_BEGUN] = t->in.begun;
	c->o.number[STREAM_JAVA_TID] = (uint64_t)t->thread.java_tid;
	c->o.number[STREAM_TID] = t->thread.tid;
	c->o.number[STREAM_SLOT_PHASE] = taken ? first->phase : 0;
	c->o.number[STREAM_TAKEN] = taken ? first->at : 0;
	for (unsigned i = 0; i < STREAM_VALUES; i++) {
		put(c, values[i]);
		put(c, values[i] >> 32);
	}
	err = flush(c);
	for (const struct object_chunk *chunk = first; chunk && !err; chunk = chunk->next)
		err = carry_chunk(c, t, chunk);
	return err;
}

static int carry_descs(struct carrier *c)
{
	const struct object_names *n = &c->r->names;
	const struct object_descs *d = &c->r->heap.descs;
	int err = 0;

	c->o = (struct object_record){.kind = OBJECT_DESCS};
	for (uint32_t i = 0; i < d->count && !err; i++) {
		const struct object_kind *k = &n->kinds[d->rows[i].kind];

		if (!d->rows[i].live)
			continue;
		if (c->count + OBJECT_DESC_WORDS > RECORD_WORDS)
			err = flush(c);
		put(c, i);
		put(c, k->site == INDEX_NONE ? 0 : n->sites[k->site].id);
		put(c, k->class == INDEX_NONE ? 0 : n->classes[k->class].id);
		put(c, d->rows[i].length);
		put(c, d->rows[i].units);
	}
	return err ? err : flush(c);
}

static int carry_objects(struct carrier *c)
{
	struct object_heap *h = &c->r->heap;
	struct object_entry p;
	uint64_t end = 0;
	int err = 0;

	object_heap_sort(h);
	h->sorted = 0; /* for the writer's sake, not for the log's */
	c->o = (struct object_record){.kind = OBJECT_KEPT};
	for (uint64_t at = 0; !err && object_heap_next(h, &at, &p); at++) {
		uint32_t units = h->descs.rows[p.desc].units;

		if (c->count + 4 > RECORD_WORDS) {
			err = flush(c);
			end = 0;
		}
		if (at != end) {
			put(c, OBJECT_KEPT_GAP);
			put(c, at - end);
			put(c, (at - end) >> 32);
		}
		put(c, p.desc << OBJECT_AGE_WORD_BITS | p.age);
		end = at + (units ? units : 1);
	}
	return err ? err : flush(c);
}

static int carry_state(struct carrier *c, bool ends)
{
	const struct object_sums *s = &c->r->sums;
	struct object_record o = {.kind = OBJECT_STATE};

	o.number[STATE_ENDS] = ends;
	o.number[STATE_PHASE] = c->r->done;
	o.number[STATE_KNOWN] =
		(!s->has_ring || !s->heap_given_up) && !s->begin_unknown && !c->r->err;
	return emit_record(c, &o);
}

int object_replay_carry(struct object_replay *r,
			int (*emit)(void *ctx, const struct object_record *o), void *ctx)
{
	struct carrier *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	object_replay_catch_up(r);
	*c = (struct carrier){.r = r, .emit = emit, .ctx = ctx};
	err = carry_state(c, false);
	if (!err && r->sums.has_ring)
		err = carry_ring(c);
	if (!err)
		err = carry_names(c);
	for (uint32_t i = 0; i < r->streams.count && !err; i++)
		err = carry_stream(c, &r->emitters[i]);
	if (!err)
		err = carry_descs(c);
	if (!err)
		err = carry_objects(c);
	if (!err)
		err = carry_state(c, true);
	free(c);
	return err;
}
