/*
 * A memory manager reports all pools one after the other when its collection ends. A full
 * collection of Serial may have a young one before it, of which the young manager reports apart.
 */
#include "analyze/gc/gc_pools.h"

#include <errno.h>
#include <stdlib.h>

#include "base/tables/array.h"
#include "base/tables/saturate.h"
#include "log/format/event.h"
#include "log/read/names.h"

void gc_pools_free(struct gc_pools *p)
{
	free(p->rows);
	*p = (struct gc_pools){0};
}

uint64_t gc_pools_used(const struct gc_pools_row *r)
{
	uint64_t sum = 0;

	for (int i = 0; i < HEAP_POOL_COUNT; i++)
		sum = sum_saturated(sum, r->used_bytes[i]);
	return sum;
}

/* Is the pool one more of the last row? */
static bool goes_on(const struct gc_pools *p, const struct event *e)
{
	const struct gc_pools_row *last = p->open ? &p->rows[p->count - 1] : NULL;

	if (!last || last->pools == GC_POOLS_MAX || p->thread != e->thread ||
	    p->manager != e->v[GC_POOL_MANAGER].u)
		return false;
	for (unsigned i = 0; i < last->pools; i++)
		if (p->seen[i] == e->v[GC_POOL_POOL].u)
			return false;
	return true;
}

int gc_pools_add(struct gc_pools *p, const struct log_names *names, const struct event *e)
{
	struct gc_pools_row *row;
	enum heap_pool what;

	if (e->id != EVENT_GC_POOL)
		return 0;
	what = heap_pool_of(log_names_string(names, e->v[GC_POOL_POOL].u));
	if (e->v[GC_POOL_MOMENT].u != GC_MOMENT_AFTER)
		p->open = false;
	if (what == HEAP_POOL_NONE || e->v[GC_POOL_MOMENT].u != GC_MOMENT_AFTER)
		return 0;
	if (!goes_on(p, e)) {
		p->open = false;
		if (p->count == GC_POOLS_ROWS_MAX)
			return 0;
		if (array_grow(&p->rows, &p->capacity, p->count, sizeof(*p->rows)))
			return -ENOMEM;
		p->rows[p->count++] = (struct gc_pools_row){.time_ns = e->time_ns};
		p->thread = e->thread;
		p->manager = e->v[GC_POOL_MANAGER].u;
		p->open = true;
	}
	row = &p->rows[p->count - 1];
	p->seen[row->pools++] = e->v[GC_POOL_POOL].u;
	row->used_bytes[what] = sum_saturated(row->used_bytes[what], e->v[GC_POOL_USED_BYTES].u);
	if (row->pools > p->pools_most)
		p->pools_most = row->pools;
	return 0;
}
