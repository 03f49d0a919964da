/*
 * Events are nearly in order, as CPUs hand them over soon after they happen: the queue is a sorted
 * ring, into which a new one goes at or near the end. The few that come later than that go into a
 * heap, so that no log, however odd, makes it slow. The events stay where the reader has decoded
 * them.
 */
#include "log/order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "log/event.h"
#include "log/reader.h"

#define NEAR                                                                                       \
	32 /* places before the ring's end that are looked at; beyond them the heap is cheaper */
#define FIRST_CAPACITY 64

struct place {
	uint64_t time_ns;
	uint64_t arrival;
	const struct event *event;
	struct batch *batch; /* what keeps it */
};

struct log_order {
	struct log_reader *reader;
	uint64_t window_ns;
	uint64_t newest_ns; /* of all that were read */
	uint64_t last_ns;   /* of the last one that came out */
	uint64_t arrivals;
	uint64_t late;
	int end;             /* what the reader said last; 1: there is more */
	struct batch *batch; /* of the last one that came out */
	struct place *ring;  /* places [begin, end), modulo its capacity, a power of two */
	size_t ring_begin, ring_end, ring_capacity;
	struct place *heap;
	size_t heap_count, heap_capacity;
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

static struct place *ring_at(const struct log_order *o, size_t i)
{
	return &o->ring[i & (o->ring_capacity - 1)];
}

void log_order_free(struct log_order *o)
{
	size_t i;

	if (!o)
		return;
	for (i = o->ring_begin; i < o->ring_end; i++)
		log_reader_release(o->reader, ring_at(o, i)->batch);
	for (i = 0; i < o->heap_count; i++)
		log_reader_release(o->reader, o->heap[i].batch);
	log_reader_release(o->reader, o->batch);
	free(o->ring);
	free(o->heap);
	free(o);
}

static bool is_before(const struct place *a, const struct place *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->arrival < b->arrival;
}

static int ring_grow(struct log_order *o)
{
	size_t capacity = o->ring_capacity ? 2 * o->ring_capacity : FIRST_CAPACITY, i;
	size_t count = o->ring_end - o->ring_begin;
	struct place *ring = malloc(capacity * sizeof(*ring));

	if (!ring)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		ring[i] = *ring_at(o, o->ring_begin + i);
	free(o->ring);
	o->ring = ring;
	o->ring_capacity = capacity;
	o->ring_begin = 0;
	o->ring_end = count;
	return 0;
}

static int heap_push(struct log_order *o, const struct place *new)
{
	size_t capacity = o->heap_capacity ? 2 * o->heap_capacity : FIRST_CAPACITY, i, parent;
	struct place *heap;

	if (o->heap_count == o->heap_capacity) {
		heap = realloc(o->heap, capacity * sizeof(*heap));
		if (!heap)
			return -ENOMEM;
		o->heap = heap;
		o->heap_capacity = capacity;
	}
	for (i = o->heap_count++; i; i = parent) {
		parent = (i - 1) / 2;
		if (!is_before(new, &o->heap[parent]))
			break;
		o->heap[i] = o->heap[parent];
	}
	o->heap[i] = *new;
	return 0;
}

static struct place heap_pop(struct log_order *o)
{
	struct place first = o->heap[0];
	struct place last = o->heap[--o->heap_count];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < o->heap_count) {
		if (child + 1 < o->heap_count && is_before(&o->heap[child + 1], &o->heap[child]))
			child++;
		if (!is_before(&o->heap[child], &last))
			break;
		o->heap[i] = o->heap[child];
		i = child;
	}
	o->heap[i] = last;
	return first;
}

/* The place in the ring behind all that are not later; false: it is too far from the end. */
static bool ring_find(const struct log_order *o, uint64_t time_ns, size_t *ret)
{
	size_t i = o->ring_end, far = o->ring_end - o->ring_begin;

	far = far > NEAR ? o->ring_end - NEAR : o->ring_begin;
	while (i > far && ring_at(o, i - 1)->time_ns > time_ns)
		i--;
	*ret = i;
	return i > far || i == o->ring_begin;
}

static int push(struct log_order *o, const struct event *e)
{
	struct place new = {e->time_ns, o->arrivals, e, NULL};
	size_t i, at;
	int err = 0;

	new.batch = log_reader_hold(o->reader);
	if (o->ring_end - o->ring_begin == o->ring_capacity)
		err = ring_grow(o);
	if (err) {
		log_reader_release(o->reader, new.batch);
		return err;
	}
	o->arrivals++;
	if (!ring_find(o, e->time_ns, &at)) {
		err = heap_push(o, &new);
		if (err)
			log_reader_release(o->reader, new.batch);
		return err;
	}
	for (i = o->ring_end++; i > at; i--)
		*ring_at(o, i) = *ring_at(o, i - 1);
	*ring_at(o, at) = new;
	return 0;
}

/* Where the earliest event is; NULL: there is none. */
static const struct place *first(const struct log_order *o)
{
	const struct place *ring;

	if (o->ring_begin == o->ring_end)
		return o->heap_count ? o->heap : NULL;
	ring = ring_at(o, o->ring_begin);
	return o->heap_count && is_before(o->heap, ring) ? o->heap : ring;
}

static bool is_ripe(const struct log_order *o)
{
	const struct place *p = first(o);

	return p && (o->end != 1 || o->newest_ns - p->time_ns >= o->window_ns);
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
	struct place p;
	int err;

	while (!is_ripe(o)) {
		if (o->end != 1)
			return o->end;
		err = pull(o);
		if (err)
			return err;
	}
	if (first(o) == o->heap)
		p = heap_pop(o);
	else
		p = *ring_at(o, o->ring_begin++);
	log_reader_release(o->reader, o->batch);
	o->batch = p.batch;
	if (p.time_ns < o->last_ns)
		o->late++;
	else
		o->last_ns = p.time_ns;
	*ret = p.event;
	return 1;
}

uint64_t log_order_late(const struct log_order *o)
{
	return o->late;
}
