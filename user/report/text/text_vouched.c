/* How it is known who held a lock: told by the JVM, or inferred. */
#include "base/print.h"
#include "report/text/text_report.h"

#include <stdarg.h>
#include <string.h>

#include "analyze/contention/contention.h"
#include "analyze/registry/analysis.h"
#include "base/format.h"
#include "report/model/vouched.h"

#define WORDS_MAX 512

struct words {
	char text[WORDS_MAX];
	size_t length;
};

static void say(struct words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct words *w, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(w->text + w->length, WORDS_MAX - w->length, format, args);
	va_end(args);
	w->length += n > 0 && (size_t)n < WORDS_MAX - w->length ? (size_t)n : 0;
}

bool text_is_exact(const struct text *t, uint64_t lock)
{
	const struct contention *c = analysis_contention(t->in->log->analysis);
	const struct contention_lock *l = contention_lock_find(c, lock);

	return l && (l->monitor ? l->numbers.numbers > 0 : contention_facts(c).park.numbers > 0);
}

static void say_numbers(struct words *w, const char *what, const struct replay_counts *c)
{
	char count[FORMAT_MAX];

	if (!c->numbers)
		return;
	say(w, " %s: %s numbered events,", what, count_format(c->numbers, count));
	if (c->missing)
		say(w, " %s missing", count_format(c->missing, count));
	if (c->missing)
		say(w, " in %s gap%s", count_format(c->gaps, count), c->gaps == 1 ? "" : "s");
	else
		say(w, " no gap");
	if (c->late)
		say(w, ", of these %s came too late", count_format(c->late, count));
	if (c->cut)
		say(w, ", %s more missing where the log ends", count_format(c->cut, count));
	say(w, ".");
}

static void say_inferred(struct words *w, const struct vouched *v)
{
	char count[FORMAT_MAX], all[FORMAT_MAX];

	say(w, "inferred, like the times for which they held it: a stock JVM tells of single "
	       "moments only.");
	if (v->inferred)
		say(w, " %s of %s contention%s ended without a release that was told.",
		    count_format(v->inferred, count), count_format(v->count, all),
		    v->count == 1 ? "" : "s");
}

static void say_exact(struct words *w, const struct vouched *v)
{
	char count[FORMAT_MAX];

	say(w, "exact%s: a patched JVM tells of every release that somebody waits for.",
	    v->facts.monitors.missing || v->facts.park.missing
		    ? ", but for where events are missing"
		    : "");
	say_numbers(w, "Monitors", &v->facts.monitors);
	say_numbers(w, "Park", &v->facts.park);
	if (v->facts.folds.crowded)
		say(w, " %s release%s in storms by too many threads to be told apart.",
		    count_format(v->facts.folds.crowded, count),
		    v->facts.folds.crowded == 1 ? " was" : "s were");
	if (v->facts.unnamed)
		say(w, " %s contention%s: the place where the holder was is that of its wait().",
		    count_format(v->facts.unnamed, count), v->facts.unnamed == 1 ? "" : "s");
}

/* Whether or not any of it was blocked in a lock. */
static void tell_others(struct text *t, const struct vouched *v)
{
	char max[FORMAT_MAX], count[FORMAT_MAX], time[FORMAT_MAX];

	if (v->others_count)
		text_line(
			t, "put together",
			"there are more than %s combinations of lock, threads and call chains: %s "
			"contentions and parks, %s, count for (other chains) or (other threads). A "
			"shorter time (--from, --to) has fewer.",
			count_format(CELLS_MAX, max), count_format(v->others_count, count),
			time_format(v->others_ns, time));
}

void text_vouched(struct text *t, uint64_t blocked_ns)
{
	struct vouched v = vouched_of(t->in);
	struct words w = {.length = 0};
	char share[FORMAT_MAX];

	tell_others(t, &v);
	if (!blocked_ns && !v.exact)
		return;
	if (v.exact)
		say_exact(&w, &v);
	else
		say_inferred(&w, &v);
	if (blocked_ns)
		say(&w, " The holder is unknown for %s of the blocked time.",
		    share_format(v.unknown_ns, blocked_ns, share));
	text_line(t, "holders", "%s", w.text);
}

void text_after_wait(struct text *t, const struct group *g, int indent)
{
	char count[FORMAT_MAX], time[FORMAT_MAX];

	if (g->after_wait_count)
		print_text(
			t->out,
			"%*sof these %s after Object.wait(), blocked %s: need not be a problem\n",
			indent, "", count_format(g->after_wait_count, count),
			duration_format(g->after_wait_ns, time));
}
