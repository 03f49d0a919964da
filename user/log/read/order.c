/*
 * Events are nearly in order, as CPUs hand them over soon after they happen: the queue is a sorted
 * ring, into which a new one goes at or near the end. The few that come later than that go into a
 * heap, so that no log, however odd, makes it slow. The events stay where the reader has decoded
 * them, in batches, which are kept as long as one of their events is in the queue; where an event
 * is also says which one came first.
 *
 * An event is ripe, that is to come out, when the newest one is window_ns younger. A whole batch is
 * taken in at a time: what was ripe before is earlier than all that comes now, unless that is ripe
 * itself when it comes. Then the batch is left there until all has come out that must.
 *
 * A block of 2 KB can have four million events, all at one time, none of which is ever ripe. So
 * what is held is bounded: beyond held_max the earliest event comes out as it is. Only if the log
 * then has one that is earlier still, that one is late, and counted as such.
 */
#include "log/read/order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "log/format/event.h"
#include "log/read/batch.h"
#include "log/read/reader.h"

#define NEAR                                                                                       \
	32 /* entries before the ring's end that are looked at; beyond them the heap is cheaper */
#define FIRST_CAPACITY 64

struct pending {
	uint64_t time_ns;
	uint64_t where; /* its batch, a count modulo 2^32, and the offset in it in the lower half */
};

struct kept {
	struct batch *batch;
	const uint8_t *bytes;
	uint32_t left; /* events that are not out yet, or not done with */
	size_t size;   /* what it counts of held_bytes */
};

struct log_order {
	struct log_reader *reader;
	uint64_t window_ns; /* 0 when there is no more to be read */
	uint64_t newest_ns; /* of all that were read */
	uint64_t last_ns;   /* of the last one that came out */
	uint64_t late;
	int end;            /* what the reader said last; 1: there is more */
	struct log_run run; /* what has not been taken in yet of the last batch that is kept */
	struct kept *out;   /* of the last one that came out; NULL: done with */
	size_t held_bytes;  /* of all batches that are kept, and of the entries of their events */
	size_t held_max;    /* from there on events come out before they are ripe */
	struct kept *kept;  /* [begin, end), modulo its capacity, a power of two */
	uint32_t kept_begin, kept_end, kept_capacity;
	struct pending *ring; /* likewise */
	size_t ring_begin, ring_end, ring_capacity;
	struct pending *heap;
	uint32_t heap_count, heap_capacity;
};

int log_order_new(struct log_reader *r, uint64_t window_ns, struct log_order **ret)
{
	struct log_order *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->reader = r;
	o->window_ns = window_ns;
	o->held_max = ORDER_HELD_MAX;
	o->end = 1;
	*ret = o;
	return 0;
}

static struct pending *ring_at(const struct log_order *o, size_t i)
{
	return &o->ring[i & (o->ring_capacity - 1)];
}

static struct kept *kept_at(const struct log_order *o, uint32_t i)
{
	return &o->kept[i & (o->kept_capacity - 1)];
}

void log_order_free(struct log_order *o)
{
	uint32_t i;

	if (!o)
		return;
	for (i = o->kept_begin; i != o->kept_end; i++)
		if (kept_at(o, i)->left)
			log_reader_release(o->reader, kept_at(o, i)->batch);
	free(o->kept);
	free(o->ring);
	free(o->heap);
	free(o);
}

static bool is_before(const struct pending *a, const struct pending *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	return (int64_t)(a->where - b->where) < 0;
}

