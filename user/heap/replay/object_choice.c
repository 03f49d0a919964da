/*
 * An event has no time. What has one are the TLABs of a thread, the slots of its events, and
 * collections: a birth is between two of these. It counts as if it were at the first.
 */
#include "heap/replay/object_replay_internal.h"

void object_replay_choose(struct object_replay *r, const struct object_choice *c)
{
	r->choice = c;
}

void object_replay_date(struct object_replay *r, struct object_emitter *t, uint64_t ns)
{
	struct object_birth b = {.thread = &t->thread,
				 .stream = (uint32_t)(t - r->emitters),
				 .from_ns = t->ns};

	if (ns <= t->ns)
		return;
	if (t->dated && r->choice->edge(r->choice->ctx, &b, ns)) {
		r->sums.at_edge += t->dated;
		r->sums.at_edge_bytes += t->dated_bytes;
	}
	t->dated = t->dated_bytes = 0;
	t->ns = ns;
}

uint32_t object_replay_part(struct object_replay *r, struct object_emitter *t,
			    struct object_birth *b)
{
	bool by_time = false;
	uint32_t part;

	if (!r->choice)
		return 0;
	b->thread = &t->thread;
	b->stream = (uint32_t)(t - r->emitters);
	b->in_tlab = !t->has_at;
	b->from_ns = t->ns;
	b->was_found = object_names_was_there(&r->names, b->site);
	part = r->choice->part(r->choice->ctx, b, &by_time);
	if (!by_time || b->was_found)
		return part;
	t->dated++;
	t->dated_bytes += b->bytes;
	return part;
}
