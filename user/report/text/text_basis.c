/* How it is known who held a lock: reported by the JVM, or inferred. */
#include "base/text/print.h"
#include "report/text/text_report.h"

#include "analyze/contention/contention.h"
#include "analyze/registry/analysis.h"
#include "base/text/format.h"
#include "base/text/strbuf.h"
#include "report/model/attribution_basis.h"

bool text_is_exact(const struct text *t, uint64_t lock)
{
	const struct contention *c = analysis_contention(t->in->log->analysis);
	const struct contention_lock *l = contention_lock_find(c, lock);

	return l && (l->monitor ? l->numbers.numbers > 0 : contention_facts(c).park.numbers > 0);
}

static void say_numbers(struct strbuf *w, const char *what, const struct replay_counts *c)
{
	char count[FORMAT_MAX];

	if (!c->numbers)
		return;
	strbuf_add(w, " %s: %s numbered events,", what, count_format(c->numbers, count));
	if (c->missing)
		strbuf_add(w, " %s missing", count_format(c->missing, count));
	if (c->missing)
		strbuf_add(w, " in %s gap%s", count_format(c->gaps, count),
			   c->gaps == 1 ? "" : "s");
	else
		strbuf_add(w, " no gap");
	if (c->late)
		strbuf_add(w, ", of these %s came too late", count_format(c->late, count));
	if (c->cut)
		strbuf_add(w, ", %s more missing where the log ends", count_format(c->cut, count));
	strbuf_add(w, ".");
}

static void say_inferred(struct strbuf *w, const struct attribution_basis *v)
{
	char count[FORMAT_MAX], all[FORMAT_MAX];

	strbuf_add(w,
		   "inferred, like the times for which they held it: %s tells of single moments "
		   "only.",
		   v->by_switches ? "the scheduler" : "a stock JVM");
	if (v->inferred)
		strbuf_add(w, " %s of %s contention%s ended without a release that was told.",
			   count_format(v->inferred, count), count_format(v->count, all),
			   v->count == 1 ? "" : "s");
}

/* What such a log cannot say: who never slept has no switch. */
static void say_spins(struct strbuf *w, const struct attribution_basis *v)
{
	char spins[FORMAT_MAX], samples[FORMAT_MAX], time[FORMAT_MAX];

	if (!v->by_switches)
		return;
	strbuf_add(w, " A thread that spins for a lock, and gets it without going to sleep, is in "
		      "no sum");
	if (!v->samples)
		strbuf_add(w, "; record --sample sees such threads.");
	else
		strbuf_add(w,
			   ": of %s samples of running threads %s found one that spun for a "
			   "monitor, about %s in all.",
			   count_format(v->samples, samples), count_format(v->spins, spins),
			   time_format(v->spun_ns, time));
}

static void say_exact(struct strbuf *w, const struct attribution_basis *v)
{
	char count[FORMAT_MAX];

	strbuf_add(w, "exact%s: a patched JVM tells of every release that somebody waits for.",
		   v->facts.monitors.missing || v->facts.park.missing
			   ? ", but for where events are missing"
			   : "");
	say_numbers(w, "Monitors", &v->facts.monitors);
	say_numbers(w, "Park", &v->facts.park);
	if (v->facts.folds.undistinguished)
		strbuf_add(w, " %s release%s in storms by too many threads to be told apart.",
			   count_format(v->facts.folds.undistinguished, count),
			   v->facts.folds.undistinguished == 1 ? " was" : "s were");
	if (v->facts.unnamed)
		strbuf_add(
			w,
			" %s contention%s: the place where the holder was is that of its wait().",
			count_format(v->facts.unnamed, count), v->facts.unnamed == 1 ? "" : "s");
}

/* Whether or not any of it was blocked in a lock. */
static void print_others(struct text *t, const struct attribution_basis *v)
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

int text_basis(struct text *t, uint64_t blocked_ns)
{
	struct attribution_basis v = basis_of(t->in);
	struct strbuf w = {.most = 0};
	char share[FORMAT_MAX];
	int err;

	print_others(t, &v);
	if (!blocked_ns && !v.exact)
		return 0;
	if (v.exact)
		say_exact(&w, &v);
	else
		say_inferred(&w, &v);
	if (blocked_ns)
		strbuf_add(&w, " The holder is unknown for %s of the blocked time.",
			   share_format(v.unknown_ns, blocked_ns, share));
	say_spins(&w, &v);
	err = w.err;
	if (!err)
		text_line_whole(t, "holders", strbuf_text(&w));
	strbuf_free(&w);
	return err;
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
