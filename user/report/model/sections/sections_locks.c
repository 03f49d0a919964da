/* Threads that were blocked on one lock, those that held it and what they did, and those still
 * blocked at the end. */
#include <stdio.h>

#include "analyze/contention/contention.h"
#include "analyze/registry/analysis.h"
#include "analyze/stacks/stacks.h"
#include "base/text/format.h"
#include "base/text/print.h"
#include "base/text/strbuf.h"
#include "report/model/label.h"
#include "report/model/sections/sections.h"

#define BEHIND_MAX 3 /* locks named that holders were blocked on */
#define OF_HOLDER(key_, title_, least_, per_)                                                      \
	{                                                                                          \
		.key = (key_), .title = (title_),                                                  \
		.meaning = "What the holder did meanwhile; nothing for what is no thread.",        \
		.unit = FINDINGS_NS, .show = FINDINGS_SHARE, .per = (per_), .least = (least_)      \
	}

struct findings *section_lock_waiters(const struct section_input *in, const struct group *lock)
{
	static const struct findings_column columns[] = {
		{.key = "waiter", .title = "blocked threads", .least = 34, .most = 40},
		{.key = "count", .title = "count", .unit = FINDINGS_COUNT, .least = 9},
		{.key = "blocked_ns", .title = "time", .unit = FINDINGS_NS},
		{.title = "share", .unit = FINDINGS_NS, .show = FINDINGS_SHARE, .of = -1},
		{.key = "max_ns",
		 .title = "longest",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_NO_SUM},
		{.key = "after_wait_ns",
		 .title = "after wait",
		 .meaning = "Of the time, getting the monitor back after Object.wait().",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_IF_ANY},
	};
	struct findings *f = FINDINGS_NEW(columns);
	char name[LABEL_MAX];

	for (uint32_t i = 0; i < lock->group_count; i++) {
		const struct group *g = &lock->groups[i];

		findings_row(f, FINDINGS_ALL);
		findings_text(f, label_group(in->labels, in->stacks, g, name), NULL);
		FINDINGS_NUMBERS(f, g->count, g->blocked_ns, g->max_ns);
		findings_maybe(f, g->after_wait_count, g->after_wait_ns);
	}
	return f;
}

struct findings *section_lock_holders(const struct section_input *in, const struct group *lock,
				      bool exact)
{
	const struct findings_column columns[] = {
		{.key = "holder",
		 .title = exact ? "held meanwhile by" : "held, as inferred, by",
		 .least = 22,
		 .most = 40},
		{.title = "share", .unit = FINDINGS_NS, .show = FINDINGS_SHARE, .of = 1},
		{.key = "ns", .title = "time", .unit = FINDINGS_NS},
		OF_HOLDER("running_ns", "running", 7, -1),
		OF_HOLDER("stolen_ns", "stolen", 6, -2),
		OF_HOLDER("runnable_ns", "runnable", 8, -3),
		OF_HOLDER("blocked_ns", "blocked", 7, -4),
		OF_HOLDER("not_split_ns", "not split", 7, -5),
	};
	struct findings *f = FINDINGS_NEW(columns);
	char name[LABEL_MAX], starred[LABEL_MAX + 2];

	for (uint32_t i = 0; i < lock->group_count; i++) {
		const struct group *g = &lock->groups[i];

		findings_row(f, FINDINGS_ALL);
		label_group(in->labels, in->stacks, g, name);
		print_buffer(starred, sizeof(starred), "%s *", name);
		findings_text(f, name, g->first_reader_ns ? starred : NULL);
		findings_number(f, g->blocked_ns);
		if (holder_is_thread(g->cell->holder))
			FINDINGS_NUMBERS(f, g->split.running_ns, g->split.stolen_ns,
					 g->split.runnable_ns + g->split.throttled_ns,
					 g->split.blocked_ns, g->split.unknown_ns);
	}
	return f;
}

