/*
 * Collections, safepoints and VM operations are each one at a time in a JVM (operations nest), so
 * that a begin belongs to the next end. A pause that is seen only in part is counted as incomplete
 * and left out of the sums.
 */
#include "analyze/vm/pause.h"

#include <stdlib.h>

#include "analyze/row.h"
#include "base/tables/saturate.h"

void pause_times_add(struct pause_times *t, uint64_t ns)
{
	t->count++;
	t->total_ns = sum_saturated(t->total_ns, ns);
	t->max_ns = ns > t->max_ns ? ns : t->max_ns;
	time_buckets_add(&t->buckets, ns);
}

static void on_gc_begin(struct pauses *p, const struct event *e)
{
	p->incomplete += p->in_gc;
	p->in_gc = true;
	p->gc_since_ns = p->now_ns;
	p->gc_operation = e->v[GC_BEGIN_OPERATION].u;
	p->pools_now_count = 0;
}

/* A full collection has several managers report, one within the other: the first before, the last
 * after count. */
static void on_gc_pool(struct pauses *p, const struct event *e)
{
	uint64_t pool = e->v[GC_POOL_POOL].u, used = e->v[GC_POOL_USED_BYTES].u;
	struct pause_pool_now *now;
	uint32_t i = 0;

	if (!p->in_gc)
		return;
	while (i < p->pools_now_count && p->pools_now[i].pool != pool)
		i++;
	if (i == p->pools_now_count) {
		if (i == PAUSE_POOLS_MAX) {
			p->incomplete++;
			return;
		}
		p->pools_now[i] = (struct pause_pool_now){.pool = pool};
		p->pools_now_count++;
	}
	now = &p->pools_now[i];
	if (e->v[GC_POOL_MOMENT].u == GC_MOMENT_AFTER) {
		now->after_bytes = used;
		now->after = true;
	} else if (!now->before) {
		now->before_bytes = used;
		now->before = true;
	}
}

static int pool_add(struct pauses *p, uint64_t collector, uint64_t kind, uint64_t pool,
		    struct pause_pool **ret)
{
	uint32_t index, heap, known = p->pool_map.count, heaps = p->heap_map.count;
	int err = keymap_add_row(&p->pool_map,
				 (struct keymap_key){.a = collector, .b = kind, .c = pool},
				 &p->pools, &p->pools_capacity, sizeof(*p->pools), &index);

	if (err)
		return err;
	*ret = &p->pools[index];
	if (index < known)
		return 0;
	err = keymap_add_row(&p->heap_map, (struct keymap_key){.a = collector, .b = kind},
			     &p->heaps, &p->heaps_capacity, sizeof(*p->heaps), &heap);
	if (err)
		return err;
	**ret = (struct pause_pool){.collector = collector,
				    .kind = kind,
				    .pool = pool,
				    .next = heap < heaps ? p->heaps[heap] : INDEX_NONE};
	p->heaps[heap] = index;
	return 0;
}

static int pools_add(struct pauses *p, uint64_t collector, uint64_t kind)
{
	for (uint32_t i = 0; i < p->pools_now_count; i++) {
		const struct pause_pool_now *now = &p->pools_now[i];
		struct pause_pool *row;
		int err;

		if (!now->before || !now->after)
			continue;
		err = pool_add(p, collector, kind, now->pool, &row);
		if (err)
			return err;
		row->count++;
		row->before_bytes += now->before_bytes;
		row->after_bytes += now->after_bytes;
	}
	return 0;
}

static int on_gc_end(struct pauses *p, const struct event *e)
{
	uint64_t collector = e->v[GC_END_COLLECTOR].u, kind = e->v[GC_END_KIND].u;
	uint64_t operation = e->v[GC_END_OPERATION].u ? e->v[GC_END_OPERATION].u : p->gc_operation;
	struct keymap_key key = {.a = collector, .b = kind, .c = operation};
	uint32_t index;
	int err;

	if (!p->in_gc) {
		p->incomplete++;
		return 0;
	}
	err = keymap_add_row(&p->gc_map, key, &p->gcs, &p->gcs_capacity, sizeof(*p->gcs), &index);
	if (err)
		return err;
	p->in_gc = false;
	p->gcs[index].collector = collector;
	p->gcs[index].kind = kind;
	p->gcs[index].operation = operation;
	pause_times_add(&p->gcs[index].times, p->now_ns - p->gc_since_ns);
	pause_times_add(&p->gc_times, p->now_ns - p->gc_since_ns);
	return pools_add(p, collector, kind);
}

static void on_safepoint_begin(struct pauses *p)
{
	p->incomplete += p->in_safepoint;
	p->in_safepoint = true;
	p->safepoint_since_ns = p->now_ns;
	p->reached_ns = 0;
	p->safepoint_operation[0] = 0;
	p->safepoint_operation[1] = 0;
	p->safepoint_more = false;
}

/* Of what was before the begin of what is analysed only that is known that was still open then: a
 * safepoint from before without an operation had been reached. */
static void halves_add(struct pauses *p)
{
	uint64_t since_ns = p->safepoint_since_ns;
	bool had_one = !p->reached_ns && since_ns < p->begin_ns;
	uint64_t reached_ns = p->reached_ns ? p->reached_ns : had_one ? since_ns : p->now_ns;

	pause_times_add(&p->reach_times, reached_ns - since_ns);
	if (p->reached_ns || had_one)
		pause_times_add(&p->operation_times, p->now_ns - reached_ns);
}

