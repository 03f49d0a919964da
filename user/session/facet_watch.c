#include "session/facet_watch.h"

#include <errno.h>

#include "analyze/registry/analysis.h"
#include "base/text/msg.h"
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

int facet_watch_windows(const struct facet_watch *w, const char *what_to_do)
{
	if (!w->cells || !facet_cells_full(w->cells))
		return 0;
	msg_error("%s: more than %d windows: the last one has the rest; %s, or a part with "
		  "--from and --to",
		  w->source->name, FACET_WINDOWS_MAX, what_to_do);
	return -EFBIG;
}

void facet_watch_free(struct facet_watch *w)
{
	facet_cells_free(w->cells);
	w->cells = NULL;
}

static int on_begin(void *ctx, struct analysis *a, const json_t *header)
{
	return facet_watch_begin(ctx, a, header);
}

static int on_event(void *ctx, const struct event *e)
{
	return facet_watch_event(ctx, e);
}

static int on_hole(void *ctx, uint64_t from_ns, uint64_t to_ns)
{
	(void)to_ns;
	return facet_watch_hole(ctx, from_ns);
}

struct log_watch facet_watch_of(struct facet_watch *w)
{
	return (struct log_watch){
		.begin = on_begin, .event = on_event, .hole = on_hole, .ctx = w};
}
