#include "base/text/print.h"
#include "report/text/text_report.h"

#include <errno.h>
#include <string.h>

#include "analyze/contention/contention.h"
#include "analyze/registry/analysis.h"
#include "analyze/stacks/stacks.h"
#include "base/tables/keymap.h"
#include "base/text/format.h"
#include "log/format/header_fields.h"
#include "log/read/names.h"

#define THREADS_MAX 8 /* blocked threads and holders shown per lock */

struct lock_view {
	struct text *text;
	const struct group *lock;                           /* by waiter_thread */
	const struct group *holders;                        /* the same lock, by owner_thread */
	const struct group *waiter_methods, *owner_methods; /* likewise; NULL: no call chains */
	const struct group *blocked_on;                     /* all locks, by blocked_on */
	bool exact;                                         /* who held it */
};

static const struct contention_lock *lock_seen(const struct text *t, uint64_t lock)
{
	return contention_lock_find(analysis_contention(t->in->log->analysis), lock);
}

static int print_threads(const struct lock_view *v, struct findings *f)
{
	const struct findings_view view = {.indent = 4, .top = THREADS_MAX};
	int err = findings_to_text(f, &view, v->text->out);

	findings_free(f);
	return err;
}

static int print_holders(const struct lock_view *v)
{
	int err = print_threads(v, section_lock_holders(&v->text->section, v->holders, v->exact));

	if (!err && v->holders->first_reader_ns)
		print_text(
			v->text->out,
			"    * held by readers: charged to the %s of them, others may have held it "
			"too\n",
			v->exact ? "last" : "first");
	return err;
}

/* What the holder did for most of the time that could be split. */
static void print_why(FILE *out, const struct split *s, bool is_virtual)
{
	static const char *const doing[] = {
		"of that running its code", "of that stolen from it by the hypervisor",
		"of that waiting for a CPU", "of that throttled by its CPU quota",
		"of that blocked or asleep itself"};
	const uint64_t parts[] = {s->running_ns, s->stolen_ns, s->runnable_ns, s->throttled_ns,
				  s->blocked_ns};
	uint64_t whole = s->unknown_ns, most = 0;
	char share[FORMAT_MAX];
	size_t which = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		whole += parts[i];
		if (parts[i] > most) {
			most = parts[i];
			which = i;
		}
	}
	if (most > s->unknown_ns)
		print_text(out, ", %s %s.\n", share_round(most, whole, share), doing[which]);
	else
		print_text(out, "; what it did meanwhile is not known%s.\n",
			   is_virtual ? ": a virtual thread, on any carrier or on none" : "");
}

static void print_sentence(const struct lock_view *v)
{
	const struct group *top = v->holders->group_count ? &v->holders->groups[0] : NULL;
	char class[LABEL_MAX], name[LABEL_MAX], share[FORMAT_MAX];
	const struct log_thread *t;
	const char *dot;
	FILE *out = v->text->out;

	if (!top || !top->blocked_ns)
		return;
	dot = strrchr(label_class(v->text->labels, top->cell->lock, class), '.');
	print_text(out, "    => %s of the time lost on %s was lost ",
		   share_round(top->blocked_ns, v->holders->blocked_ns, share),
		   dot ? dot + 1 : class);
	if (top->cell->holder == HOLDER_UNKNOWN)
		fputs("while it is not known who held it.\n", out);
	else if (top->cell->holder == HOLDER_HAND_OVER)
		fputs("while nobody was seen holding it: released, not yet taken.\n", out);
	else if (top->cell->holder == THREAD_OTHERS)
		fputs("while other threads held it, of which there were too many.\n", out);
	else {
		t = log_names_thread(analysis_names(v->text->in->log->analysis), top->cell->holder);
		print_text(out, "while thread '%s' held it",
			   label_thread(v->text->labels, top->cell->holder, name));
		print_why(out, &top->split, t && t->is_virtual);
	}
}

