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

bool phase_tree_in_top(const struct phases *p, uint32_t row, unsigned top)
{
	uint64_t own_ns = p->rows[row].times.total_ns;
	unsigned longer = 0;

	for (uint32_t i = 0; i < p->row_places.count; i++) {
		uint64_t ns = p->rows[i].times.total_ns;

		if (p->rows[i].parent == p->rows[row].parent && p->rows[i].shown)
			longer += ns > own_ns || (ns == own_ns && i < row);
	}
	return longer < top;
}

const char *phase_kind_name(uint64_t kind)
{
	static const char *const names[GC_PHASE_KIND_COUNT] = {"pause", "concurrent", "worker"};

	return kind < GC_PHASE_KIND_COUNT ? names[kind] : "unknown";
}
