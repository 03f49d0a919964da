#include "report/model/sections/by_figures.h"

#include <string.h>

#define SPLIT(key_, meaning_)                                                                      \
	{                                                                                          \
		.key = (key_), .meaning = (meaning_), .group = "split", .unit = FINDINGS_NS        \
	}
#define OF_BLOCKED(key_)                                                                           \
	{                                                                                          \
		.key = (key_), .meaning = "Of the holder's blocked time, for this reason.",        \
		.group = "split.blocked", .unit = FINDINGS_NS                                      \
	}
#define QUANTILE(key_, title_, meaning_)                                                           \
	{                                                                                          \
		.key = (key_), .title = (title_), .meaning = (meaning_), .unit = FINDINGS_NS,      \
		.flags = FINDINGS_NO_SUM                                                           \
	}
#define BLOCKED_AT 1
#define QUANTILES_AT 6

static const struct findings_column figures[BY_FIGURES] = {
	{.key = "count",
	 .title = "count",
	 .meaning = "Contentions that began with this holder.",
	 .unit = FINDINGS_COUNT,
	 .least = 9},
	[BLOCKED_AT] = {.key = "blocked_ns", .unit = FINDINGS_NS},
	{.title = "share", .unit = FINDINGS_NS, .show = FINDINGS_SHARE, .of = -1},
	{.title = "parent", .unit = FINDINGS_NS, .show = FINDINGS_SHARE, .of = -2, .per = 1},
	{.key = "parent_blocked_ns",
	 .meaning = "What the group has that this one is within.",
	 .unit = FINDINGS_NS,
	 .flags = FINDINGS_NO_SUM},
	{.key = "idle_ns",
	 .title = "idle turns",
	 .meaning = "Of the time, idle turn-taking: the holder waits for new work, and the waiter "
		    "wants to do the same. Inferred from both call chains.",
	 .unit = FINDINGS_NS,
	 .flags = FINDINGS_IF_ANY},
	[QUANTILES_AT] = QUANTILE("p50_ns", "p50",
				  "Of 100 contentions that are counted here, 50 took as "
				  "long at most; off by 1/128 of it."),
	QUANTILE("p90_ns", "p90", "Likewise 90."),
	QUANTILE("p99_ns", "p99", "Likewise 99."),
	QUANTILE("p999_ns", "p99.9", "Of 1,000 contentions, 999."),
	{.key = "max_ns",
	 .title = "max",
	 .meaning = "The longest contention; below owner_thread, the most of one that a holder is "
		    "charged with.",
	 .unit = FINDINGS_NS,
	 .flags = FINDINGS_NO_SUM},
	{.key = "after_wait_count",
	 .meaning = "Of count, after Object.wait().",
	 .unit = FINDINGS_COUNT},
	{.key = "after_wait_ns",
	 .title = "after wait",
	 .meaning = "Of the time, getting the monitor back after Object.wait().",
	 .unit = FINDINGS_NS,
	 .flags = FINDINGS_IF_ANY},
	SPLIT("running_ns", "The holder ran meanwhile."),
	SPLIT("stolen_ns", "The hypervisor had the holder's CPU meanwhile."),
	SPLIT("runnable_ns", "The holder waited for a CPU meanwhile."),
	SPLIT("throttled_ns", "The holder had used up its CPU quota."),
	SPLIT("blocked_ns", "The holder was itself blocked or asleep."),
	SPLIT("not_split_ns", "What the holder did is not known, or there was none."),
	OF_BLOCKED("lock_ns"),
	OF_BLOCKED("wait_ns"),
	OF_BLOCKED("park_ns"),
	OF_BLOCKED("sleep_ns"),
	OF_BLOCKED("io_ns"),
	OF_BLOCKED("pause_ns"),
	OF_BLOCKED("other_ns"),
};

void by_figures_columns(const char *time, struct findings_column columns[BY_FIGURES])
{
	memcpy(columns, figures, sizeof(figures));
	columns[BLOCKED_AT].title = time;
}

void by_figures_show(struct findings_column columns[BY_FIGURES], bool all)
{
	if (all)
		return;
	columns[QUANTILES_AT + 1].title = NULL;
	columns[QUANTILES_AT + 3].title = NULL;
}

void by_figures_add(struct findings *f, const struct group *g, bool longest)
{
	const struct split *s = &g->split;
	const uint64_t *of = s->reason_ns;

	FINDINGS_NUMBERS(f, g->count, g->blocked_ns, g->parent_ns, g->idle_ns);
	if (!g->idle_ns)
		findings_label(f, "");
	for (unsigned i = 0; i < LENGTH_QUANTILES; i++)
		findings_maybe(f, longest && g->count, g->quantile_ns[i]);
	findings_maybe(f, longest, g->max_ns);
	FINDINGS_NUMBERS(f, g->after_wait_count, g->after_wait_ns);
	if (!g->after_wait_count)
		findings_label(f, "");
	FINDINGS_NUMBERS(f, s->running_ns, s->stolen_ns, s->runnable_ns, s->throttled_ns,
			 s->blocked_ns, s->unknown_ns, of[BLOCKED_REASON_LOCK],
			 of[BLOCKED_REASON_WAIT], of[BLOCKED_REASON_PARK], of[BLOCKED_REASON_SLEEP],
			 of[BLOCKED_REASON_IO], of[BLOCKED_REASON_PAUSE], split_other(s));
}
