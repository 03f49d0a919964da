#include "base/text/print.h"
#include "report/text/text_report.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/registry/analysis.h"
#include "analyze/threads/wall.h"
#include "base/text/format.h"
#include "log/format/header_fields.h"
#include "report/model/sections/wall_rows.h"

/* Do the states of each thread add up to the time by the clock? */
static void print_check(struct text *t)
{
	const struct wall *w = analysis_wall(t->in->log->analysis);
	char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX], name[LABEL_MAX];
	uint32_t checked = 0, off = 0;
	uint64_t sum_ns = 0, error_ns = 0;

	for (uint32_t i = 0; i < w->map.count; i++) {
		const struct wall_thread *one = &w->threads[i];
		int64_t error = wall_thread_error(one);

		if (!one->sampled || !one->checked || !wall_thread_ns(one))
			continue;
		checked++;
		sum_ns += wall_thread_ns(one);
		error_ns += error < 0 ? -(uint64_t)error : (uint64_t)error;
		if (!wall_thread_is_off(one) || off++ >= t->in->top)
			continue;
		print_text(t->out,
			   "  ! %s: its states add up to %s %s than the %s it was watched\n",
			   label_thread(t->labels, one->thread, name),
			   time_format(error < 0 ? -(uint64_t)error : (uint64_t)error, a),
			   error < 0 ? "less" : "more", time_format(wall_thread_ns(one), b));
	}
	if (off > t->in->top)
		print_text(t->out, "  ! and %u more threads whose states do not add up\n",
			   off - t->in->top);
	if (checked)
		print_text(
			t->out,
			"  check: held against the clock, the states of %s threads are off by %s "
			"in %s (%s)\n",
			count_format(checked, a), time_format(error_ns, b), time_format(sum_ns, c),
			share_format(error_ns, sum_ns, name));
}

static void print_limits(struct text *t)
{
	const struct wall *w = analysis_wall(t->in->log->analysis);
	uint64_t missing_ns = 0;
	char missing[FORMAT_MAX];

	if (!wall_has_reasons(t->in))
		fputs("  blocked: this log does not tell on what\n", t->out);
	else if (!strcmp(header_text(t->in->log->header, "sources", "throttled"), "none"))
		fputs("  time without a CPU because of a quota cannot be told here: it is "
		      "runnable\n",
		      t->out);
	for (uint32_t i = 0; i < w->map.count; i++)
		missing_ns += w->threads[i].missing_ns;
	if (missing_ns)
		print_text(t->out,
			   "  missing: %s of all threads, between the last samples before holes in "
			   "the log and the first behind\n",
			   time_format(missing_ns, missing));
	if (analysis_wall(t->in->log->analysis)->late)
		print_text(t->out, "  %" PRIu64 " samples came too late and are left out\n",
			   analysis_wall(t->in->log->analysis)->late);
}

int text_threads(struct text *t)
{
	const struct findings_view view = {.indent = 2};
	struct findings *f = section_wall(&t->section);
	int err;

	if (f && f->row_count)
		text_heading(t, "WALL CLOCK: where the time of each thread went (runnable: waiting "
				"for a CPU)");
	err = findings_to_text(f, &view, t->out);
	if (!err && f->row_count) {
		print_check(t);
		print_limits(t);
	}
	findings_free(f);
	return err;
}