static void print_incomplete(const struct lock_view *v)
{
	const struct contention_lock *seen = lock_seen(v->text, v->lock->cell->lock);
	char count[FORMAT_MAX], time[FORMAT_MAX];
	FILE *out = v->text->out;

	if (!seen)
		return;
	if (seen->open)
		print_text(out,
			   "    not in these sums: %s still blocked at the end, for %s so far\n",
			   count_format(seen->open, count), time_format(seen->open_ns, time));
	if (seen->begin_missing)
		print_text(out, "    not in these sums: %s whose begin is not in the log\n",
			   count_format(seen->begin_missing, count));
	if (seen->end_missing)
		print_text(out, "    not in these sums: %s whose end is not in the log\n",
			   count_format(seen->end_missing, count));
	if (seen->numbers.missing)
		print_text(out, "    %s of its events are missing: who held it then is unknown\n",
			   count_format(seen->numbers.missing, count));
}

static int print_lock(const struct lock_view *v, unsigned rank, uint64_t all_ns)
{
	const struct group *g = v->lock;
	char class[LABEL_MAX], identity[LABEL_MAX];
	char count[FORMAT_MAX], total[FORMAT_MAX], mean[FORMAT_MAX], max[FORMAT_MAX],
		share[FORMAT_MAX], median[FORMAT_MAX], p99[FORMAT_MAX];
	int err;

	print_text(v->text->out, "\n %2u. %s  %s  %s\n", rank,
		   label_class(v->text->labels, g->cell->lock, class),
		   label_identity(v->text->labels, g->cell->lock, identity),
		   name_group(analysis_names(v->text->in->log->analysis), g->cell->lock,
			      g->cell->monitor));
	print_text(v->text->out,
		   "    %s contention%s, blocked %s (%s of all), mean %s, p50 %s, p99 %s, max %s\n",
		   count_format(g->count, count), g->count == 1 ? "" : "s",
		   duration_format(g->blocked_ns, total),
		   share_format(g->blocked_ns, all_ns, share),
		   mean_format(g->blocked_ns, g->count, mean),
		   duration_format(g->quantile_ns[0], median),
		   duration_format(g->quantile_ns[2], p99), duration_format(g->max_ns, max));
	if (g->idle_ns)
		print_text(v->text->out, "    of that idle turn-taking: %s\n",
			   duration_format(g->idle_ns, total));
	text_after_wait(v->text, g, 4);
	err = print_threads(v, section_lock_waiters(&v->text->section, g));
	if (!err)
		err = print_holders(v);
	if (!err)
		err = text_holding(v->text, v->blocked_on, g->cell->lock);
	if (v->waiter_methods)
		text_methods(v->text, "blocked in", v->waiter_methods);
	if (v->owner_methods)
		text_methods(v->text, "held meanwhile in", v->owner_methods);
	print_incomplete(v);
	if (!err)
		print_sentence(v);
	return err;
}

static const struct group *find_lock(const struct group *root, uint64_t lock)
{
	for (uint32_t i = 0; i < root->group_count; i++) {
		if (root->groups[i].cell->lock == lock)
			return &root->groups[i];
	}
	return NULL;
}

/* Blocked at the end, on whatever lock: a deadlock shows up nowhere else. */
static int print_open(struct text *t)
{
	const struct findings_view view = {.indent = 2, .gap = true, .top = t->in->top};
	struct findings *f = section_still_blocked(&t->section, t->finding);
	int err = findings_to_text(f, &view, t->out);

	findings_free(f);
	return err;
}

/* Incomplete contentions on locks that are not listed otherwise; past: how many of all were gone
 * through. */
