/* The verdict of a comparison, in sentences. */
#include <math.h>
#include <string.h>

#include "base/text/format.h"
#include "base/text/strbuf.h"
#include "report/model/diff/diff_report.h"

#define MOST 0.5 /* of a change: what most of it is */

static const struct comparison_row *blocked_of(const struct diff_input *in)
{
	return comparison_find(in->comparison, MEASURE_TOTALS, "blocked");
}

static bool is_large(const struct diff_input *in, const struct comparison_row *r)
{
	double size = fmax(r->before.rate, r->after.rate);

	return size > 0 && fabs(comparison_change(r)) >= in->least * size;
}

enum diff_verdict diff_verdict(const struct diff_input *in)
{
	const struct comparison_row *r = blocked_of(in);

	if (!r || (r->before.rate <= 0 && r->after.rate <= 0))
		return DIFF_NO_WAITING;
	if (!r->stands_out || !is_large(in, r))
		return DIFF_NONE;
	return comparison_change(r) > 0 ? DIFF_MORE : DIFF_LESS;
}

const char *diff_verdict_name(enum diff_verdict v)
{
	static const char *const names[] = {"no_waiting", "no_difference", "less_waiting",
					    "more_waiting"};

	return names[v < DIFF_VERDICT_COUNT ? v : DIFF_NONE];
}

const char *diff_unit(const struct diff_input *in)
{
	static const char *const units[MEASURE_PER_COUNT] = {"/s", "/span", "/CPU s"};

	return units[in->comparison->per];
}

const char *diff_per_name(enum measure_per per)
{
	static const char *const names[MEASURE_PER_COUNT] = {"second", "span", "cpu"};

	return per < MEASURE_PER_COUNT ? names[per] : "";
}

static void add_rate(const struct diff_input *in, double rate, bool level, struct strbuf *o)
{
	char text[FORMAT_MAX];

	strbuf_add(o, "%s%s", time_format((uint64_t)llround(rate), text),
		   level ? "" : diff_unit(in));
}

static void add_percent(const struct comparison_row *r, struct strbuf *o)
{
	double percent;

	if (r->before.rate <= 0)
		return;
	percent = 100 * comparison_change(r) / r->before.rate;
	if (fabs(percent) >= 0.05)
		strbuf_add(o, fabs(percent) < 9.95 ? " (%+.1f %%)" : " (%+.0f %%)", percent);
}

static void add_change(const struct diff_input *in, const struct comparison_row *r,
		       struct strbuf *o)
{
	strbuf_add(o, comparison_change(r) > 0 ? "rose from " : "fell from ");
	add_rate(in, r->before.rate, r->level, o);
	strbuf_add(o, " to ");
	add_rate(in, r->after.rate, r->level, o);
	add_percent(r, o);
}

/* Rows of a part come with the largest change first. */
static void add_where(const struct diff_input *in, enum measure_part part, double change,
		      struct strbuf *o)
{
	const struct comparison *c = in->comparison;

	for (uint32_t i = 0; i < c->count; i++) {
		const struct comparison_row *r = &c->rows[i];
		double own = comparison_change(r);

		if (r->part != part)
			continue;
		if (own / change < MOST) {
			strbuf_add(o, "; no one place has most of that");
			return;
		}
		if (own / change > 0.995)
			strbuf_add(o, "; all of that is in %s", r->name);
		else
			strbuf_add(o, "; %.0f %% of that is in %s", 100 * own / change, r->name);
		return;
	}
}

static void add_noise(const struct comparison_row *r, struct strbuf *o)
{
	if (r->basis == COMPARISON_NONE) {
		strbuf_add(o, "; what chance does is not known: it takes several recordings of "
			      "each side, or longer ones");
		return;
	}
	strbuf_add(o, "; %s differ by %.1f %% among themselves",
		   r->basis == COMPARISON_LOGS ? "the recordings of a side"
					       : "the tenths of a recording",
		   100 * r->noise);
}

/* What has changed though the sum has not, or not by more than chance may do. Rows of a part come
 * with the largest change first. */
static bool add_one_that_changed(const struct diff_input *in, enum measure_part part,
				 const char *where, struct strbuf *o)
{
	const struct comparison *c = in->comparison;

	for (uint32_t i = 0; i < c->count; i++) {
		const struct comparison_row *r = &c->rows[i];

		if (r->part != part || !r->stands_out || !is_large(in, r))
			continue;
		strbuf_add(o, ". But waiting %s %s ", where, r->name);
		add_change(in, r, o);
		return true;
	}
	return false;
}

void diff_sentence_blocked(const struct diff_input *in, struct strbuf *o)
{
	const struct comparison_row *r = blocked_of(in);

	switch (diff_verdict(in)) {
	case DIFF_NO_WAITING:
		strbuf_add(o, "No thread waited for a lock, on either side.");
		return;
	case DIFF_LESS:
	case DIFF_MORE:
		strbuf_add(o, "Waiting for locks ");
		add_change(in, r, o);
		add_where(in, in->by ? MEASURE_BY : MEASURE_METHODS, comparison_change(r), o);
		strbuf_add(o, ".");
		return;
	default:
		strbuf_add(o, "Waiting for locks: no difference that stands out; ");
		add_rate(in, r->before.rate, false, o);
		strbuf_add(o, " before, ");
		add_rate(in, r->after.rate, false, o);
		strbuf_add(o, " after");
		add_percent(r, o);
		add_noise(r, o);
		if (!add_one_that_changed(in, MEASURE_LOCKS, "for", o))
			add_one_that_changed(in, MEASURE_METHODS, "in", o);
		strbuf_add(o, ".");
		return;
	}
}

/* What of the other totals is worth a sentence, and how it begins. */
static const struct {
	const char *name, *text;
} others[] = {
	{"cpu", "CPU time "},
	{"gc_pauses", "Pauses of the collector "},
	{"java_runnable", "Java threads' waiting for a CPU "},
	{"java_stolen", "CPU time that the hypervisor took from Java threads "},
	{"java_throttled", "Java threads' time stopped by the CPU quota "},
	{"java_io", "Java threads' I/O "},
	{"java_pause", "Java threads' time stopped at safepoints "},
};

void diff_sentence_other(const struct diff_input *in, struct strbuf *o)
{
	const struct comparison_row *most = NULL;
	const char *text = NULL;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		const struct comparison_row *r =
			comparison_find(in->comparison, MEASURE_TOTALS, others[i].name);

		if (!r || !r->stands_out || !is_large(in, r))
			continue;
		if (most && fabs(comparison_change(most)) >= fabs(comparison_change(r)))
			continue;
		most = r;
		text = others[i].text;
	}
	if (!most)
		return;
	strbuf_add(o, "%s", text);
	add_change(in, most, o);
	strbuf_add(o, ".");
}
