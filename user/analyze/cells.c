#include "analyze/cells.h"

#include <stdlib.h>

void split_add(struct split *s, const struct split *more)
{
	s->running_ns += more->running_ns;
	s->stolen_ns += more->stolen_ns;
	s->runnable_ns += more->runnable_ns;
	s->blocked_ns += more->blocked_ns;
	s->unknown_ns += more->unknown_ns;
}

void split_sub(struct split *s, const struct split *less)
{
	s->running_ns -= less->running_ns;
	s->stolen_ns -= less->stolen_ns;
	s->runnable_ns -= less->runnable_ns;
	s->blocked_ns -= less->blocked_ns;
	s->unknown_ns -= less->unknown_ns;
}

uint64_t split_sum(const struct split *s)
{
	return s->running_ns + s->stolen_ns + s->runnable_ns + s->blocked_ns + s->unknown_ns;
}

static uint64_t at_most(uint64_t from, uint64_t to, uint64_t limit)
{
	uint64_t delta = to > from ? to - from : 0;

	return delta < limit ? delta : limit;
}

/* A snapshot may be one scheduling interval behind, so that the parts can exceed the whole by a
 * little. */
struct split split_of(uint64_t ns, const struct counters *from, const struct counters *to)
{
	struct split s = {0};

	if (!from->known || !to || !to->known) {
		s.unknown_ns = ns;
		return s;
	}
	s.running_ns = at_most(from->cpu_ns, to->cpu_ns, ns);
	s.stolen_ns = at_most(from->stolen_ns, to->stolen_ns, ns - s.running_ns);
	s.runnable_ns =
		at_most(from->runnable_ns, to->runnable_ns, ns - s.running_ns - s.stolen_ns);
	s.blocked_ns = ns - s.running_ns - s.stolen_ns - s.runnable_ns;
	return s;
}

int cells_add(struct cells *c, const struct cell_key *key, uint32_t *ret)
{
	/* Threads have 32 bits: there is room for the flag. */
	struct place_key place = {key->lock, key->waiter | (uint64_t)key->after_wait << 32,
				  key->holder, key->waiter_stack, key->holder_stack};
	struct cell *cell;
	int err = places_add_row(&c->places, place, &c->rows, &c->capacity, sizeof(*c->rows), ret);

	if (err)
		return err;
	cell = &c->rows[*ret];
	cell->lock = key->lock;
	cell->waiter = key->waiter;
	cell->holder = key->holder;
	cell->waiter_stack = key->waiter_stack;
	cell->holder_stack = key->holder_stack;
	cell->after_wait = key->after_wait;
	return 0;
}

void cells_free(struct cells *c)
{
	places_free(&c->places);
	free(c->rows);
	*c = (struct cells){0};
}