/* "Ledger #2 (0.9 s), Table #5 (0.3 s)": what the holders were blocked on, for this reason. */
static void name_blocked_on(const struct section_input *in, const struct group *lock, int reason,
			    char *buf, size_t size)
{
	char name[LABEL_MAX], time[FORMAT_MAX];
	unsigned named = 0, more = 0;

	*buf = '\0';
	for (uint32_t i = 0; i < lock->group_count; i++) {
		const struct group *g = &lock->groups[i];

		if (!g->cell->blocked_on || !g->split.reason_ns[reason])
			continue;
		if (named == BEHIND_MAX) {
			more++;
			continue;
		}
		buffer_add(buf, size, "%s%s (%s)", named++ ? ", " : "",
			   label_lock(in->labels, g->cell->blocked_on, name),
			   time_format(g->split.reason_ns[reason], time));
	}
	if (more)
		buffer_add(buf, size, ", and %u more", more);
}

struct findings *section_holding(const struct section_input *in, const struct group *lock)
{
	static const struct findings_column columns[] = {
		{.key = "what", .title = "what its holders did", .least = 34},
		{.title = "share", .unit = FINDINGS_NS, .show = FINDINGS_SHARE, .of = 1, .per = 3},
		{.key = "ns", .title = "time", .unit = FINDINGS_NS},
		{.key = "on", .title = "on", .flags = FINDINGS_IF_ANY},
		{.unit = FINDINGS_NS},
	};
	const struct split *s = &lock->split;
	const struct {
		const char *what;
		uint64_t ns;
		int reason; /* 0: none */
	} rows[] = {
		{"running", s->running_ns, 0},
		{"stolen by the hypervisor", s->stolen_ns, 0},
		{"runnable, without a CPU", s->runnable_ns, 0},
		{"throttled by the CPU quota", s->throttled_ns, 0},
		{"blocked on a lock", s->reason_ns[BLOCKED_REASON_LOCK], BLOCKED_REASON_LOCK},
		{"in Object.wait", s->reason_ns[BLOCKED_REASON_WAIT], 0},
		{"parked", s->reason_ns[BLOCKED_REASON_PARK], BLOCKED_REASON_PARK},
		{"asleep", s->reason_ns[BLOCKED_REASON_SLEEP], 0},
		{"in I/O or native code", s->reason_ns[BLOCKED_REASON_IO], 0},
		{"stopped by a pause", s->reason_ns[BLOCKED_REASON_PAUSE], 0},
		{"blocked otherwise, or not told", split_other(s), 0},
		{"no holder, or not known", s->unknown_ns, 0},
	};
	struct findings *f = FINDINGS_NEW(columns);
	char on[4 * LABEL_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (!rows[i].ns)
			continue;
		*on = '\0';
		if (rows[i].reason)
			name_blocked_on(in, lock, rows[i].reason, on, sizeof(on));
		findings_row(f, FINDINGS_ALL);
		findings_text(f, rows[i].what, NULL);
		findings_number(f, rows[i].ns);
		findings_text(f, on, NULL);
		findings_number(f, lock->blocked_ns);
	}
	return f;
}

static void add_open(const struct section_input *in, const struct contention_open *o,
		     struct findings *f)
{
	char label[LABEL_MAX];

	findings_row(f, FINDINGS_ALL);
	findings_text(f, label_thread(in->labels, o->waiter, label), NULL);
	findings_text(f, label_lock(in->labels, o->lock, label), NULL);
	findings_text(f, label_thread(in->labels, o->holder, label), NULL);
	findings_number(f, o->blocked_ns);
	findings_text(
		f,
		label_method(in->stacks, stacks_waiter_method(in->stacks, o->waiter_stack), label),
		NULL);
}

struct findings *section_still_blocked(const struct section_input *in, bool chains)
{
	const struct findings_column columns[] = {
		{.key = "waiter", .title = "still blocked at the end", .least = 24, .most = 36},
		{.key = "lock", .title = "on", .flags = FINDINGS_TAIL, .least = 20, .most = 44},
		{.key = "holder", .title = "last seen holder", .least = 16, .most = 32},
		{.key = "blocked_ns", .title = "for", .unit = FINDINGS_NS},
		{.key = "waiter_method", .title = chains ? "in" : NULL},
	};
	const struct contention *c = analysis_contention(in->analysis);
	struct findings *f = FINDINGS_NEW(columns);
	const struct contention_open *open;
	uint32_t count;

	open = contention_open(c, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct contention_lock *seen = contention_lock_find(c, open[i].lock);

		if (lock_is_contended(in->names, open[i].lock, seen && seen->monitor))
			add_open(in, &open[i], f);
	}
	return f;
}
