#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/cells/cells.h"
#include "analyze/registry/analysis.h"
#include "analyze/stacks/stacks.h"
#include "base/text/format.h"
#include "base/text/print.h"
#include "report/model/label.h"
#include "report/model/sections/commands/spans_report.h"
#include "report/model/sections/wall_rows.h"
#include "report/text/text_report.h"
#include "session/holes.h"

#include "log/format/header_fields.h"

#define BLOCKERS_SHOWN 4

struct out {
	struct text t;
	const struct spans *spans;
	struct stacks *stacks;
};

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
		print_text(o->t.out, "%s%s %s (%s)", between, state_title(i, true),
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
		label_span_lock(o->t.labels, rows[i].lock, lock);
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

static int names_print(struct out *o, const struct findings *names)
{
	struct findings_view view = {.indent = 2,
				     .top = o->t.in->top,
				     .rest = FINDINGS_REST_SUM,
				     .noun = "names",
				     .view = SPANS_VIEW_TIMES};
	int err = findings_to_text(names, &view, o->t.out);

	if (err)
		return err;
	facts_print(o);
	if (!names->row_count)
		return 0;
	text_heading(&o->t, "WHERE THEIR TIME WENT (runnable: waiting for a CPU)");
	view.view = SPANS_VIEW_STATES;
	return findings_to_text(names, &view, o->t.out);
}

static int blockers_print(struct out *o)
{
	const struct findings_view view = {.indent = 2};
	struct findings *f = spans_section_blockers(&o->t.section, o->spans);
	int err;

	if (f && f->row_count)
		text_heading(&o->t, "WHO HELD THEM UP: locks that they were blocked on (share: of "
				    "the name's time)");
	err = findings_to_text(f, &view, o->t.out);
	findings_free(f);
	return err;
}

static int print(struct out *o)
{
	struct spans_facts f = spans_facts(o->spans);
	struct findings *names = spans_section_names(&o->t.section, o->spans);
	char buf[FORMAT_MAX], damage[512];
	int err;

	text_heading(&o->t, "SPANS by name: %s",
		     count_format(f.count - f.other_names - f.no_room, buf));
	err = names_print(o, names);
	findings_free(names);
	if (!err)
		err = blockers_print(o);
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
	int err = section_open(in, &o.t.section);

	if (err)
		return err;
	o.t.labels = o.t.section.labels;
	o.t.section.stacks = o.stacks = stacks_new(o.t.section.names);
	err = o.stacks ? print(&o) : -ENOMEM;
	stacks_free(o.stacks);
	section_close(&o.t.section);
	return err;
}
