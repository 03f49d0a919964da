#include "log/order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "log/event.h"
#include "log/reader.h"

struct place {
	uint64_t time_ns;
	uint64_t arrival;
	struct event *event;
};

struct log_order {
	struct log_reader *reader;
	uint64_t window_ns;
	uint64_t newest_ns; /* of all that were read */
	uint64_t last_ns;   /* of the last one that came out */
	uint64_t arrivals;
	uint64_t late;
	int end;            /* what the reader said last; 1: there is more */
	struct place *heap; /* capacity places; behind the first count ones: events that are free */
	size_t count;
	size_t capacity;
};

int log_order_new(struct log_reader *r, uint64_t window_ns, struct log_order **ret)
{
	struct log_order *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->reader = r;
	o->window_ns = window_ns;
	o->end = 1;
	*ret = o;
	return 0;
}

void log_order_free(struct log_order *o)
{
	size_t i;

	if (!o)
		return;
	for (i = 0; i < o->capacity; i++)
		free(o->heap[i].event);
	free(o->heap);
	free(o);
}

static bool is_before(const struct place *a, const struct place *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->arrival < b->arrival;
}

static int grow(struct log_order *o)
{
	size_t capacity = o->capacity ? 2 * o->capacity : 64;
	struct place *heap = realloc(o->heap, capacity * sizeof(*heap));

	if (!heap)
		return -ENOMEM;
	o->heap = heap;
	for (; o->capacity < capacity; o->capacity++) {
		heap[o->capacity].event = malloc(sizeof(struct event));
		if (!heap[o->capacity].event)
			return -ENOMEM;
	}
	return 0;
}

static int push(struct log_order *o, const struct event *e)
{
	struct place new = {e->time_ns, o->arrivals, NULL};
	size_t i, parent;
	int err;

	if (o->count == o->capacity) {
		err = grow(o);
		if (err)
			return err;
	}
	o->arrivals++;
	new.event = o->heap[o->count].event;
	*new.event = *e;
	for (i = o->count++; i; i = parent) {
		parent = (i - 1) / 2;
		if (!is_before(&new, &o->heap[parent]))
			break;
		o->heap[i] = o->heap[parent];
	}
	o->heap[i] = new;
	return 0;
}

/* The first one goes to the free places behind the heap, where the next push would reuse it. */
static const struct event *pop(struct log_order *o)
{
	struct place first = o->heap[0];
	struct place last = o->heap[--o->count];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < o->count) {
		if (child + 1 < o->count && is_before(&o->heap[child + 1], &o->heap[child]))
			child++;
		if (!is_before(&o->heap[child], &last))
			break;
		o->heap[i] = o->heap[child];
		i = child;
	}
	o->heap[i] = last;
	o->heap[o->count] = first;
	return first.event;
}

static bool is_ripe(const struct log_order *o)
{
	if (!o->count)
		return false;
	return o->end != 1 || o->newest_ns - o->heap[0].time_ns >= o->window_ns;
}

static int pull(struct log_order *o)
{
	const struct event *e;
	int err;

	err = log_reader_next(o->reader, &e);
	if (err != 1) {
		o->end = err;
		return 0;
	}
	if (e->time_ns > o->newest_ns)
		o->newest_ns = e->time_ns;
	return push(o, e);
}

int log_order_next(struct log_order *o, const struct event **ret)
{
	int err;

	while (!is_ripe(o)) {
		if (o->end != 1)
			return o->end;
		err = pull(o);
		if (err)
			return err;
	}
	*ret = pop(o);
	if ((*ret)->time_ns < o->last_ns)
		o->late++;
	else
		o->last_ns = (*ret)->time_ns;
	return 1;
}

uint64_t log_order_late(const struct log_order *o)
{
	return o->late;
}
