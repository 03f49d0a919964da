/*
 * A recording begins with one ring of the JVM's. If moves were lost, the recorder switches the
 * events off and on again: then there is another one, in which streams, phases and numbers of names
 * begin anew, and the heap is walked as at the begin of a recording. The number of the ring is in
 * the upper half of each record's first number, so that a record of a ring whose begin is missing
 * is no other one's.
 *
 * Between the rings the program has gone on, so that nothing that was in the heap is known to be
 * there any more: it is forgotten, and its births stay counted. Until all of the heap has been
 * walked, it is incomplete, which the phases' records say.
 */
#include "heap/replay/object_effort.h"
#include "heap/replay/object_replay_internal.h"

#include <string.h>

static uint32_t ring_of(const struct object_record *o)
{
	return (uint32_t)(o->number[0] >> OBJECT_RING_SHIFT);
}

static int take_heap(struct object_replay *r, const struct object_record *o)
{
	uint64_t shift = o->number[RING_HEAP_SHIFT], bytes = o->number[RING_HEAP_BYTES];
	int err;

	r->sums.has_ring = true;
	r->sums.heap_shift = (unsigned)shift;
	r->sums.heap_bytes = bytes;
	r->heap_base = o->number[RING_HEAP_BASE];
	if (r->sums.begin_unknown)
		return 0;
	err = object_heap_init(&r->heap, bytes >> shift, (unsigned)shift, r->heap_bytes_max);
	r->sums.heap_given_up = err != 0;
	return err == -EFBIG ? 0 : err;
}

static void number(struct object_replay *r, const struct object_record *o)
{
	memcpy(r->ring, o->number, sizeof(r->ring));
	r->ring_number = ring_of(o);
	r->walking = r->ring_number != 0;
}

/* Its end has not come, and does not come any more. */
static void leave_collection(struct object_replay *r)
{
	if (r->collecting) {
		r->collections[r->collection_count - 1].incomplete = true;
		r->sums.incomplete++;
	}
	object_graph_begin(r);
	r->run_count = r->space_count = r->last_space_count = 0;
	r->forget_all = r->collecting = false;
}

static void leave_streams(struct object_replay *r)
{
	for (uint32_t i = r->first_emitter; i < r->streams.count; i++) {
		object_replay_date(r, &r->emitters[i], r->phase_ns);
		object_stream_free(&r->emitters[i].in);
		r->emitters[i].due = false;
	}
	r->first_emitter = r->streams.count;
	r->due_count = 0;
	r->waiting = 0;
	r->waiting_many = OBJECT_WAITING_MANY;
}

static int leave_heap(struct object_replay *r, const struct object_record *o)
{
	bool same = true;

	if (!r->sums.has_ring) /* the record of the one before is missing */
		return take_heap(r, o);
	for (int i = RING_PID; i <= RING_HEAP_SHIFT; i++)
		same &= o->number[i] == r->ring[i];
	if (!same) { /* another process, or another heap */
		r->sums.bad_words++;
		object_replay_give_up_heap(r);
	}
	if (r->sums.heap_given_up)
		return 0;
	r->sums.forgotten += r->heap.count;
	if (object_replay_spend(r, r->heap.page_count * EFFORT_PAGE + r->heap.count))
		object_heap_forget(&r->heap);
	return r->err;
}

static int next_ring(struct object_replay *r, const struct object_record *o)
{
	uint64_t names = r->names.key_map.count + r->names.method_map.count;
	int err;

	leave_collection(r);
	leave_streams(r);
	err = leave_heap(r, o);
	if (!err && !object_replay_spend(r, EFFORT_NAME * names))
		err = r->err;
	if (!err)
		err = object_names_begin_again(&r->names);
	if (err)
		return err;
	object_losses_begin_again(r);
	number(r, o);
	r->sums.rings_again++;
	r->sums.end = OBJECT_END_NONE;
	r->begun = false;
	r->done = 0;
	return 0;
}

static bool is_first(const struct object_replay *r)
{
	return r->in_state || (!r->sums.has_ring && !r->begun && !r->streams.count &&
			       !r->names.class_map.count && !r->astray);
}

int object_rings_add(struct object_replay *r, const struct object_record *o)
{
	uint64_t shift = o->number[RING_HEAP_SHIFT];

	if (shift < 3 || shift > 8)
		return 0;
	if (!is_first(r) && ring_of(o) > r->ring_number)
		return next_ring(r, o);
	if (r->sums.has_ring)
		return 0;
	number(r, o);
	return take_heap(r, o);
}

bool object_rings_has(struct object_replay *r, const struct object_record *o)
{
	uint32_t ring = ring_of(o);

	if (ring == r->ring_number)
		return true;
	if (ring > r->ring_number && ring != r->astray) {
		r->astray = ring;
		r->sums.holes++;
		r->moves_lost = true;
	}
	return false;
}

void object_rings_phase(struct object_replay *r, const struct object_record *o)
{
	uint64_t ended = o->number[PHASE_ENDED], ns = o->number[PHASE_TIME_NS];
	bool is_on = ended == OBJECT_END_NONE || ended == OBJECT_END_ENDED ||
		     ended == OBJECT_END_OFF;

	if (ended == OBJECT_PHASE_WALKS)
		r->walking = true;
	else if (is_on && r->walking) {
		r->walking = false;
		if (r->sums.rings_again && ns > r->phase_ns && r->phase_ns)
			r->sums.unrecorded_ns += ns - r->phase_ns;
	}
	if (!r->walking)
		r->phase_ns = ns;
}
