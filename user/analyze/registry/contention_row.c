/*
 * What is open at a hole of the log ends there; after the hole nothing of what was known before is
 * true of locks and holders. So each stretch between two holes has a contention of its own, which
 * is merged into that of the stretches before it.
 */
#include "analyze/registry/contention_row.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/contention/contention.h"
#include "analyze/row.h"

struct contention_row {
	struct log_names *names;
	struct contention *now;    /* since the last hole; at the end, the whole log's */
	struct contention *before; /* that of the stretches before, finished; NULL: no hole yet */
	cell_part_observer *observe;
	cell_interval_observer *ended;
	void *observer;
};

static void *contention_row_new(struct log_names *names)
{
	struct contention_row *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->names = names;
	c->now = contention_new(names);
	if (c->now)
		return c;
	free(c);
	return NULL;
}

static void contention_row_free(void *self)
{
	struct contention_row *c = self;

	if (!c)
		return;
	contention_free(c->now);
	contention_free(c->before);
	free(c);
}

static void contention_row_begin(void *self, uint64_t begin_ns)
{
	contention_set_begin(((struct contention_row *)self)->now, begin_ns);
}

static int contention_row_add(void *self, const struct analysis_input *in)
{
	return contention_add(((struct contention_row *)self)->now, in->counted);
}

static int contention_row_finish(void *self, uint64_t end_ns)
{
	struct contention_row *c = self;
	int err = contention_finish(c->now, end_ns);

	if (err || !c->before)
		return err;
	err = contention_merge(c->before, c->now);
	contention_free(c->now);
	c->now = c->before;
	c->before = NULL;
	return err;
}

static int contention_row_hole(void *self, uint64_t from_ns, uint64_t to_ns)
{
	struct contention_row *c = self;
	struct contention *next;
	int err = contention_row_finish(c, from_ns);

	if (err)
		return err;
	next = contention_new(c->names);
	if (!next)
		return -ENOMEM;
	contention_set_begin(next, to_ns);
	contention_observe(next, c->observe, c->observer);
	contention_observe_intervals(next, c->ended);
	c->before = c->now;
	c->now = next;
	return 0;
}

void contention_row_observe(void *self, cell_part_observer *observe, void *context)
{
	struct contention_row *c = self;

	c->observe = observe;
	c->observer = context;
	contention_observe(c->now, observe, context);
}

void contention_row_observe_intervals(void *self, cell_interval_observer *ended)
{
	struct contention_row *c = self;

	c->ended = ended;
	contention_observe_intervals(c->now, ended);
}

const struct contention *contention_row_get(const void *self)
{
	return ((const struct contention_row *)self)->now;
}

const struct analysis_row contention_analysis = {
	/* No events: it goes by the time of all of them. */
	.new = contention_row_new,   .begin = contention_row_begin,   .add = contention_row_add,
	.hole = contention_row_hole, .finish = contention_row_finish, .free = contention_row_free,
};
