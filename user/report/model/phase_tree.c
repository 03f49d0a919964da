#include "report/model/phase_tree.h"

#include "analyze/vm/phases.h"

uint32_t phase_tree_next(const struct phases *p, uint32_t parent, uint32_t after)
{
	for (uint32_t i = after == PLACE_NONE ? 0 : after + 1; i < p->row_places.count; i++) {
		if (p->rows[i].parent == parent && p->rows[i].shown)
			return i;
	}
	return PLACE_NONE;
}

const char *phase_kind_name(uint64_t kind)
{
	static const char *const names[GC_PHASE_KIND_COUNT] = {"pause", "concurrent", "worker"};

	return kind < GC_PHASE_KIND_COUNT ? names[kind] : "unknown";
}
