#include "cmd/read/export/export_heatmap.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/cells/cell_windows.h"
#include "analyze/contention/contention.h"
#include "analyze/profile/profile.h"
#include "analyze/profile/profile_course.h"
#include "analyze/registry/analysis.h"
#include "base/text/msg.h"
#include "cmd/cmd.h"
#include "cmd/read/export_output.h"
#include "session/facet_watch.h"
#include "cmd/read/where_option.h"
#include "log/format/header_fields.h"
#include "report/csv/heatmap_csv.h"
#include "report/model/sections/commands/profile_window.h"
#include "session/analyze_log.h"
#include "session/log_source.h"
#include "session/max_memory.h"
#include "session/time_range.h"

struct watched {
	const struct range *range;
	const struct condition *where; /* NULL: all contentions */
	struct facet_watch facets;     /* of where: cells is NULL if it needs none */
	struct cell_windows windows;
	struct profile samples;
	struct profile_course course; /* of these */
	bool sampled;
};

/* As the page of a log has them. */
static void samples_begin(struct watched *w, const struct analysis *a, const json_t *header)
{
	struct profile_options *o = &w->samples.options;

	w->sampled = header_number(json_object_get(header, "sources"), "sample", "period_ns");
	profile_window_set(o, header, w->range);
	o->names = analysis_names(a);
	o->observe = profile_course_add;
	o->context = &w->course;
}

static int on_begin(void *ctx, struct analysis *a, const json_t *header)
{
	struct watched *w = ctx;
	uint64_t begin_ns = header_begin_ns(header);

	if (w->range->from && w->range->from_ns > begin_ns)
		begin_ns = w->range->from_ns;
	cell_windows_init(&w->windows, begin_ns);
	samples_begin(w, a, header);
	if (facet_watch_begin(&w->facets, a, header))
		return -ENOMEM;
	if (w->facets.cells)
		facet_cells_observe(w->facets.cells, cell_windows_observe, &w->windows);
	else
		analysis_observe(a, cell_windows_observe, &w->windows);
	return 0;
}

static int on_event(void *ctx, const struct event *e)
{
	struct watched *w = ctx;
	int err = facet_watch_event(&w->facets, e);

	if (!w->windows.begin_ns)
		w->windows.begin_ns = e->time_ns;
	return err || !w->sampled ? err : profile_add(&w->samples, e);
}

static int on_hole(void *ctx, uint64_t from_ns, uint64_t to_ns)
{
	struct watched *w = ctx;

	(void)to_ns;
	profile_hole(&w->samples);
	return facet_watch_hole(&w->facets, from_ns);
}

static int write_all(const struct log_source *source, const struct heatmap_input *in, FILE *out)
{
	int err = heatmap_csv(in, out);

	if (err)
		msg_error("%s: cannot export it: %s", source->name, max_memory_error(err));
	return err ? err : finish_output(out);
}

static int write_file(const struct log_source *source, const char *output, mode_t mode,
		      const struct heatmap_input *in)
{
	FILE *out = export_output_open(source, output, mode);

	return out ? export_output_close(out, output, write_all(source, in, out)) : -EIO;
}

static int export(const struct log_source *source, const char *output, mode_t mode,
		  const struct analyzed_log *log, const struct watched *w)
{
	struct heatmap_input in = {.names = analysis_names(log->analysis),
				   .windows = &w->windows,
				   .course = &w->course,
				   .chosen = w->where != NULL,
				   .start_ns = session_log_start(&log->log)};
	struct cell *chosen = NULL;
	int err = 0;

	if (w->windows.full || w->course.full) {
		msg_error("%s: there is too much in it for a map of time: --from and --to read a "
			  "part of the log",
			  source->name);
		return -EFBIG;
	}
	in.cells = contention_cells(analysis_contention(log->analysis), &in.cell_count);
	if (w->where) {
		err = where_chosen(w->where, log->analysis, w->facets.cells, &chosen,
				   &in.cell_count);
		in.cells = chosen;
	}
	if (err)
		msg_error("%s: cannot export it: %s", source->name, max_memory_error(err));
	else if (w->where && !in.cell_count)
		msg_warning("%s: --where chooses none of its contentions", source->name);
	err = err ? err : write_file(source, output, mode, &in);
	free(chosen);
	err = err < 0 ? err : facet_watch_windows(&w->facets, "choose another condition");
	return err < 0 ? err : analyzed_log_report(log, "exported");
}

int export_heatmap(struct log_source *source, const char *output, mode_t mode,
		   const struct condition *where)
{
	struct watched w = {.range = &source->range,
			    .where = where,
			    .facets = {.source = source, .facets = where_facets(where)}};
	const struct log_watch watch = {
		.begin = on_begin, .event = on_event, .hole = on_hole, .ctx = &w};
	struct analyzed_log log;
	int err = analyze_log_watched(source, &watch, &log);

	if (!err) {
		err = w.windows.err;
		if (!err && w.facets.cells)
			err = facet_cells_error(w.facets.cells);
		if (!err && w.sampled)
			err = profile_finish(&w.samples, analysis_wall(log.analysis));
		if (err)
			msg_error("%s: cannot export it: %s", source->name, max_memory_error(err));
		else
			err = export(source, output, mode, &log, &w);
		analyzed_log_close(&log);
	}
	facet_watch_free(&w.facets);
	cell_windows_free(&w.windows);
	profile_free(&w.samples);
	profile_course_free(&w.course);
	return err < 0 ? CMD_FAILED : CMD_OK;
}
