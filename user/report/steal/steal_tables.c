#include "report/steal/steal_tables.h"

#include <stdio.h>
#include <string.h>

#include "report/steal/steal_formats.h"

#define BAR_WIDTH 40
#define LABEL_MAX (2 * STEAL_CLOCK_MAX)
#define SHARE_OF_APPARENT                                                                          \
	{                                                                                          \
		.title = "share", .unit = FINDINGS_NS, .show = FINDINGS_SHARE, .of = -1,           \
		.per = -2, .least = 6                                                              \
	}

struct findings *steal_table_cpus(const struct steal_span *s)
{
	static const struct findings_column columns[] = {
		{.key = "cpu",
		 .title = "CPU",
		 .unit = FINDINGS_NUMBER,
		 .flags = FINDINGS_LEFT,
		 .least = 5},
		{.title = "wanted",
		 .meaning = "The time that the CPU worked or was stolen.",
		 .unit = FINDINGS_NS},
		{.key = "stolen_ns", .title = "stolen", .unit = FINDINGS_NS},
		SHARE_OF_APPARENT,
		{.key = "busy_ns", .title = "worked", .unit = FINDINGS_NS},
		{.key = "idle_ns", .title = "idle", .unit = FINDINGS_NS},
	};
	struct findings *f = FINDINGS_NEW(columns);
	char label[LABEL_MAX];

	for (size_t i = 0; i < s->cpu_count; i++) {
		const struct steal_cpu_use *c = &s->cpus[i];

		findings_row(f, FINDINGS_ALL);
		findings_number(f, c->cpu);
		snprintf(label, sizeof(label), "cpu%u", (unsigned)c->cpu);
		findings_label(f, label);
		FINDINGS_NUMBERS(f, c->busy_ns + c->stolen_ns, c->stolen_ns, c->busy_ns,
				 c->idle_ns);
	}
	return f;
}

/* Those of most_from have other titles. */
#define USE_NUMBERS(group_)                                                                        \
	{.key = "pid", .group = (group_), .unit = FINDINGS_INTEGER},                               \
		{.key = "tid", .group = (group_), .unit = FINDINGS_INTEGER},                       \
	{                                                                                          \
		.key = "start_ticks", .group = (group_), .unit = FINDINGS_NUMBER                   \
	}

static void use_add(const struct steal_report *r, const struct steal_span *s,
		    const struct steal_use *u, struct findings *f)
{
	char comm[STEAL_COMM_MAX], name[STEAL_NAME_MAX];
	bool folded = u->tid == STEAL_TID_FOLDED;

	findings_text(f, steal_use_kind(u), NULL);
	findings_text(f, steal_comm(u->comm, comm), steal_use_name(u, name));
	FINDINGS_NUMBERS(f, steal_apparent_ns(s, u, r->method), u->stolen_ns[r->method],
			 steal_corrected_ns(s, u, r->method));
	findings_maybe(f, !folded, (uint64_t)(int64_t)u->pid);
	findings_maybe(f, !folded, (uint64_t)(int64_t)u->tid);
	findings_maybe(f, !folded, u->start_ticks);
}

static const struct findings_column thread_columns[] = {
	{.key = "kind",
	 .meaning = "thread; ended: those of a process that did between two samples; folded: many "
		    "of these; unseen: what the source cannot tell apart."},
	{.key = "name", .title = "thread", .least = 20, .most = 44},
	{.key = "apparent_ns",
	 .title = "apparent",
	 .meaning = "CPU time, with what was stolen of it.",
	 .unit = FINDINGS_NS},
	{.key = "stolen_ns", .title = "stolen", .unit = FINDINGS_NS},
	SHARE_OF_APPARENT,
	{.key = "corrected_ns",
	 .title = "corrected",
	 .meaning = "CPU time, without what was stolen.",
	 .unit = FINDINGS_NS,
	 .least = 9},
	USE_NUMBERS(NULL),
	{.key = "proportional_ns",
	 .title = "proportional",
	 .meaning = "What the proportional method takes for stolen.",
	 .unit = FINDINGS_NS,
	 .views = STEAL_VIEW_BOTH},
};

static void thread_add(const struct steal_report *r, const struct steal_span *s,
		       const struct steal_use *u, bool both, struct findings *f)
{
	findings_row(f, FINDINGS_ALL);
	use_add(r, s, u, f);
	findings_maybe(f, both, u->stolen_ns[STEAL_PROPORTIONAL]);
}

struct findings *steal_table_threads(const struct steal_report *r, const struct steal_span *s,
				     size_t most)
{
	struct findings *f = FINDINGS_NEW(thread_columns);

	for (size_t i = 0; i < s->thread_count && i < most; i++)
		thread_add(r, s, &s->threads[i], r->both, f);
	return f;
}

struct findings *steal_table_thread(const struct steal_report *r, const struct steal_span *s,
				    const struct steal_use *u, bool both)
{
	struct findings *f = FINDINGS_NEW(thread_columns);

	thread_add(r, s, u, both, f);
	return f;
}

