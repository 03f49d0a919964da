#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/cells/cells.h"
#include "analyze/cells/stacks.h"
#include "analyze/registry/analysis.h"
#include "base/format.h"
#include "base/print.h"
#include "report/model/label.h"
#include "report/model/report.h"
#include "report/model/spans_report.h"
#include "report/text/table.h"
#include "report/text/text_report.h"
#include "session/holes.h"

#include "log/format/header_fields.h"

#define NAME_WIDTH 40
#define BLOCKERS_SHOWN 4
#define COLUMNS_MAX 14

static const char *const state_titles[STATE_COUNT] = {
	"running", "stolen", "runnable", "throttled", "lock",  "wait",
	"park",    "sleep",  "I/O",      "pause",     "other",
};

struct out {
	struct text t;
	const struct spans *spans;
	struct stacks *stacks;
};

/* --- by name ------------------------------------------------------------------------------- */

static int names_print(struct out *o, const struct span_name *const *names, uint32_t count)
{
	static const struct table_column columns[] = {
		{"name", true, 16, NAME_WIDTH, true}, {"count", false, 7, 0, false},
		{"total", false, 8, 0, false},        {"self", false, 8, 0, false},
		{"mean", false, 8, 0, false},         {"p50", false, 8, 0, false},
		{"p90", false, 8, 0, false},          {"p99", false, 8, 0, false},
		{"p99.9", false, 8, 0, false},        {"max", false, 8, 0, false}};
	static const unsigned quantiles[] = {500, 900, 990, 999};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(*columns));
	uint32_t shown = count < o->t.in->top ? count : o->t.in->top;
	char buf[FORMAT_MAX], name[LABEL_MAX];
	int err;

	for (uint32_t i = 0; i < shown; i++) {
		const struct quantiles *q = &names[i]->times;

		table_add(table, "%s", label_clean(names[i]->text, name));
		table_add(table, "%s", count_format(q->count, buf));
		table_add(table, "%s", time_format(names[i]->total_ns, buf));
		table_add(table, "%s", time_format(names[i]->self_ns, buf));
		table_add(table, "%s", mean_format(names[i]->total_ns, q->count, buf));
		for (size_t k = 0; k < sizeof(quantiles) / sizeof(*quantiles); k++)
			table_add(table, "%s", time_format(quantiles_at(q, quantiles[k]), buf));
		table_add(table, "%s", time_format(q->max, buf));
	}
	if (shown < count) {
		table_add(table, "(%u more names)", count - shown);
		table_end_row(table);
	}
	err = table_print(table, 2, o->t.out);
	table_free(table);
	return err;
}

/* Shares of each name's time; states in which no span has ever been are left out. */
static int states_print(struct out *o, const struct span_name *const *names, uint32_t count)
{
	struct table_column columns[COLUMNS_MAX] = {{"name", true, 16, NAME_WIDTH, true},
						    {"total", false, 8, 0, false}};
	uint32_t shown = count < o->t.in->top ? count : o->t.in->top;
	int states[STATE_COUNT], used = 0, err;
	char buf[FORMAT_MAX], name[LABEL_MAX];
	struct table *table;

	for (int k = 0; k < STATE_COUNT; k++) {
		uint64_t sum = 0;

		for (uint32_t i = 0; i < shown; i++)
			sum += names[i]->states.ns[k];
		if (!sum)
			continue;
		columns[2 + used] = (struct table_column){state_titles[k], false, 7, 0, false};
		states[used++] = k;
	}
	table = table_new(columns, 2 + (unsigned)used);
	for (uint32_t i = 0; i < shown; i++) {
		uint64_t whole = states_sum(&names[i]->states);

		table_add(table, "%s", label_clean(names[i]->text, name));
		table_add(table, "%s", time_format(names[i]->total_ns, buf));
		for (int k = 0; k < used; k++)
			table_add(table, "%s",
				  share_format(names[i]->states.ns[states[k]], whole, buf));
	}
	text_heading(&o->t, "WHERE THEIR TIME WENT (runnable: waiting for a CPU)");
	err = table_print(table, 2, o->t.out);
	table_free(table);
	return err;
}

/* --- who held them up ---------------------------------------------------------------------- */