/* Room for count more. */
static int ring_grow(struct log_order *o, size_t more)
{
	size_t capacity = o->ring_capacity ? o->ring_capacity : FIRST_CAPACITY, i;
	size_t count = o->ring_end - o->ring_begin;
	struct pending *ring;

	while (capacity < count + more)
		capacity *= 2;
	if (capacity == o->ring_capacity)
		return 0;
	ring = malloc(capacity * sizeof(*ring));
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

static int heap_push(struct log_order *o, const struct pending *new)
{
	int err = array_grow(&o->heap, &o->heap_capacity, o->heap_count, sizeof(*o->heap));
	size_t i, parent;

	if (err)
		return err;
	for (i = o->heap_count++; i; i = parent) {
		parent = (i - 1) / 2;
		if (!is_before(new, &o->heap[parent]))
			break;
		o->heap[i] = o->heap[parent];
	}
	o->heap[i] = *new;
	return 0;
}

static struct pending heap_pop(struct log_order *o)
{
	struct pending first = o->heap[0];
	struct pending last = o->heap[--o->heap_count];
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

/* The entry of the ring after all that are not later; false: it is too far from the end. */
static bool ring_find(const struct log_order *o, uint64_t time_ns, size_t *ret)
{
	size_t i = o->ring_end, far = o->ring_end - o->ring_begin;

	far = far > NEAR ? o->ring_end - NEAR : o->ring_begin;
	while (i > far && ring_at(o, i - 1)->time_ns > time_ns)
		i--;
	*ret = i;
	return i > far || i == o->ring_begin;
}

/* There is room in the ring. */
static int push(struct log_order *o, const struct pending *new)
{
	size_t i, at;

	if (!ring_find(o, new->time_ns, &at))
		return heap_push(o, new);
	for (i = o->ring_end++; i > at; i--)
		*ring_at(o, i) = *ring_at(o, i - 1);
	*ring_at(o, at) = *new;
	return 0;
}

/* Room for one more batch. */
static int kept_grow(struct log_order *o)
{
	uint32_t capacity = o->kept_capacity ? 2 * o->kept_capacity : FIRST_CAPACITY, i;
	struct kept *kept;

	if (o->kept_end - o->kept_begin < o->kept_capacity)
		return 0;
	kept = malloc(capacity * sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	for (i = o->kept_begin; i != o->kept_end; i++)
		kept[i & (capacity - 1)] = *kept_at(o, i);
	free(o->kept);
	o->kept = kept;
	o->kept_capacity = capacity;
	return 0;
}

/* To the next batch; there may be none. */
static int run_next(struct log_order *o)
{
	int err = kept_grow(o);
	size_t size;

	if (err)
		return err;
	o->end = log_reader_run(o->reader, &o->run);
	if (o->end != 1) {
		o->window_ns = 0;
		return 0;
	}
	size = o->run.batch->capacity + o->run.count * sizeof(struct pending);
	*kept_at(o, o->kept_end++) =
		(struct kept){o->run.batch, o->run.batch->bytes, o->run.count, size};
	o->held_bytes += size;
	return ring_grow(o, o->run.count);
}

/* Where the earliest event is; NULL: there is none. */
static inline const struct pending *first(const struct log_order *o)
{
	const struct pending *ring;

	if (o->ring_begin == o->ring_end)
		return o->heap_count ? o->heap : NULL;
	ring = ring_at(o, o->ring_begin);
	return o->heap_count && is_before(o->heap, ring) ? o->heap : ring;
}

static inline bool is_ripe(const struct log_order *o, const struct pending *p)
{
	return p && o->newest_ns - p->time_ns >= o->window_ns;
}

/* One event that is not the newest, or with no window. 1: all that is ripe has to come out now. */
static int take_other(struct log_order *o, const struct event *e, const struct pending *new)
{
	uint64_t newest_ns = e->time_ns > o->newest_ns ? e->time_ns : o->newest_ns;
	bool ripe = newest_ns - e->time_ns >= o->window_ns;
	int err;

	if (ripe && is_ripe(o, first(o)))
		return 1;
	o->newest_ns = newest_ns;
	o->run.at += o->run.event_bytes[e->id];
	err = push(o, new);
	return err ? err : ripe;
}

/* As much of the batch as can be; most events are the newest ones when they come. */
static int take(struct log_order *o)
{
	uint64_t batch = (uint64_t)(o->kept_end - 1) << 32;
	int err = 0;

	while (o->run.at < o->run.end && !err) {
		const uint8_t *at = o->run.at, *end = o->window_ns ? o->run.end : at;
		const uint8_t *bytes = o->run.batch->bytes;
		const uint16_t *event_bytes = o->run.event_bytes;
		struct pending *ring = o->ring, new;
		uint64_t newest_ns = o->newest_ns;
		size_t i = o->ring_end, mask = o->ring_capacity - 1;

		while (at < end && ((const struct event *)at)->time_ns >= newest_ns) {
			newest_ns = ((const struct event *)at)->time_ns;
			ring[i++ & mask] =
				(struct pending){newest_ns, batch | (uint64_t)(at - bytes)};
			at += event_bytes[((const struct event *)at)->id];
		}
		o->run.at = at;
		o->newest_ns = newest_ns;
		o->ring_end = i;
		if (at == o->run.end)
			break;
		new = (struct pending){((const struct event *)at)->time_ns,
				     batch | (uint64_t)(at - bytes)};
		err = take_other(o, (const struct event *)at, &new);
	}
	return err < 0 ? err : 0;
}

/* What is left of a batch may be earlier than all that is held: it has to be taken in first. */
static bool is_full(const struct log_order *o)
{
	return o->held_bytes > o->held_max && o->run.at == o->run.end && first(o);
}

/* Until something is ripe, or the end. */
static int fill(struct log_order *o)
{
	int err = 0;

	while (!err && !is_ripe(o, first(o))) {
		if (o->end != 1 || is_full(o))
			return 0;
		if (o->run.at == o->run.end)
			err = run_next(o);
		if (!err && o->run.at != o->run.end)
			err = take(o);
	}
	return err;
}

/* The caller needs the last event no more, nor any other of its batch. */
static void __attribute__((noinline)) kept_release(struct log_order *o, struct kept *k)
{
	log_reader_release(o->reader, k->batch);
	o->held_bytes -= k->size;
	while (o->kept_begin != o->kept_end && !kept_at(o, o->kept_begin)->left)
		o->kept_begin++;
}

static inline int emit(struct log_order *o, uint64_t time_ns, uint64_t where,
		       const struct event **ret)
{
	struct kept *k = kept_at(o, (uint32_t)(where >> 32));
	const struct event *e = (const struct event *)(k->bytes + (uint32_t)where);

	if (time_ns >= o->last_ns)
		o->last_ns = time_ns;
	else
		o->late += !schema_is_definition(e->id);
	o->out = k;
	*ret = e;
	return 1;
}

/* The next one is not at hand. */
static int __attribute__((noinline)) next(struct log_order *o, const struct event **ret)
{
	const struct pending *p;
	struct pending out;
	int err = fill(o);

	if (err)
		return err;
	p = first(o);
	if (!p)
		return o->end;
	if (p == o->heap) {
		out = heap_pop(o);
	} else {
		out = *p;
		o->ring_begin++;
	}
	return emit(o, out.time_ns, out.where, ret);
}

int log_order_next(struct log_order *o, const struct event **ret)
{
	const struct pending *p;

	if (o->out && !--o->out->left)
		kept_release(o, o->out);
	o->out = NULL;
	if (o->ring_begin == o->ring_end)
		return next(o, ret);
	p = ring_at(o, o->ring_begin);
	if (!is_ripe(o, p) || (o->heap_count && is_before(o->heap, p)))
		return next(o, ret);
	o->ring_begin++;
	return emit(o, p->time_ns, p->where, ret);
}

void log_order_set_max(struct log_order *o, size_t bytes)
{
	o->held_max = bytes;
}

uint64_t log_order_late(const struct log_order *o)
{
	return o->late;
}
