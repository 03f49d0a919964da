#include <stdlib.h>

#include "analyze/cells/cells.h"
#include "analyze/registry/analysis.h"
#include "analyze/stacks/stacks.h"
#include "log/read/names.h"
#include "report/model/report.h"
#include "report/model/sections/commands/spans_report.h"

uint64_t spans_lost(const struct report_input *in)
{
	struct analysis_facts f;
	uint64_t lost = 0;

	analysis_facts(in->log->analysis, &f);
	for (uint32_t i = 0; i < f.lost_count; i++)
		if (f.lost[i].event_id == EVENT_SPAN_BEGIN ||
		    f.lost[i].event_id == EVENT_SPAN_END ||
		    f.lost[i].event_id == EVENT_THREAD_RENAME)
			lost += f.lost[i].count;
	return lost;
}

static int by_time(const void *a, const void *b)
{
	const struct spans_row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->lock != y->lock ? (x->lock > y->lock) - (x->lock < y->lock)
				  : (x->holder > y->holder) - (x->holder < y->holder);
}

static bool is_lock(const struct span_blocker *b, const struct stacks *stacks)
{
	const struct log_lock *l = log_names_lock(stacks_names(stacks), b->lock);

	return holder_is_thread(b->holder) || !l || l->group != LOCK_GROUP_OTHER;
}

unsigned spans_rows(const struct span_blockers *b, const struct stacks *stacks,
		    struct spans_row ret[SPAN_BLOCKERS_MAX])
{
	unsigned count = 0, k;

	for (uint32_t i = 0; i < b->count; i++) {
		struct spans_row row = {b->by[i].lock, b->by[i].holder,
					stacks_holder_method(stacks, b->by[i].holder_stack),
					b->by[i].ns};

		if (!is_lock(&b->by[i], stacks))
			continue;
		for (k = 0; k < count; k++)
			if (ret[k].lock == row.lock && ret[k].holder == row.holder &&
			    ret[k].method == row.method)
				break;
		if (k == count)
			ret[count++] = row;
		else
			ret[k].ns += row.ns;
	}
	qsort(ret, count, sizeof(*ret), by_time);
	return count;
}