static void lock_label(const struct out *o, uint64_t lock, char buf[LABEL_MAX])
{
	size_t length = strlen(label_class(o->t.labels, lock, buf));

	snprintf(buf + length, LABEL_MAX - length, " #%" PRIu64, lock);
}

static int blockers_print(struct out *o, const struct span_name *const *names, uint32_t count)
{
	static const struct table_column columns[] = {
		{"name", true, 16, NAME_WIDTH, true}, {"time", false, 8, 0, false},
		{"share", false, 7, 0, false},        {"lock", true, 16, NAME_WIDTH, true},
		{"held by", true, 12, 32, false},     {"in", true, 8, 60, true}};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(*columns));
	uint32_t shown = count < o->t.in->top ? count : o->t.in->top;
	char buf[FORMAT_MAX], label[LABEL_MAX];
	unsigned printed = 0;
	int err = 0;

	for (uint32_t i = 0; i < shown; i++) {
		struct spans_row rows[SPAN_BLOCKERS_MAX];
		unsigned n = spans_rows(&names[i]->blockers, o->stacks, rows);

		for (unsigned k = 0; k < n && k < BLOCKERS_SHOWN; k++, printed++) {
			table_add(table, "%s", k ? "" : label_clean(names[i]->text, label));
			table_add(table, "%s", time_format(rows[k].ns, buf));
			table_add(table, "%s", share_format(rows[k].ns, names[i]->total_ns, buf));
			lock_label(o, rows[k].lock, label);
			table_add(table, "%s", label);
			table_add(table, "%s", label_thread(o->t.labels, rows[k].holder, label));
			table_add(table, "%s",
				  holder_is_thread(rows[k].holder)
					  ? label_method(o->stacks, rows[k].method, label)
					  : "");
		}
	}
	if (printed) {
		text_heading(&o->t, "WHO HELD THEM UP: locks that they were blocked on (share: of "
				    "the name's time)");
		err = table_print(table, 2, o->t.out);
	}
	table_free(table);
	return err;
}

/* --- one by one ---------------------------------------------------------------------------- */

/* "12.345 s after the begin (17:15:11.123 UTC)" */
static void moment_print(const struct out *o, uint64_t ns)
{
	uint64_t start = header_number(o->t.in->log->header, NULL, "start_mono_ns");
	uint64_t wall = header_number(o->t.in->log->header, NULL, "start_wall_ns");
	uint64_t after = ns > start ? ns - start : 0;
	time_t seconds = (time_t)((wall + after) / NS_PER_S);
	struct tm tm;

	print_text(o->t.out, "%llu.%03llu s after the begin", after / NS_PER_S,
		   after % NS_PER_S / NS_PER_MS);
	if (wall && gmtime_r(&seconds, &tm))
		print_text(o->t.out, " (%02d:%02d:%02d.%03llu UTC)", tm.tm_hour, tm.tm_min,
			   tm.tm_sec, (wall + after) % NS_PER_S / NS_PER_MS);
}

static void head_print(const struct out *o, uint32_t number, const struct span *s)
{
	char buf[FORMAT_MAX], label[LABEL_MAX];

	print_text(o->t.out, "  %3u. %s  %s", number, duration_format(s->ns, buf),
		   label_clean(s->name, label));
	print_text(o->t.out, "  in %s, ", label_thread(o->t.labels, s->thread, label));
	moment_print(o, s->begin_ns);
	if (s->within)
		print_text(o->t.out, ", within %s", label_clean(s->within, label));
	fputc('\n', o->t.out);
}

static void split_print(const struct out *o, const struct span *s)
{
	char buf[FORMAT_MAX], share[FORMAT_MAX];
	const char *between = "       ";

	for (int i = 0; i < STATE_COUNT; i++) {
		if (!s->states.ns[i])
			continue;
		print_text(o->t.out, "%s%s %s (%s)", between, state_titles[i],
			   duration_format(s->states.ns[i], buf),
			   share_format(s->states.ns[i], states_sum(&s->states), share));
		between = ", ";
	}
	fputc('\n', o->t.out);
}

