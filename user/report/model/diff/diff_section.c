/* Comparisons as tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/format.h"
#include "base/text/strbuf.h"
#include "report/model/diff/diff_report.h"
#include "report/model/findings.h"
#include "report/model/label.h"

static const struct {
	const char *name, *title;
} parts[MEASURE_PART_COUNT] = {
	[MEASURE_TOTALS] = {"totals", "TOTALS"},
	[MEASURE_LOCKS] = {"locks", "WAITING by class of lock"},
	[MEASURE_METHODS] = {"methods", "WAITING by waiter's method <- holder's"},
	[MEASURE_BY] = {"by", "WAITING by"},
	[MEASURE_POOLS] = {"pools", "THREADS by pool and state"},
	[MEASURE_RUNNING] = {"running", "RUNNING by method, without what it calls"},
	[MEASURE_PAUSES] = {"pauses", "COLLECTIONS"},
	[MEASURE_SPANS] = {"spans", "SPANS, all of a name"},
	[MEASURE_SPAN_TIMES] = {"span_times", "SPANS, how long one takes"},
};

const char *diff_part_name(enum measure_part part)
{
	return parts[part].name;
}

const char *diff_part_title(enum measure_part part)
{
	return parts[part].title;
}

/* What is compared, as in JSON; and in words. */
static const struct {
	const char *name, *title;
} chains[DIFF_CHAINS_COUNT] = {
	[DIFF_CHAINS_WAITERS] = {"waiters", "of waiters"},
	[DIFF_CHAINS_OWNERS] = {"owners", "of holders"},
	[DIFF_CHAINS_RUNNING] = {"running", "that ran"},
	[DIFF_CHAINS_WHOLE] = {"running_whole", "that ran, whole chains only"},
};

const char *diff_chains_name(enum diff_chains kind)
{
	return chains[kind].name;
}

const char *diff_chains_title(enum diff_chains kind)
{
	return chains[kind].title;
}

bool diff_chains_are_there(const struct diff_input *in, enum diff_chains kind)
{
	for (unsigned i = 0; i < COMPARISON_LOGS_MAX; i++)
		if (in->before->chains[kind][i].count || in->after->chains[kind][i].count)
			return true;
	return false;
}

int diff_chains_agreement(const struct diff_input *in, enum diff_chains kind,
			  struct call_agreement *ret)
{
	const struct call_side before = {in->before->chains[kind], in->before->figures.count};
	const struct call_side after = {in->after->chains[kind], in->after->figures.count};

	return call_agreement_of(before, after, ret);
}

const char *diff_basis_name(enum call_basis basis)
{
	static const char *const names[] = {"none", "samples", "logs"};

	return names[basis];
}

/* What people call a total. */
static const char *total_title(const char *name)
{
	static const struct {
		const char *name, *title;
	} titles[] = {
		{"blocked", "blocked on locks"},
		{"idle_turns", "idle turn-taking at locks"},
		{"gc_pauses", "pauses of the collector"},
		{"cpu", "CPU time, all threads"},
	};
	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		if (!strcmp(titles[i].name, name))
			return titles[i].title;
	return NULL;
}

static void add_name(struct findings *f, const struct comparison_row *r)
{
	const char *title = r->part == MEASURE_TOTALS ? total_title(r->name) : NULL;
	char label[LABEL_MAX];

	if (title) {
		findings_text(f, r->name, title);
		return;
	}
	if (r->part == MEASURE_TOTALS && !strncmp(r->name, "java_", 5)) {
		*label = '\0';
		buffer_add(label, sizeof(label), "Java threads: %s", r->name + 5);
		findings_text(f, r->name, label);
		return;
	}
	findings_text(f, r->name, label_clean(r->name, label));
}

static uint64_t whole(double rate)
{
	return rate > 0 && rate < 1.8e19 ? (uint64_t)llround(rate) : 0;
}

/* "-12.3 %", "x 3.4", "new", "gone"; nothing of what is equal */
static void add_ratio(struct findings *f, const struct comparison_row *r)
{
	double before = r->before.rate, after = r->after.rate, percent;
	char text[FORMAT_MAX] = "";

	if (before > 0 && after > 0 && whole(fabs(after - before))) {
		percent = 100 * (after - before) / before;
		if (percent >= 200)
			buffer_add(text, sizeof(text), "x %.3g", after / before);
		else
			buffer_add(text, sizeof(text),
				   fabs(percent) < 9.95 ? "%+.1f %%" : "%+.0f %%", percent);
	} else if (before > 0 && after <= 0) {
		buffer_add(text, sizeof(text), "gone");
	} else if (before <= 0 && after > 0) {
		buffer_add(text, sizeof(text), "new");
	}
	findings_text(f, text, NULL);
}

