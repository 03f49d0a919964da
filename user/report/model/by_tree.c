#include "report/model/by_tree.h"

#include "analyze/contention/contention.h"
#include "analyze/registry/analysis.h"

int by_tree_make(const struct report_input *in, const enum aspect_id *by, unsigned depth,
		 struct group *ret)
{
	const struct cell *cells;
	uint32_t count;

	cells = contention_cells(analysis_contention(in->log->analysis), &count);
	return (in->parked ? groups_make_parked : groups_make)(analysis_stacks(in->log->analysis),
							       cells, count, by, depth, ret);
}
