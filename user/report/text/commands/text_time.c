#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/registry/analysis.h"
#include "analyze/threads/wall.h"
#include "base/text/format.h"
#include "base/text/print.h"
#include "report/model/findings.h"
#include "report/model/label.h"
#include "report/model/sections/commands/time_report.h"
#include "report/text/findings_text.h"
#include "session/holes.h"

struct time_text {
	const struct time_input *in;
	const struct time_table *t;
	struct labels *labels;
	FILE *out;
	bool has_reasons;
	bool has_rough;
};

static char *since_start(const struct time_text *x, uint64_t ns, char buf[FORMAT_MAX])
{
	return time_format(time_since_start(x->in, ns), buf);
}

static void print_legend(const struct time_text *x)
{
	bool shown[STATE_COUNT] = {false};

	for (uint32_t r = 0; r < time_row_count(x->t); r++) {
		for (int i = 0; i < STATE_COUNT; i++)
			shown[i] |= x->t->sums[r].ns[i] > 0;
	}
	for (int i = 0; i < STATE_COUNT; i++) {
		if (shown[i])
			print_text(x->out, "  %c %s", state_letter(i, x->has_reasons),
				   state_title(i, x->has_reasons));
	}
	fputc('\n', x->out);
}

static int print_row(const struct time_text *x, uint32_t row)
{
	const struct time_part all = {
		.row = row, .row_count = 1, .window_count = x->t->window_count};
	const struct findings_view view = {.indent = 2};
	char name[LABEL_MAX], sum[FORMAT_MAX];
	struct findings *f = time_section(x->in, x->t, &all);
	int err;

	if (row < x->t->shown)
		label_wall_row(x->labels, &x->t->rows.rows[row], x->in->by, name);
	else
		snprintf(name, sizeof(name), "(%" PRIu32 " more)", x->t->more);
	print_text(x->out, "\n%s: %s in all\n", name,
		   time_format(states_sum(&x->t->sums[row]), sum));
	err = findings_to_text(f, &view, x->out);
	findings_free(f);
	return err;
}

static void print_limits(const struct time_text *x)
{
	const struct wall *w = analysis_wall(x->in->in->log->analysis);
	char spread[FORMAT_MAX], all[FORMAT_MAX], missing[HOLES_TEXT_MAX];

	if (holes_missing_text(x->in->in->log->analysis, missing))
		print_text(x->out, "\nmissing: %s\n", missing);
	if (!x->has_reasons)
		fputs("\nblocked: this log does not tell on what\n", x->out);
	if (x->has_rough)
		fputs("\n~ a window that begins or ends where no sample is: shorter than the "
		      "samples' distance (spoor record\n  --window), or samples are missing\n",
		      x->out);
	if (w->windows.spread)
		print_text(x->out,
			   "\n%s of %s intervals between samples reach over the end of a window: "
			   "shared out by the time on either side\n",
			   count_format(w->windows.spread, spread),
			   count_format(w->windows.intervals, all));
	if (w->late)
		print_text(x->out, "\n%" PRIu64 " samples came too late and are left out\n",
			   w->late);
}

static int print(struct time_text *x)
{
	static const char *const what[WALL_BY_COUNT] = {"thread", "pool of threads",
							"kind of thread"};
	const struct time_table *t = x->t;
	char from[FORMAT_MAX], to[FORMAT_MAX], count[FORMAT_MAX];
	int err = 0;

	if (!t->window_count || !t->rows.count) {
		fputs("No thread was sampled in this time.\n", x->out);
		return 0;
	}
	for (uint32_t i = 0; i < t->window_count; i++)
		x->has_rough |= t->windows[i].rough_from || t->windows[i].rough_to;
	print_text(x->out, "TIME by %s, from %s to %s of the recording, in %s window%s\n",
		   what[x->in->by], since_start(x, t->windows[0].from_ns, from),
		   since_start(x, t->windows[t->window_count - 1].to_ns, to),
		   count_format(t->window_count, count), t->window_count == 1 ? "" : "s");
	print_legend(x);
	for (uint32_t i = 0; i < time_row_count(t) && !err; i++)
		err = print_row(x, i);
	if (!err)
		print_limits(x);
	return err;
}

int report_time_text(const struct time_input *in, FILE *out)
{
	struct time_text x = {.in = in, .out = out, .has_reasons = wall_has_reasons(in->in)};
	struct time_table t;
	int err = time_table_make(in, &t);

	if (err)
		return err;
	x.t = &t;
	x.labels = labels_new(analysis_names(in->in->log->analysis));
	err = x.labels ? print(&x) : -ENOMEM;
	labels_free(x.labels);
	time_table_free(&t);
	return err;
}
