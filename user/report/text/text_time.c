#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/registry/analysis.h"
#include "base/format.h"
#include "base/print.h"
#include "report/model/label.h"
#include "report/model/time_report.h"
#include "report/text/table.h"
#include "session/holes.h"

#define BAR_WIDTH 40
#define COLUMNS_MAX (STATE_COUNT + 4)

/* Letters for the states, as many of each as its share of the width; what is left over goes to
 * those that came off worst. The sum of the states is exact in 128 bits, so that the shares are at
 * most BAR_WIDTH letters together, whatever the log says the states' times are. */
static void bar_fill(const struct states *s, bool told, char buf[BAR_WIDTH + 1])
{
	unsigned __int128 whole = 0, rest[STATE_COUNT];
	unsigned letters[STATE_COUNT], used = 0, at = 0;

	for (int i = 0; i < STATE_COUNT; i++)
		whole += s->ns[i];
	for (int i = 0; i < STATE_COUNT && whole; i++) {
		unsigned __int128 product = (unsigned __int128)s->ns[i] * BAR_WIDTH;

		letters[i] = (unsigned)(product / whole);
		rest[i] = product % whole;
		used += letters[i];
	}
	while (used < BAR_WIDTH && whole) {
		int best = 0;

		for (int i = 1; i < STATE_COUNT; i++)
			best = rest[i] > rest[best] ? i : best;
		letters[best]++;
		rest[best] = 0;
		used++;
	}
	for (int i = 0; i < STATE_COUNT && whole; i++) {
		memset(buf + at, state_letter(i, told), letters[i]);
		at += letters[i];
	}
	buf[at] = '\0';
}

struct time_text {
	const struct time_input *in;
	const struct time_table *t;
	struct labels *labels;
	FILE *out;
	bool told;
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
			print_text(x->out, "  %c %s", state_letter(i, x->told),
				   state_title(i, x->told));
	}
	fputc('\n', x->out);
}

static void add_window(const struct time_text *x, struct table *table, uint32_t row, uint32_t at)
{
	const struct course_window *w = &x->t->windows[at];
	const struct time_cell *cell = time_cell_get(x->t, row, at);
	uint64_t whole = states_sum(&cell->states);
	char buf[FORMAT_MAX], bar[BAR_WIDTH + 1];

	table_add(table, "%s", since_start(x, w->from_ns, buf));
	table_add(table, "%s%s", since_start(x, w->to_ns, buf),
		  w->rough_from || w->rough_to ? "~" : "");
	bar_fill(&cell->states, x->told, bar);
	table_add(table, "%s", bar);
	table_add(table, "%s", count_format(cell->threads, buf));
	for (int i = 0; i < STATE_COUNT; i++) {
		if (x->t->sums[row].ns[i])
			table_add(table, "%s", share_format(cell->states.ns[i], whole, buf));
	}
}

static int print_row(const struct time_text *x, uint32_t row)
{
	struct table_column columns[COLUMNS_MAX] = {{"from", false, 7, 0, false},
						    {"to", false, 7, 0, false},
						    {"", true, BAR_WIDTH, 0, false},
						    {"threads", false, 7, 0, false}};
	char name[LABEL_MAX], sum[FORMAT_MAX];
	unsigned count = 4;
	struct table *table;
	int err;

	for (int i = 0; i < STATE_COUNT; i++) {
		if (x->t->sums[row].ns[i])
			columns[count++] =
				(struct table_column){state_title(i, x->told), false, 7, 0, false};
	}
	table = table_new(columns, count);
	for (uint32_t i = 0; i < x->t->window_count; i++) {
		if (time_cell_get(x->t, row, i)->threads)
			add_window(x, table, row, i);
	}
	if (row < x->t->shown)
		label_wall_row(x->labels, &x->t->rows.rows[row], x->in->by, name);
	else
		snprintf(name, sizeof(name), "(%" PRIu32 " more)", x->t->more);
	print_text(x->out, "\n%s: %s in all\n", name,
		   time_format(states_sum(&x->t->sums[row]), sum));
	err = table_print(table, 2, x->out);
	table_free(table);
	return err;
}

static void print_limits(const struct time_text *x)
{
	const struct wall *w = analysis_wall(x->in->in->log->analysis);
	char spread[FORMAT_MAX], all[FORMAT_MAX], missing[HOLES_TEXT_MAX];

	if (holes_missing_text(x->in->in->log->analysis, missing))
		print_text(x->out, "\nmissing: %s\n", missing);
	if (!x->told)
		fputs("\nblocked: this log does not tell on what\n", x->out);
	if (x->has_rough)
		fputs("\n~ a window that begins or ends where no sample is: shorter than the "
		      "samples' distance (spoor record\n  --window), or samples are missing\n",
		      x->out);
	if (w->course.spread)
		print_text(x->out,
			   "\n%s of %s intervals between samples reach over the end of a window: "
			   "shared out by the time on either side\n",
			   count_format(w->course.spread, spread),
			   count_format(w->course.intervals, all));
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
	struct time_text x = {.in = in, .out = out, .told = wall_is_told(in->in)};
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
