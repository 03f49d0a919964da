/* What each word says; jvm-hooks/objects.h has the forms. */
#include "heap/replay/object_effort.h"
#include "heap/replay/object_replay_internal.h"

#include <errno.h>
#include <string.h>

#include "jvm-hooks/objects.h"

static uint64_t wide(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* Into the heap, at an address in units. */
static void put(struct object_replay *r, uint64_t at, uint32_t kind, uint32_t length,
		uint64_t units)
{
	struct object_entry entry = {.birth = r->collection_count - r->collecting};
	int err = object_descs_take(&r->heap.descs, kind, length, (uint32_t)units & 0x7fffffff,
				    &entry.desc);

	if (!err) {
		err = object_heap_put(&r->heap, at, entry);
		if (err)
			object_descs_give(&r->heap.descs, entry.desc);
	}
	if (err == -ENOMEM)
		object_replay_give_up_heap(r);
	else if (err)
		r->sums.bad_words++;
	r->effort += EFFORT_BIRTH;
	object_replay_spend_sorting(r);
}

/* Where the next object of the thread is; false: nobody knows. */
static bool locate(struct object_replay *r, struct object_emitter *t, uint64_t units, uint64_t *ret)
{
	*ret = t->at;
	if (t->has_at) {
		t->has_at = false;
		return true;
	}
	if (t->has_tlab && units) {
		*ret = t->tlab;
		t->tlab += units;
		return true;
	}
	t->has_tlab = false; /* what follows an object of unknown size is nowhere */
	r->sums.no_place++;
	return false;
}

static uint32_t kind_of(struct object_replay *r, struct object_emitter *t, uint32_t site,
			uint32_t class, uint32_t part)
{
	struct object_site *s = site == INDEX_NONE ? NULL : &r->names.sites[site];
	struct object_kind k = {.site = site, .class = class, .thread = INDEX_NONE, .part = part};
	const struct object_kind *known;
	uint32_t kind = s ? s->kind : 0;

	if (r->by_thread)
		k.thread = (uint32_t)(t - r->emitters);
	known = &r->names.kinds[kind];
	if (kind && known->class == class && known->thread == k.thread && known->part == part)
		return kind;
	if (object_names_kind(&r->names, &k, &kind)) {
		r->err = -ENOMEM;
		return 0;
	}
	if (s)
		s->kind = kind;
	return kind;
}

static void count_birth(struct object_replay *r, struct object_emitter *t, uint32_t kind,
			uint64_t bytes)
{
	struct object_tally *of = &r->names.kinds[kind].of;

	t->thread.all_bytes += bytes;
	if (r->names.kinds[kind].part == OBJECT_PART_NONE) {
		r->sums.left_out++;
		r->sums.left_out_bytes += bytes;
		return;
	}
	of->count++;
	of->bytes += bytes;
	r->sums.count++;
	r->sums.bytes += bytes;
	t->thread.count++;
	t->thread.bytes += bytes;
}

/* b: of what is born, what its word says. */
static void born(struct object_replay *r, struct object_emitter *t, struct object_birth *b,
		 uint64_t units)
{
	uint32_t kind;
	uint64_t at;

	b->bytes = units << r->sums.heap_shift;
	kind = kind_of(r, t, b->site, b->class, object_replay_part(r, t, b));
	if (!kind)
		return;
	r->sums.unknown_class += b->class == INDEX_NONE;
	if (object_names_was_found(&r->names, kind)) {
		r->sums.found++;
		r->sums.found_bytes += b->bytes;
	} else {
		count_birth(r, t, kind, b->bytes);
	}
	if (locate(r, t, units, &at) && !r->sums.heap_given_up)
		put(r, at, kind, (uint32_t)b->length, units);
}

static uint32_t birth(struct object_replay *r, struct object_emitter *t, const uint32_t *w)
{
	uint32_t kind = w[0] >> 28, n = 1;
	bool array = kind == SPOOR_OBJ_ARR || kind == SPOOR_OBJ_ARRK;
	uint64_t id = array ? w[0] >> 8 & 0xfffff : w[0] & 0xfffffff, length = w[0] & 0xff, units;
	struct object_birth b = {.is_array = array};

	if (array && !id)
		id = t->site;
	t->site = 0;
	b.site = id ? object_names_site(&r->names, id) : INDEX_NONE;
	if (kind == SPOOR_OBJ_NEWK || kind == SPOOR_OBJ_ARRK)
		b.class = object_names_class_at(&r->names, w[n++]);
	else
		b.class = b.site == INDEX_NONE ? INDEX_NONE : r->names.sites[b.site].class;
	if (array && length == 255)
		length = w[n++];
	units = object_names_units(&r->names, b.class, length, r->sums.heap_shift);
	if (kind == SPOOR_OBJ_NEWSZ)
		units = w[n++];
	b.length = array ? length : 0;
	born(r, t, &b, units);
	return n;
}

static void tlab(struct object_replay *r, struct object_emitter *t, const uint32_t *w)
{
	object_replay_date(r, t, wide(w[4], w[3]));
	t->has_tlab = true;
	t->tlab = wide(w[0] & 0xfffffff, w[1]);
	t->tlab_end = t->tlab + w[2];
}

static void retire(struct object_replay *r, struct object_emitter *t, const uint32_t *w)
{
	if (t->has_tlab) {
		r->sums.chains++;
		r->sums.chains_wrong +=
			(uint32_t)t->tlab != w[1] || t->tlab + (w[0] & 0xfffffff) != t->tlab_end;
	}
	t->has_tlab = false;
}

static uint32_t collection(struct object_replay *r, struct object_emitter *t, const uint32_t *w)
{
	uint32_t count = w[0] & 0xff;

	switch (w[0] >> 24 & 15) {
	case SPOOR_GC_MARK:
		t->phase += (w[0] - (uint32_t)t->phase) & 0xffffff;
		return 1;
	case SPOOR_GC_BEGIN:
		object_moves_begin(r, w, count);
		return count;
	case SPOOR_GC_END:
		object_moves_finish_words(r, w);
		return count;
	case SPOOR_GC_SPACE:
		object_moves_space(r, wide(w[1], w[2]), w[3]);
		return 4;
	default:
		r->sums.bad_words++;
		return 0;
	}
}

static uint32_t extension(struct object_replay *r, struct object_emitter *t, const uint32_t *w)
{
	uint64_t value = wide(w[2], w[1]);
	uint32_t class;

	switch (w[0] >> 20 & 0xff) {
	case SPOOR_EXT_GAP:
		r->sums.gaps++;
		object_losses_of(r, t);
		object_graph_cut(r);
		r->sums.gap_bytes += value;
		t->thread.gap = true;
		t->has_tlab = false;
		t->site = 0;
		break;
	case SPOOR_EXT_SITE:
		t->site = w[1];
		break;
	case SPOOR_EXT_CHECK:
		if (!t->moved_kind)
			break;
		class = r->names.kinds[t->moved_kind].class;
		r->sums.checked++;
		r->sums.checked_wrong +=
			class == INDEX_NONE || r->names.classes[class].klass != w[1];
		break;
	case SPOOR_EXT_BYTES:
		t->thread.has_vm_bytes = true;
		t->thread.vm_bytes = value;
		break;
	case SPOOR_EXT_TOP:
		r->sums.chains += t->has_tlab;
		r->sums.chains_wrong += t->has_tlab && t->tlab != wide(w[1], w[2]);
		break;
	case SPOOR_EXT_GRAPH:
		object_graph_words(r, w, w[0] >> 12 & 0xff);
		break;
	default:
		break; /* of a newer JVM */
	}
	return w[0] >> 12 & 0xff;
}

uint32_t object_event(struct object_replay *r, struct object_emitter *t, const uint32_t *w)
{
	uint64_t high = (uint64_t)(w[0] & 0xfffffff) << 32;
	int destination = w[0] >> 26 & 3;

	switch (w[0] >> 28) {
	case SPOOR_OBJ_NEW:
	case SPOOR_OBJ_ARR:
	case SPOOR_OBJ_NEWK:
	case SPOOR_OBJ_ARRK:
	case SPOOR_OBJ_NEWSZ:
		return birth(r, t, w);
	case SPOOR_OBJ_AT:
		t->has_at = true;
		t->at = high | w[1];
		return 2;
	case SPOOR_OBJ_TLAB:
		tlab(r, t, w);
		return 5;
	case SPOOR_OBJ_RETIRE:
		retire(r, t, w);
		return 2;
	case SPOOR_OBJ_MOVE:
		object_moves_one(r, t, t->last_from + (uint64_t)((int32_t)(w[0] << 6) >> 6),
				 t->next_to[destination], destination);
		return 1;
	case SPOOR_OBJ_MOVEX:
		object_moves_one(r, t, wide(w[0] & 0x3ffffff, w[1]), wide(w[2], w[3]), destination);
		return 4;
	case SPOOR_OBJ_RUN:
		object_moves_run(r, t, high | w[1], wide(w[2], w[3]), w[4]);
		return 5;
	case SPOOR_OBJ_KEEP:
		object_moves_one(r, t, high | w[1], high | w[1], -1);
		return 2;
	case SPOOR_OBJ_GC:
		return collection(r, t, w);
	case SPOOR_OBJ_EXT:
		return extension(r, t, w);
	case SPOOR_OBJ_END: /* of a JVM that was killed, whose slot was still its thread's */
		return 0;
	default:
		r->sums.bad_words++;
		return 0;
	}
}