static void held_print(const struct out *o, const struct span *s)
{
	struct spans_row rows[SPAN_BLOCKERS_MAX];
	unsigned n = spans_rows(&s->blockers, o->stacks, rows);
	char buf[FORMAT_MAX], lock[LABEL_MAX], label[LABEL_MAX];
	uint64_t rest = s->blockers.rest_ns;

	for (unsigned i = 0; i < n; i++) {
		if (i >= BLOCKERS_SHOWN) {
			rest += rows[i].ns;
			continue;
		}
		lock_label(o, rows[i].lock, lock);
		print_text(o->t.out, "       %9s  for %s, %s%s", duration_format(rows[i].ns, buf),
			   lock, holder_is_thread(rows[i].holder) ? "held by " : "",
			   label_thread(o->t.labels, rows[i].holder, label));
		if (holder_is_thread(rows[i].holder))
			print_text(o->t.out, " in %s",
				   label_method(o->stacks, rows[i].method, label));
		fputc('\n', o->t.out);
	}
	if (rest)
		print_text(o->t.out, "       %9s  for others\n", duration_format(rest, buf));
}

static void list_print(struct out *o)
{
	uint32_t slowest, open;
	const struct span *const *s = spans_slowest(o->spans, &slowest);

	if (slowest)
		text_heading(&o->t, "THE SLOWEST");
	for (uint32_t i = 0; i < slowest; i++) {
		head_print(o, i + 1, s[i]);
		split_print(o, s[i]);
		held_print(o, s[i]);
	}
	s = spans_open(o->spans, &open);
	if (open)
		text_heading(&o->t, "NOT ENDED when the log did, or their thread");
	for (uint32_t i = 0; i < open; i++) {
		head_print(o, i + 1, s[i]);
		held_print(o, s[i]);
	}
}

/* --- all ----------------------------------------------------------------------------------- */

static void facts_print(struct out *o)
{
	struct spans_facts f = spans_facts(o->spans);
	uint64_t lost = spans_lost(o->t.in);
	const struct {
		uint64_t count;
		const char *what;
	} lines[] = {
		{f.begin_missing, "ends without a begin (from before the recording, or lost)"},
		{f.open, "begins without an end"},
		{f.too_deep, "not counted, because within more than 64 others"},
		{f.no_room, "not counted, because there are more than 10,000 names"},
		{lost, "events LOST, so that spans are missing, and others may be nested wrongly"},
	};
	char buf[FORMAT_MAX], missing[HOLES_TEXT_MAX];

	if (f.count > f.other_names)
		fputs("  A span has the time of the spans within it; self is without. Quantiles "
		      "are off by 0.8 % at most.\n",
		      o->t.out);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (lines[i].count)
			print_text(o->t.out, "  %s: %s\n", lines[i].what,
				   count_format(lines[i].count, buf));
	if (holes_missing_text(o->t.in->log->analysis, missing))
		print_text(o->t.out, "  missing: %s\n", missing);
	if (f.late_ns)
		print_text(o->t.out,
			   "  %s of waiting for locks was told too late to be shown below\n",
			   duration_format(f.late_ns, buf));
}

static int print(struct out *o)
{
	struct spans_facts f = spans_facts(o->spans);
	uint32_t count;
	const struct span_name *const *names = spans_by_name(o->spans, &count);
	char buf[FORMAT_MAX], damage[512];
	int err = 0;

	text_heading(&o->t, "SPANS by name: %s",
		     count_format(f.count - f.other_names - f.no_room, buf));
	if (count)
		err = names_print(o, names, count);
	facts_print(o);
	if (!err && count)
		err = states_print(o, names, count);
	if (!err)
		err = blockers_print(o, names, count);
	if (err)
		return err;
	list_print(o);
	if (o->t.in->log->damaged) {
		session_log_damage(o->t.in->log, damage, sizeof(damage));
		text_heading(&o->t, "INCOMPLETE\n  %s", damage);
	}
	return 0;
}

int report_spans_text(const struct report_input *in, const struct spans *s, FILE *out)
{
	struct out o = {.t = {.in = in, .out = out}, .spans = s};
	int err = -ENOMEM;

	o.t.labels = labels_new(analysis_names(in->log->analysis));
	o.stacks = stacks_new(analysis_names(in->log->analysis));
	if (o.t.labels && o.stacks)
		err = print(&o);
	stacks_free(o.stacks);
	labels_free(o.t.labels);
	return err;
}