static const char *basis_name(enum comparison_basis basis)
{
	return basis == COMPARISON_LOGS ? "logs" : basis == COMPARISON_WINDOWS ? "windows" : "none";
}

/* Of several logs, people also see by how much they differ. */
static void add_figure(struct findings *f, const struct comparison_figure *g)
{
	uint64_t lowest = whole(g->lowest), highest = whole(g->highest);
	char rate[FORMAT_MAX], low[FORMAT_MAX], high[FORMAT_MAX], label[4 * FORMAT_MAX] = "";

	findings_number(f, whole(g->rate));
	if (lowest != highest) {
		buffer_add(label, sizeof(label), "%s (%s to %s)", time_format(whole(g->rate), rate),
			   time_format(lowest, low), time_format(highest, high));
		findings_label(f, label);
	}
	FINDINGS_NUMBERS(f, lowest, highest, g->ns, g->count);
}

static void add_row(struct findings *f, const struct comparison_row *r, bool people)
{
	findings_row(f, people ? FINDINGS_ALL : FINDINGS_PROGRAMS);
	findings_text(f, diff_part_name(r->part), NULL);
	add_name(f, r);
	add_figure(f, &r->before);
	add_figure(f, &r->after);
	findings_number(f, (uint64_t)(int64_t)llround(comparison_change(r)));
	add_ratio(f, r);
	findings_text(f,
		      r->basis == COMPARISON_NONE ? "unknown"
		      : r->stands_out             ? "no"
						  : "yes",
		      !whole(fabs(comparison_change(r))) || r->stands_out ? ""
		      : r->basis == COMPARISON_NONE                       ? "not known"
									  : "may be");
	findings_text(f, basis_name(r->basis), NULL);
	findings_maybe(f, r->basis != COMPARISON_NONE, (uint64_t)llround(r->chance * 1e6));
	findings_maybe(f, r->basis != COMPARISON_NONE, (uint64_t)llround(r->noise * 1e6));
}

#define FIGURE_COLUMNS(side)                                                                       \
	{.key = "rate_ns",                                                                         \
	 .group = side,                                                                            \
	 .title = side,                                                                            \
	 .meaning = "ns per unit (of a span's length: ns); of several logs the median.",           \
	 .unit = FINDINGS_NS,                                                                      \
	 .flags = FINDINGS_NO_SUM,                                                                 \
	 .least = 9},                                                                              \
		{.key = "lowest_ns", .group = side, .unit = FINDINGS_NS},                          \
		{.key = "highest_ns", .group = side, .unit = FINDINGS_NS},                         \
		{.key = "ns",                                                                      \
		 .group = side,                                                                    \
		 .meaning = "In all logs of that side.",                                           \
		 .unit = FINDINGS_NS},                                                             \
	{                                                                                          \
		.key = "count", .group = side, .unit = FINDINGS_COUNT                              \
	}

static struct findings *rows_new(void)
{
	static const struct findings_column columns[] = {
		{.key = "part"},
		{.key = "name", .title = "", .least = 24, .most = 100},
		FIGURE_COLUMNS("before"),
		FIGURE_COLUMNS("after"),
		{.key = "change_ns",
		 .title = "change",
		 .meaning = "Of the rates: after, without before.",
		 .unit = FINDINGS_MORE_NS,
		 .flags = FINDINGS_NO_SUM},
		{.title = "", .least = 7, .flags = FINDINGS_NO_SUM},
		{.key = "by_chance",
		 .title = "chance",
		 .meaning = "yes: it may be; no: it hardly is; unknown.",
		 .flags = FINDINGS_NO_SUM},
		{.key = "chance_basis",
		 .meaning = "How that is known: by logs, or windows (tenths of a log); or none."},
		{.key = "chance_millionths",
		 .meaning = "How often there would be such a difference by chance.",
		 .unit = FINDINGS_NUMBER,
		 .flags = FINDINGS_NULL},
		{.key = "noise_millionths",
		 .meaning = "By which part of the median the logs, or windows, differ from it.",
		 .unit = FINDINGS_NUMBER,
		 .flags = FINDINGS_NULL},
	};

	return FINDINGS_NEW(columns);
}

/* Of waiting: all of it, on the side that has more. */
static double blocked_rate(const struct diff_input *in)
{
	const struct comparison_row *r = comparison_find(in->comparison, MEASURE_TOTALS, "blocked");

	return r ? fmax(r->before.rate, r->after.rate) : 0;
}

