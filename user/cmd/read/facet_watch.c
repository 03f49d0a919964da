#include "cmd/read/facet_watch.h"

#include <errno.h>

#include "analyze/registry/analysis.h"
#include "log/format/header_fields.h"
#include "session/log_source.h"

int facet_watch_begin(struct facet_watch *w, struct analysis *a, const json_t *header)
{
	const struct range *range = &w->source->range;
	struct facet_options o = {.facets = w->facets,
				  .start_ns = header_number(header, NULL, "start_mono_ns"),
				  .begin_ns = header_begin_ns(header),
				  .window_ns = w->window_ns,
				  .cells_max = w->cells_max};

	if (!w->facets)
		return 0;
	if (range->from && range->from_ns > o.begin_ns)
		o.begin_ns = range->from_ns;
	w->cells = facet_cells_new(&o);
	if (!w->cells)
		return -ENOMEM;
	analysis_observe(a, facet_cells_part, w->cells);
	analysis_observe_intervals(a, facet_cells_interval);
	return 0;
}

int facet_watch_event(struct facet_watch *w, const struct event *e)
{
	return w->cells ? facet_cells_add(w->cells, e) : 0;
}

int facet_watch_hole(struct facet_watch *w, uint64_t from_ns)
{
	return w->cells ? facet_cells_hole(w->cells, from_ns) : 0;
}

void facet_watch_free(struct facet_watch *w)
{
	facet_cells_free(w->cells);
	w->cells = NULL;
}