static void print_rest(struct text *t, const struct group *root, uint32_t past)
{
	const struct contention *c = analysis_contention(t->in->log->analysis);
	const struct log_names *names = analysis_names(t->in->log->analysis);
	uint64_t incomplete = 0, listed = 0, blocked_ns = 0;
	char count[FORMAT_MAX], time[FORMAT_MAX];
	uint32_t more = 0;

	for (uint32_t i = 0; i < contention_lock_count(c); i++) {
		const struct contention_lock *l = contention_lock(c, i);

		if (lock_is_contended(names, l->lock, l->monitor))
			incomplete += l->begin_missing + l->end_missing;
	}
	for (uint32_t i = 0; i < root->group_count; i++) {
		const struct contention_lock *l = lock_seen(t, root->groups[i].cell->lock);

		if (section_idle_apart(&t->section, &root->groups[i]))
			continue;
		if (i < past) {
			listed += l->begin_missing + l->end_missing;
		} else {
			blocked_ns += root->groups[i].blocked_ns;
			more++;
		}
	}
	if (more)
		print_text(t->out, "\n  %u more locks, blocked %s in all (--top shows more)\n",
			   more, time_format(blocked_ns, time));
	if (incomplete > listed)
		print_text(
			t->out,
			"\n  %s contention%s of other locks had no begin or no end in the log: in "
			"no sum\n",
			count_format(incomplete - listed, count),
			incomplete - listed == 1 ? "" : "s");
}

/* Whether a name in parentheses stands for a holder, or for its method. */
static bool has_nameless(const struct text *t, const struct group *holders)
{
	const struct log_names *names = analysis_names(t->in->log->analysis);
	const struct cell *cells;
	uint32_t count;

	if (t->finding && holders->stack_from_ns[HOLDER_STACK_UNKNOWN])
		return true;
	cells = report_cells(t->in, &count);
	for (uint32_t i = 0; i < count; i++)
		if (!holder_is_thread(cells[i].holder) && (cells[i].count || cells[i].blocked_ns) &&
		    lock_is_contended(names, cells[i].lock, cells[i].monitor))
			return true;
	return false;
}

static void print_legend(struct text *t, const struct group *holders)
{
	if (has_nameless(t, holders))
		print_text(t->out,
			   "\n  (hand-over): released, and nobody seen taking it yet. (unknown): "
			   "nothing says who held it%s.\n",
			   t->finding ? ", or where" : "");
}

/* All locks, each nested by one more aspect. */
enum { BY_WAITER, BY_HOLDER, BY_BEHIND, BY_WAITER_METHOD, BY_OWNER_METHOD, BY_COUNT };

/* Those that work waits for, until --top are shown; *past: how many of all were gone through. */
static int print_ranked(struct text *t, const struct group *all, const struct group *by,
			uint32_t *past)
{
	unsigned shown = 0;
	uint32_t i;
	int err = 0;

	for (i = 0; i < all->group_count && shown < t->in->top && !err; i++) {
		uint64_t lock = all->groups[i].cell->lock;
		struct lock_view v = {t,
				      find_lock(&by[BY_WAITER], lock),
				      find_lock(&by[BY_HOLDER], lock),
				      find_lock(&by[BY_WAITER_METHOD], lock),
				      find_lock(&by[BY_OWNER_METHOD], lock),
				      &by[BY_BEHIND],
				      text_is_exact(t, lock)};

		if (!section_idle_apart(&t->section, v.lock))
			err = print_lock(&v, ++shown, all->blocked_ns);
	}
	*past = i;
	return err;
}

static int print_all(struct text *t, const struct group *waiters, const struct group *by)
{
	char count[FORMAT_MAX], total[FORMAT_MAX];
	uint32_t past = 0;
	int err;

	if (waiters->count)
		text_heading(t, "CONTENDED LOCKS: %s contention%s, threads blocked for %s in all",
			     count_format(waiters->count, count), waiters->count == 1 ? "" : "s",
			     duration_format(waiters->blocked_ns, total));
	else
		text_heading(
			t, "CONTENDED LOCKS: none%s",
			strcmp(header_text(t->in->log->header, "sources", "monitor"), "missing")
				? ""
				: " of java.util.concurrent; monitors were not recorded");
	if (t->in->where)
		print_text(t->out, "  only those of  %s\n", t->in->where);
	text_after_wait(t, waiters, 2);
	err = text_basis(t, waiters->blocked_ns) ?: print_ranked(t, waiters, by, &past);
	if (!err && t->finding)
		err = text_idle(t, &by[BY_WAITER_METHOD]);
	err = err ? err : text_sources(t);
	if (err)
		return err;
	print_legend(t, &by[BY_HOLDER]);
	print_rest(t, waiters, past);
	return print_open(t);
}