struct findings *steal_table_top(const struct steal_report *r, const struct steal_report_total *t)
{
	static const struct findings_column columns[] = {
		{.key = "begin_ns",
		 .title = "interval",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_LEFT,
		 .least = 12},
		{.key = "end_ns", .unit = FINDINGS_NS},
		{.title = "wanted", .unit = FINDINGS_NS},
		{.key = "stolen_ns", .title = "stolen", .unit = FINDINGS_NS},
		SHARE_OF_APPARENT,
		{.key = "wanted_ns", .unit = FINDINGS_NS},
		{.key = "kind", .group = "most_from"},
		{.key = "name", .title = "most from", .group = "most_from", .least = 20},
		{.key = "apparent_ns", .group = "most_from", .unit = FINDINGS_NS},
		{.key = "stolen_ns", .title = "of that", .group = "most_from", .unit = FINDINGS_NS},
		{.key = "corrected_ns", .group = "most_from", .unit = FINDINGS_NS},
		USE_NUMBERS("most_from"),
	};
	char label[LABEL_MAX], from[STEAL_CLOCK_MAX], to[STEAL_CLOCK_MAX];
	struct findings *f = FINDINGS_NEW(columns);

	for (size_t i = 0; i < t->top_count; i++) {
		const struct steal_top *w = &t->top[i];

		findings_row(f, FINDINGS_ALL);
		findings_number(f, w->from_ns);
		snprintf(label, sizeof(label), "%s-%s", steal_clock(r, w->from_ns, from),
			 steal_clock(r, w->to_ns, to));
		findings_label(f, label);
		FINDINGS_NUMBERS(f, w->to_ns, w->wanted_ns, w->stolen_ns, w->wanted_ns);
		if (w->victim.tid || w->victim.pid)
			use_add(r, t->span, &w->victim, f);
	}
	return f;
}

struct findings *steal_table_slots(const struct steal_thefts *t)
{
	static const struct findings_column columns[] = {
		{.key = "from_ns", .title = "from", .unit = FINDINGS_NS},
		{.title = "below", .unit = FINDINGS_NS},
		{.key = "count", .title = "count", .unit = FINDINGS_COUNT, .least = 7},
		{.title = "relative"},
	};
	static const char bar[] = "########################################";
	struct findings *f = FINDINGS_NEW(columns);
	char part[sizeof(bar)];
	uint64_t most = 0;

	_Static_assert(sizeof(bar) == BAR_WIDTH + 1, "a full bar");
	for (int i = 0; i < STEAL_SLOTS; i++)
		most = t->counts[i] > most ? t->counts[i] : most;
	for (int i = 0; i < STEAL_SLOTS; i++) {
		uint64_t count = t->counts[i];
		bool last = i == STEAL_SLOTS - 1;

		if (!count)
			continue;
		findings_row(f, FINDINGS_ALL);
		findings_number(f, i ? 1ull << i : 0);
		findings_maybe(f, !last, last ? 0 : 2ull << i);
		if (last)
			findings_label(f, "-");
		findings_number(f, count);
		snprintf(part, sizeof(part), "%.*s", (int)((count * BAR_WIDTH + most - 1) / most),
			 bar);
		findings_text(f, part, NULL);
	}
	return f;
}

struct findings *steal_table_longest(const struct steal_report *r, const struct steal_thefts *t)
{
	static const struct findings_column columns[] = {
		{.key = "time_ns",
		 .title = "until",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_LEFT,
		 .least = 12},
		{.key = "ns", .title = "stolen", .unit = FINDINGS_NS},
		{.key = "cpu",
		 .title = "CPU",
		 .unit = FINDINGS_NUMBER,
		 .flags = FINDINGS_LEFT,
		 .least = 5},
		{.key = "pid", .unit = FINDINGS_INTEGER},
		{.key = "tid", .unit = FINDINGS_INTEGER},
		{.key = "name", .title = "from", .least = 20},
	};
	char label[LABEL_MAX], comm[STEAL_COMM_MAX], name[STEAL_NAME_MAX];
	struct findings *f = FINDINGS_NEW(columns);

	for (size_t i = 0; i < t->longest_count; i++) {
		const struct steal_theft *one = &t->longest[i];
		struct steal_use u = {.tid = one->tid, .pid = one->pid};

		memcpy(u.comm, one->comm, sizeof(u.comm));
		findings_row(f, FINDINGS_ALL);
		findings_number(f, one->time_ns);
		findings_label(f, steal_clock(r, one->time_ns, label));
		FINDINGS_NUMBERS(f, one->ns, one->cpu);
		snprintf(label, sizeof(label), "cpu%u", (unsigned)one->cpu);
		findings_label(f, label);
		FINDINGS_NUMBERS(f, (uint64_t)(int64_t)one->pid, (uint64_t)(int64_t)one->tid);
		findings_text(f, steal_comm(one->comm, comm),
			      one->tid ? steal_use_name(&u, name) : "(idle)");
	}
	return f;
}
