/*
 * What lost events make of a heap. Births that were lost are objects that the heap lacks; a move of
 * one has no size, so that what moves to behind it is lacking, too, until a move that has its own
 * address. Of moves that were lost the objects count as dead. So after a loss the heap has at most
 * what there is, and each collection from then on is incomplete.
 *
 * The bytes that the JVM has lost are in each record of a phase, for all phases below it; the gap
 * in the thread's own words comes with its next slot, which may be many collections later.
 *
 * If all that was lost are births, a full collection that moves nothing unknown shows that none of
 * them is alive: the heap is complete again. Words of collectors (threads that are none of Java's)
 * say what a collection has freed as well: without them the heap may keep what is gone, and take
 * another object for it. Nothing mends that before the events are switched on anew, by this
 * recorder (object_rings.c) or by another one.
 */
#include "heap/replay/object_replay_internal.h"

#include <string.h>

static uint64_t losses(const struct object_sums *s)
{
	uint64_t bytes = s->lost_bytes > s->gap_bytes ? s->lost_bytes : s->gap_bytes;

	return bytes + s->holes + s->unknown_moves + s->unknown_class + s->no_place +
	       s->bad_words + s->lost_names + s->refused;
}

void object_losses_of(struct object_replay *r, const struct object_emitter *t)
{
	r->moves_lost |= !t->thread.java_tid;
}

void object_losses_before(struct object_replay *r)
{
	r->lossy = losses(&r->sums) != r->losses_seen;
}

static bool is_full(const struct object_collection *c)
{
	return c && c->end_ns && (c->all || !strcmp(c->collector, "G1Full"));
}

void object_losses_after(struct object_replay *r, struct object_collection *c)
{
	uint64_t now = losses(&r->sums);
	bool births_only = !r->moves_lost && r->sums.lost_bytes - r->before.lost_bytes <=
						     r->sums.gap_bytes - r->before.gap_bytes;

	if (now != r->losses_seen || !c || c->untraced || r->walking)
		r->incomplete = true;
	else if (births_only && is_full(c))
		r->incomplete = false;
	r->moves_lost |= !c || c->untraced;
	r->losses_seen = now;
	r->lossy = false;
	if (!c)
		return;
	c->incomplete = r->incomplete;
	r->sums.incomplete += c->incomplete;
}

void object_losses_said(struct object_replay *r, const struct object_record *o)
{
	const struct object_lost *b = &r->before;

	r->sums.waits = b->waits + o->number[PHASE_WAITS];
	r->sums.wait_ns = b->wait_ns + o->number[PHASE_WAIT_NS];
	r->sums.lost_bytes = b->lost_bytes + o->number[PHASE_LOST_BYTES];
	r->sums.lost_names = b->lost_names + o->number[PHASE_LOST_NAMES];
	r->sums.refused = b->refused + o->number[PHASE_REFUSED];
}

void object_losses_begin_again(struct object_replay *r)
{
	const struct object_sums *s = &r->sums;

	r->before = (struct object_lost){s->waits,      s->wait_ns, s->lost_bytes,
					 s->lost_names, s->refused, s->gap_bytes};
	r->losses_seen = losses(s);
	r->lossy = r->incomplete = r->moves_lost = false;
}

bool object_losses_now(const struct object_replay *r)
{
	return r->incomplete || r->walking || r->moves_lost || losses(&r->sums) != r->losses_seen;
}
