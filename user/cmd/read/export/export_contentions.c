#include "cmd/read/export/export_contentions.h"

#include <errno.h>

#include "analyze/cells/blocked_list.h"
#include "analyze/registry/analysis.h"
#include "base/text/msg.h"
#include "cmd/cmd.h"
#include "cmd/read/export_output.h"
#include "report/model/attribution_basis.h"
#include "report/model/contention_events.h"
#include "report/model/report.h"
#include "session/analyze_log.h"
#include "session/log_source.h"
#include "session/max_memory.h"

static int on_begin(void *ctx, struct analysis *a, const json_t *header)
{
	(void)header;
	analysis_observe(a, blocked_list_part, ctx);
	analysis_observe_intervals(a, blocked_list_interval);
	return 0;
}

static int on_event(void *ctx, const struct event *e)
{
	(void)e;
	return ((const struct blocked_list *)ctx)->err;
}

/* 0; 1: the reader of a pipe wants no more; or negative errno, and it has been said. */
static int write_all(const struct log_source *source, const struct contention_events *in, FILE *out,
		     contention_format *format)
{
	int err = in->list->err ? in->list->err : format(in, out);

	if (err)
		msg_error("%s: cannot export it: %s", source->name, max_memory_error(err));
	return err ? err : finish_output(out);
}

static int export(const struct log_source *source, const char *output, mode_t mode,
		  contention_format *format, const struct analyzed_log *log,
		  const struct blocked_list *list)
{
	const struct contention_events in = {
		.list = list,
		.names = analysis_names(log->analysis),
		.stacks = analysis_stacks(log->analysis),
		.log = &log->log,
		.exact = basis_of(&(struct report_input){.log = &log->log}).exact};
	FILE *out = export_output_open(source, output, mode);
	int err;

	if (!out)
		return -EIO;
	err = export_output_close(out, output, write_all(source, &in, out, format));
	if (err < 0)
		return err;
	if (!list->count)
		msg_warning("%s: no thread was blocked in it: nothing to export", source->name);
	return analyzed_log_report(log, "exported");
}

int export_contentions(struct log_source *source, const char *output, mode_t mode,
		       contention_format *format)
{
	struct blocked_list list = {.count = 0};
	const struct log_watch watch = {.begin = on_begin, .event = on_event, .ctx = &list};
	struct analyzed_log log;
	int err = analyze_log_watched(source, &watch, &log);

	if (!err) {
		err = export(source, output, mode, format, &log, &list);
		analyzed_log_close(&log);
	}
	blocked_list_free(&list);
	return err < 0 ? CMD_FAILED : CMD_OK;
}
