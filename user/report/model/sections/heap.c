#include "report/model/sections/heap.h"

#include "analyze/vm/heap_pool.h"
#include "analyze/vm/pause.h"
#include "log/read/names.h"

bool heap_around_gc(const struct pauses *p, const struct log_names *names, uint64_t collector,
		    uint64_t kind, uint64_t *ret_before_bytes, uint64_t *ret_after_bytes)
{
	uint32_t heap = keymap_find(&p->heap_map, (struct keymap_key){.a = collector, .b = kind});
	uint64_t before = 0, after = 0;
	bool known = false;

	for (uint32_t i = heap == INDEX_NONE ? heap : p->heaps[heap]; i != INDEX_NONE;
	     i = p->pools[i].next) {
		const struct pause_pool *row = &p->pools[i];

		if (heap_pool_of(log_names_string(names, row->pool)) == HEAP_POOL_NONE)
			continue;
		before += row->before_bytes / row->count;
		after += row->after_bytes / row->count;
		known = true;
	}
	*ret_before_bytes = before;
	*ret_after_bytes = after;
	return known;
}