static int on_safepoint_end(struct pauses *p)
{
	struct keymap_key key = {.a = p->safepoint_operation[0],
				 .b = p->safepoint_operation[1],
				 .c = p->safepoint_more};
	struct pause_safepoint *row;
	uint32_t index;
	int err;

	if (!p->in_safepoint) {
		p->incomplete++;
		return 0;
	}
	err = keymap_add_row(&p->safepoint_map, key, &p->safepoints, &p->safepoints_capacity,
			     sizeof(*p->safepoints), &index);
	if (err)
		return err;
	p->in_safepoint = false;
	row = &p->safepoints[index];
	row->operation[0] = key.a;
	row->operation[1] = key.b;
	row->more = key.c;
	pause_times_add(&row->times, p->now_ns - p->safepoint_since_ns);
	pause_times_add(&p->safepoint_times, p->now_ns - p->safepoint_since_ns);
	halves_add(p);
	return 0;
}

static void safepoint_operation(struct pauses *p, uint64_t operation)
{
	uint64_t *seen = p->safepoint_operation;

	if (!p->in_safepoint || !operation || seen[0] == operation || seen[1] == operation)
		return;
	if (!seen[0])
		seen[0] = operation;
	else if (!seen[1])
		seen[1] = operation;
	else
		p->safepoint_more = true;
}

static void on_operation_begin(struct pauses *p, const struct event *e)
{
	uint64_t operation = e->v[VM_OPERATION_BEGIN_OPERATION].u;

	safepoint_operation(p, operation);
	if (p->in_safepoint && !p->reached_ns)
		p->reached_ns = p->now_ns;
	if (p->depth == PAUSE_DEPTH_MAX) { /* ends must have been lost */
		p->incomplete += p->depth;
		p->depth = 0;
	}
	p->running[p->depth].operation = operation;
	p->running[p->depth].mode = e->v[VM_OPERATION_BEGIN_MODE].u;
	p->running[p->depth].since_ns = p->now_ns;
	p->depth++;
}

static int on_operation_end(struct pauses *p, const struct event *e)
{
	uint64_t operation = e->v[VM_OPERATION_END_OPERATION].u;
	struct pause_operation *row;
	unsigned depth = p->depth;
	struct keymap_key key;
	uint32_t index;
	int err;

	safepoint_operation(p, operation);
	while (depth && p->running[depth - 1].operation != operation)
		depth--;
	if (!depth) {
		p->incomplete++;
		return 0;
	}
	p->incomplete += p->depth - depth;
	p->depth = depth - 1;
	key = (struct keymap_key){.a = operation, .b = p->running[p->depth].mode};
	err = keymap_add_row(&p->operation_map, key, &p->operations, &p->operations_capacity,
			     sizeof(*p->operations), &index);
	if (err)
		return err;
	row = &p->operations[index];
	row->operation = operation;
	row->mode = key.b;
	pause_times_add(&row->times, p->now_ns - p->running[p->depth].since_ns);
	return 0;
}

int pauses_add(struct pauses *p, const struct event *e)
{
	if (e->time_ns > p->now_ns)
		p->now_ns = e->time_ns;
	switch (e->id) {
	case EVENT_GC_BEGIN:
		on_gc_begin(p, e);
		return 0;
	case EVENT_GC_END:
		return on_gc_end(p, e);
	case EVENT_GC_POOL:
		on_gc_pool(p, e);
		return 0;
	case EVENT_SAFEPOINT_BEGIN:
		on_safepoint_begin(p);
		return 0;
	case EVENT_SAFEPOINT_END:
		return on_safepoint_end(p);
	case EVENT_VM_OPERATION_BEGIN:
		on_operation_begin(p, e);
		return 0;
	case EVENT_VM_OPERATION_END:
		return on_operation_end(p, e);
	default:
		return 0;
	}
}

void pauses_finish(struct pauses *p)
{
	p->incomplete += p->in_gc + p->in_safepoint + p->depth;
	p->in_gc = false;
	p->in_safepoint = false;
	p->depth = 0;
}

void pauses_free(struct pauses *p)
{
	keymap_free(&p->gc_map);
	keymap_free(&p->pool_map);
	keymap_free(&p->safepoint_map);
	keymap_free(&p->operation_map);
	keymap_free(&p->heap_map);
	free(p->gcs);
	free(p->pools);
	free(p->safepoints);
	free(p->operations);
	free(p->heaps);
	*p = (struct pauses){0};
}

ROW_ZEROED(pauses)

static void pauses_row_begin(void *self, uint64_t begin_ns)
{
	((struct pauses *)self)->begin_ns = begin_ns;
}

static int pauses_row_add(void *self, const struct analysis_input *in)
{
	struct pauses *p = self;

	/* What was open at the begin comes in any order, and has begun when it says. */
	if (in->counted->time_ns < p->begin_ns)
		p->now_ns = in->counted->time_ns;
	else
		row_catch_up(&p->now_ns, in);
	return pauses_add(p, in->counted);
}

static int pauses_row_hole(void *self, uint64_t from_ns, uint64_t to_ns)
{
	(void)from_ns;
	(void)to_ns;
	pauses_finish(self);
	return 0;
}

static int pauses_row_finish(void *self, uint64_t end_ns)
{
	return pauses_row_hole(self, end_ns, end_ns);
}

const struct analysis_row pauses_analysis = {
	.events = ROW_EVENTS(EVENT_GC_BEGIN, EVENT_GC_END, EVENT_GC_POOL, EVENT_SAFEPOINT_BEGIN,
			     EVENT_SAFEPOINT_END, EVENT_VM_OPERATION_BEGIN, EVENT_VM_OPERATION_END),
	.new = pauses_row_new,
	.begin = pauses_row_begin,
	.add = pauses_row_add,
	.hole = pauses_row_hole,
	.finish = pauses_row_finish,
	.free = pauses_row_free,
};
