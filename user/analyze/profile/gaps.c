/*
 * The thesis has no counters of a thread's time: a sample's weight is the time to the next one,
 * so that a sample at each switch away from a CPU gets the waiting after it. What is stolen, or
 * waited for a CPU, is in the weights, too, and a lost sample's time goes to the one before. To
 * compare with, not to use: profile.c has the time by the counters.
 */
#include "analyze/profile/gaps.h"

#include "analyze/profile/profile.h"
#include "analyze/profile/profile_cells.h"
#include "log/format/event.h"

static void gap_close(struct profile *p, struct profile_thread *t, uint64_t time_ns)
{
	uint64_t ns = time_ns > t->gap.since_ns ? time_ns - t->gap.since_ns : 0;
	uint64_t unit = ns / PROFILE_UNIT_NS;
	struct profile_cell *c;

	if (!t->gap.open)
		return;
	t->gap.open = false;
	c = &p->cells[t->gap.cell];
	c->ns += ns;
	c->squares += unit * unit;
	if (t->gap.mode >= SAMPLE_MODE_COUNT)
		return;
	t->ns += ns;
	t->mode_ns[t->gap.mode] += ns;
}

void gaps_sample(struct profile *p, struct profile_thread *t, struct gap next)
{
	if (t->gap.over)
		return;
	gap_close(p, t, next.since_ns);
	t->gap = next;
}

int gaps_add(struct profile *p, const struct event *e)
{
	struct profile_cell like = {.thread = e->thread}, *c;
	struct profile_thread *t;
	uint64_t off_ns = 0, left_ns;
	int err;

	p->last_ns = e->time_ns > p->last_ns ? e->time_ns : p->last_ns;
	if (e->id == EVENT_OFF_CPU) {
		like.state = state_of_reason(e->v[OFF_CPU_REASON].u);
		like.stack = e->v[OFF_CPU_STACK].u;
		off_ns = e->v[OFF_CPU_OFF_NS].u;
	}
	if (e->time_ns < p->options.from_ns || (!like.stack && e->id != EVENT_THREAD_END))
		return 0;
	err = profile_thread_get(p, e->thread, &t);
	if (!err && e->id == EVENT_THREAD_END) {
		gap_close(p, t, e->time_ns);
		t->gap.over = true;
	}
	if (err || !like.stack)
		return err;
	err = profile_cell_get(p, &like, &c);
	if (err)
		return err;
	left_ns = e->time_ns > off_ns ? e->time_ns - off_ns : 0;
	if (left_ns < p->options.from_ns) /* what is before the range counts for nothing */
		left_ns = p->options.from_ns;
	gaps_sample(p, t,
		    (struct gap){.open = true,
				 .cell = (uint32_t)(c - p->cells),
				 .since_ns = left_ns,
				 .mode = SAMPLE_MODE_COUNT});
	return 0;
}

void gaps_finish(struct profile *p)
{
	for (uint32_t i = 0; i < p->thread_map.count; i++)
		gap_close(p, &p->threads[i], p->last_ns);
}