static bool is_shown(const struct diff_input *in, const struct comparison_row *r, double all)
{
	double size = fmax(r->before.rate, r->after.rate);
	bool is_waiting =
		r->part == MEASURE_LOCKS || r->part == MEASURE_METHODS || r->part == MEASURE_BY;

	if (size <= 0)
		return false;
	if (in->all || r->part == MEASURE_TOTALS)
		return true;
	if (fabs(comparison_change(r)) < in->least * (is_waiting ? all : size))
		return false;
	return r->stands_out || r->basis == COMPARISON_NONE;
}

struct findings *diff_section_rows(const struct diff_input *in, enum measure_part part,
				   unsigned *ret_hidden)
{
	const struct comparison *c = in->comparison;
	struct findings *f = rows_new();
	double all = blocked_rate(in);

	*ret_hidden = 0;
	for (uint32_t i = 0; f && i < c->count; i++) {
		bool shown = c->rows[i].part == part && is_shown(in, &c->rows[i], all);

		if (c->rows[i].part != part)
			continue;
		*ret_hidden += !shown && (c->rows[i].before.ns || c->rows[i].after.ns);
		add_row(f, &c->rows[i], shown);
	}
	return f;
}

static void add_logs(struct findings *f, const struct diff_side *s, const char *side)
{
	for (unsigned i = 0; i < s->figures.count; i++) {
		const struct diff_log_facts *l = &s->logs[i];
		char label[LABEL_MAX];

		findings_row(f, FINDINGS_ALL);
		findings_text(f, side, NULL);
		findings_text(f, l->name, label_clean(l->name, label));
		findings_text(f, l->jvm, label_clean(l->jvm, label));
		FINDINGS_NUMBERS(f, l->recorded_ns, l->missing_ns, l->lost);
	}
}

struct findings *diff_section_logs(const struct diff_input *in)
{
	static const struct findings_column columns[] = {
		{.key = "side", .title = ""},
		{.key = "file", .title = "", .most = 60, .flags = FINDINGS_TAIL},
		{.key = "jvm", .title = ""},
		{.key = "recorded_ns", .title = "recorded", .unit = FINDINGS_NS},
		{.key = "missing_ns",
		 .title = "missing",
		 .meaning = "In holes of the log.",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_IF_ANY},
		{.key = "lost_events",
		 .title = "lost events",
		 .unit = FINDINGS_COUNT,
		 .flags = FINDINGS_IF_ANY},
	};
	struct findings *f = FINDINGS_NEW(columns);

	add_logs(f, in->before, "before");
	add_logs(f, in->after, "after");
	return f;
}

/* --- what is doubtful ------------------------------------------------------------------------ */

static void add_sentence(struct findings *f, const char *text)
{
	findings_row(f, FINDINGS_ALL);
	findings_text(f, text, NULL);
}

static bool jvms_differ(const struct diff_input *in)
{
	const char *first = in->before->logs[0].jvm;

	for (unsigned i = 0; i < in->before->figures.count; i++)
		if (strcmp(in->before->logs[i].jvm, first))
			return true;
	for (unsigned i = 0; i < in->after->figures.count; i++)
		if (strcmp(in->after->logs[i].jvm, first))
			return true;
	return false;
}

static void add_log_doubts(struct findings *f, const struct diff_side *s)
{
	for (unsigned i = 0; i < s->figures.count; i++) {
		const struct diff_log_facts *l = &s->logs[i];
		char count[FORMAT_MAX];
		struct strbuf b = {.most = 1024};

		if (l->lost)
			strbuf_add(&b,
				   "%s: %s events are lost, and what they tell is in no figure.",
				   l->name, count_format(l->lost, count));
		else if (l->damaged || l->no_end)
			strbuf_add(&b, "%s: %s; what is there is compared.", l->name,
				   l->damaged ? "the log is damaged" : "the log has no end");
		if (b.used)
			add_sentence(f, strbuf_text(&b));
		strbuf_free(&b);
	}
}

struct findings *diff_section_not_known(const struct diff_input *in)
{
	static const struct findings_column columns[] = {{.title = ""}};
	struct findings *f = FINDINGS_NEW(columns);
	unsigned before = in->before->figures.count, after = in->after->figures.count;

	if (!f)
		return NULL;
	if (jvms_differ(in))
		add_sentence(f, "The recordings are not of the same JVM version, collector and "
				"kind: what is seen of locks may differ for that alone.");
	add_log_doubts(f, in->before);
	add_log_doubts(f, in->after);
	if (before < COMPARISON_LOGS_ENOUGH || after < COMPARISON_LOGS_ENOUGH)
		add_sentence(f, "Chance is told by the tenths of each recording. By what whole "
				"runs differ is not known: that takes four recordings or more of "
				"each side.");
	return f;
}
