/* A replay that begins with what object_carry.c has written of another one. */
#include "heap/replay/object_effort.h"
#include "heap/replay/object_replay_internal.h"

#include <endian.h>
#include <string.h>

#include "log/format/object_record.h"

#define RECORD_WORDS (OBJECT_WORDS_MAX / 4)

static uint32_t word_at(const struct object_record *o, uint32_t i)
{
	uint32_t word;

	memcpy(&word, o->words + 4ul * i, sizeof(word));
	return le32toh(word);
}

static uint64_t wide_at(const struct object_record *o, uint32_t i)
{
	return (uint64_t)word_at(o, i + 1) << 32 | word_at(o, i);
}

static int state(struct object_replay *r, const struct object_record *o)
{
	if (o->number[STATE_ENDS]) {
		r->in_state = r->skip_state = false;
		return 0;
	}
	r->skip_state = r->begun || r->streams.count || r->sums.has_ring;
	r->in_state = !r->skip_state;
	if (r->skip_state)
		return 0;
	r->begun = true;
	r->done = o->number[STATE_PHASE];
	r->sums.begin_unknown = !o->number[STATE_KNOWN];
	return 0;
}

/* The slot of which a part has been taken, as if the words of it had been here. */
static int taken_slot(struct object_replay *r, struct object_emitter *t,
		      const struct object_record *o)
{
	uint64_t taken = o->number[STREAM_TAKEN], bytes;
	struct object_record slot = {.kind = OBJECT_WORDS};
	int err;

	if (!taken || taken > RECORD_WORDS || t->in.first)
		return 0;
	slot.number[WORDS_SEQUENCE] = o->number[STREAM_SEQUENCE];
	slot.number[WORDS_PHASE] = o->number[STREAM_SLOT_PHASE];
	err = object_stream_begin(&t->in, &slot, (uint32_t)taken, &bytes);
	r->waiting += err ? 0 : bytes;
	return !err && r->waiting > OBJECT_WAITING_MAX ? -EFBIG : err;
}

static int stream(struct object_replay *r, const struct object_record *o)
{
	struct object_emitter *t;
	uint64_t flags;
	uint32_t i;
	int err = 0;

	if (o->word_bytes < 8 * STREAM_VALUES)
		return 0;
	err = object_replay_emitter(r, o->number[STREAM_ID], &i);
	if (err)
		return err;
	t = &r->emitters[i];
	t->thread.java_tid = (int64_t)o->number[STREAM_JAVA_TID];
	t->thread.tid = (uint32_t)o->number[STREAM_TID];
	t->in.sequence = o->number[STREAM_SEQUENCE];
	t->in.begun = o->number[STREAM_BEGUN] != 0;
	flags = wide_at(o, 2 * STREAM_FLAGS);
	t->has_tlab = flags & STREAM_HAS_TLAB;
	t->has_at = flags & STREAM_HAS_AT;
	t->thread.gap = flags & STREAM_GAP;
	t->phase = wide_at(o, 2 * STREAM_PHASE);
	t->tlab = wide_at(o, 2 * STREAM_TLAB);
	t->tlab_end = wide_at(o, 2 * STREAM_TLAB_END);
	t->at = wide_at(o, 2 * STREAM_AT);
	t->ns = wide_at(o, 2 * STREAM_NS);
	t->last_from = wide_at(o, 2 * STREAM_LAST_FROM);
	t->thread.all_bytes = wide_at(o, 2 * STREAM_BYTES);
	for (i = 0; i < OBJECT_DESTINATIONS; i++)
		t->next_to[i] = wide_at(o, 2 * (STREAM_NEXT_TO + i));
	return taken_slot(r, t, o);
}

static int descs(struct object_replay *r, const struct object_record *o)
{
	uint32_t count = o->word_bytes / 4, at;
	int err = 0;

	for (uint32_t i = 0; i + OBJECT_DESC_WORDS <= count && !err; i += OBJECT_DESC_WORDS) {
		uint32_t site = word_at(o, i + 1), class = word_at(o, i + 2);
		struct object_kind k = {.thread = INDEX_NONE, .part = OBJECT_PART_CARRIED};
		struct object_desc d = {.length = word_at(o, i + 3),
					.units = word_at(o, i + 4) & 0x7fffffff};

		k.site = site ? object_names_site(&r->names, site) : INDEX_NONE;
		k.class = class ? object_names_class(&r->names, class) : INDEX_NONE;
		err = object_names_kind(&r->names, &k, &d.kind);
		if (!err)
			err = keymap_add_row(&r->desc_map,
					     (struct keymap_key){.a = word_at(o, i), .b = 1},
					     &r->state_descs, &r->state_descs_capacity,
					     sizeof(*r->state_descs), &at);
		if (!err)
			r->state_descs[at] = d;
	}
	return err;
}

static int keep(struct object_replay *r, uint64_t at, const struct object_desc *d, uint32_t age)
{
	struct object_entry p = {.age = age < OBJECT_AGE_MAX ? age : OBJECT_AGE_MAX};
	int err = object_descs_take(&r->heap.descs, d->kind, d->length, d->units, &p.desc);

	if (err)
		return err;
	err = object_heap_put(&r->heap, at, p);
	if (err)
		object_descs_give(&r->heap.descs, p.desc);
	if (err == -EINVAL)
		r->sums.bad_words++;
	r->effort += EFFORT_BIRTH;
	r->sums.carried += !err;
	r->sums.carried_bytes += err ? 0 : (uint64_t)d->units << r->sums.heap_shift;
	return err == -ENOMEM ? err : 0;
}

static int kept(struct object_replay *r, const struct object_record *o)
{
	uint32_t count = o->word_bytes / 4;
	struct object_desc d;
	uint64_t at = 0;
	int err = 0;

	for (uint32_t i = 0; i < count && !err && !r->sums.heap_given_up; i++) {
		uint32_t word = word_at(o, i), desc;

		if (word == OBJECT_KEPT_GAP) {
			at += i + 2 < count ? wide_at(o, i + 1) : 0;
			i += 2;
			continue;
		}
		desc = keymap_find(&r->desc_map,
				   (struct keymap_key){.a = word >> OBJECT_AGE_WORD_BITS, .b = 1});
		if (desc == INDEX_NONE) {
			r->sums.bad_words++;
			continue;
		}
		d = r->state_descs[desc];
		err = keep(r, at, &d, word & OBJECT_AGE_MAX);
		at += d.units ? d.units : 1;
	}
	if (err)
		object_replay_give_up_heap(r);
	return 0;
}

int object_replay_carried(struct object_replay *r, const struct object_record *o)
{
	if (o->kind == OBJECT_STATE)
		return state(r, o);
	if (!r->in_state)
		return 0;
	switch (o->kind) {
	case OBJECT_STREAM:
		return stream(r, o);
	case OBJECT_DESCS:
		return descs(r, o);
	case OBJECT_KEPT:
		return kept(r, o);
	default:
		return 0;
	}
}
