#include "cmd/read/export/export_heatmap.h"

#include <errno.h>

#include "analyze/cells/cell_windows.h"
#include "analyze/contention/contention.h"
#include "analyze/profile/profile.h"
#include "analyze/profile/profile_course.h"
#include "analyze/registry/analysis.h"
#include "base/text/msg.h"
#include "cmd/cmd.h"
#include "cmd/read/export_output.h"
#include "log/format/header_fields.h"
#include "report/csv/heatmap_csv.h"
#include "report/model/sections/commands/profile_window.h"
#include "session/analyze_log.h"
#include "session/log_source.h"
#include "session/max_memory.h"
#include "session/time_range.h"

struct watched {
	const struct range *range;
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
	analysis_observe(a, cell_windows_observe, &w->windows);
	return 0;
}

static int on_event(void *ctx, const struct event *e)
{
	struct watched *w = ctx;

	if (!w->windows.begin_ns)
		w->windows.begin_ns = e->time_ns;
	return w->sampled ? profile_add(&w->samples, e) : 0;
}

static int on_hole(void *ctx, uint64_t from_ns, uint64_t to_ns)
{
	struct watched *w = ctx;

	(void)from_ns;
	(void)to_ns;
	profile_hole(&w->samples);
	return 0;
}

static int write_all(const struct log_source *source, const struct heatmap_input *in, FILE *out)
{
	int err = heatmap_csv(in, out);

	if (err)
		msg_error("%s: cannot export it: %s", source->name, max_memory_error(err));
	return err ? err : finish_output(out);
}

static int export(const struct log_source *source, const char *output, mode_t mode,
		  const struct analyzed_log *log, const struct watched *w)
{
	struct heatmap_input in = {.names = analysis_names(log->analysis),
				   .windows = &w->windows,
				   .course = &w->course,
				   .start_ns = session_log_start(&log->log)};
	FILE *out;
	int err;

	if (w->windows.full || w->course.full) {
		msg_error("%s: there is too much in it for a map of time: --from and --to read a "
			  "part of the log",
			  source->name);
		return -EFBIG;
	}
	out = export_output_open(source, output, mode);
	if (!out)
		return -EIO;
	in.cells = contention_cells(analysis_contention(log->analysis), &in.cell_count);
	err = export_output_close(out, output, write_all(source, &in, out));
	return err < 0 ? err : analyzed_log_report(log, "exported");
}

int export_heatmap(struct log_source *source, const char *output, mode_t mode)
{
	struct watched w = {.range = &source->range};
	const struct log_watch watch = {
		.begin = on_begin, .event = on_event, .hole = on_hole, .ctx = &w};
	struct analyzed_log log;
	int err = analyze_log_watched(source, &watch, &log);

	if (!err) {
		err = w.windows.err;
		if (!err && w.sampled)
			err = profile_finish(&w.samples, analysis_wall(log.analysis));
		if (err)
			msg_error("%s: cannot export it: %s", source->name, max_memory_error(err));
		else
			err = export(source, output, mode, &log, &w);
		analyzed_log_close(&log);
	}
	cell_windows_free(&w.windows);
	profile_free(&w.samples);
	profile_course_free(&w.course);
	return err < 0 ? CMD_FAILED : CMD_OK;
}