/* Locks whose groups are shown: as many as print_ranked() goes through, and idle ones. */
static int locks_shown(struct text *t, const struct group *all, struct keymap *ret)
{
	unsigned shown = 0;
	uint32_t at;
	int err = 0;

	for (uint32_t i = 0; i < all->group_count && !err; i++) {
		const struct group *g = &all->groups[i];

		if (shown < t->in->top || g->idle_ns)
			err = keymap_add_number(ret, g->cell->lock, &at);
		shown += !section_idle_apart(&t->section, g);
	}
	return err;
}

/* Holders that are blocked on other locks: chains of locks go through those. */
static int locks_behind(struct text *t, struct keymap *ret)
{
	const struct cell *cells;
	uint32_t count, at;
	int err = 0;

	cells = report_cells(t->in, &count);
	for (uint32_t i = 0; i < count && !err; i++) {
		if (!cells[i].blocked_on)
			continue;
		err = keymap_add_number(ret, cells[i].lock, &at);
		err = err ? err : keymap_add_number(ret, cells[i].blocked_on, &at);
	}
	return err;
}

/* Quantiles are shown of locks; they cost most where there are many cells. */
static int groups_by(struct text *t, const enum aspect_id *by, const struct keymap *locks,
		     bool with_lengths, struct group *ret)
{
	struct groups_input in = {.stacks = t->stacks,
				  .lengths = with_lengths ? report_lengths(t->in) : NULL,
				  .by = by,
				  .depth = locks ? 2 : 1,
				  .order = t->in->order,
				  .locks = locks};

	in.cells = report_cells(t->in, &in.cell_count);
	return groups_sum(&in, ret);
}

int text_locks(struct text *t)
{
	static const enum aspect_id aspects[BY_COUNT][2] = {
		[BY_WAITER] = {ASPECT_LOCK, ASPECT_WAITER_THREAD},
		[BY_HOLDER] = {ASPECT_LOCK, ASPECT_OWNER_THREAD},
		[BY_BEHIND] = {ASPECT_LOCK, ASPECT_BEHIND},
		[BY_WAITER_METHOD] = {ASPECT_LOCK, ASPECT_WAITER_METHOD},
		[BY_OWNER_METHOD] = {ASPECT_LOCK, ASPECT_OWNER_METHOD},
	};
	const bool quantile_order = t->in->order >= GROUP_BY_P50;
	unsigned pairs = t->finding ? BY_COUNT : BY_WAITER_METHOD;
	struct group all = {0}, by[BY_COUNT] = {{0}};
	struct keymap shown = {0}, behind = {0};
	int err = groups_by(t, aspects[BY_WAITER], NULL, quantile_order, &all);

	err = err ? err : locks_shown(t, &all, &shown);
	err = err ? err : locks_shown(t, &all, &behind);
	err = err ? err : locks_behind(t, &behind);
	for (unsigned i = 0; i < pairs && !err; i++)
		err = groups_by(t, aspects[i], i == BY_BEHIND ? &behind : &shown,
				i == BY_WAITER || quantile_order, &by[i]);
	if (!err)
		err = print_all(t, &all, by);
	for (unsigned i = 0; i < BY_COUNT; i++)
		groups_free(&by[i]);
	groups_free(&all);
	keymap_free(&shown);
	keymap_free(&behind);
	return err;
}
