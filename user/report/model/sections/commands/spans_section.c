/* Spans by name, one by one, and what they were blocked on, as tables. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/cells/cells.h"
#include "analyze/stacks/stacks.h"
#include "base/text/strbuf.h"
#include "log/read/names.h"
#include "report/model/label.h"
#include "report/model/sections/commands/spans_report.h"
#include "report/model/sections/section_internal.h"
#include "report/model/sections/sections.h"

#define NAME_WIDTH 40
#define QUANTILE(key_, title_)                                                                     \
	{                                                                                          \
		.key = (key_), .title = (title_),                                                  \
		.meaning = "So many per cent of the spans were not longer.", .unit = FINDINGS_NS,  \
		.flags = FINDINGS_NO_SUM, .views = SPANS_VIEW_TIMES                                \
	}

char *label_span_lock(const struct labels *l, uint64_t lock, char *buf)
{
	label_class(l, lock, buf);
	buffer_add(buf, LABEL_MAX, " #%" PRIu64, lock);
	return buf;
}

static void add_blocker(const struct section_input *in, const struct spans_row *row,
			struct findings *f)
{
	const struct log_lock *lock = log_names_lock(in->names, row->lock);
	bool monitor = lock && lock->group == LOCK_GROUP_MONITOR;
	char label[LABEL_MAX];

	findings_row(f, FINDINGS_ALL);
	findings_number(f, row->lock);
	findings_label(f, label_span_lock(in->labels, row->lock, label));
	findings_text(f, name_class(in->names, row->lock), NULL);
	findings_text(f, name_group(in->names, row->lock, monitor), NULL);
	findings_text(f, name_thread(in->names, row->holder, "(unknown)"),
		      label_thread(in->labels, row->holder, label));
	findings_text(f,
		      holder_is_thread(row->holder) ? label_method(in->stacks, row->method, label)
						    : NULL,
		      NULL);
	findings_number(f, row->ns);
}

static struct findings *blockers(const struct section_input *in, const struct span_blockers *b)
{
	static const struct findings_column columns[] = {
		{.key = "lock", .title = "lock", .unit = FINDINGS_NUMBER, .flags = FINDINGS_LEFT},
		{.key = "class"},
		{.key = "group"},
		{.key = "holder", .title = "held by"},
		{.key = "holder_method", .title = "in", .flags = FINDINGS_NULL},
		{.key = "ns", .title = "time", .unit = FINDINGS_NS},
	};
	struct spans_row rows[SPAN_BLOCKERS_MAX];
	unsigned n = spans_rows(b, in->stacks, rows);
	struct findings *f = FINDINGS_NEW(columns);

	for (unsigned i = 0; i < n; i++)
		add_blocker(in, &rows[i], f);
	return f;
}

/* As the states of a span are called in JSON. */
static void columns_states(struct findings_column columns[STATE_COUNT],
			   const struct findings_column *like)
{
	section_states(columns, like, true);
	for (int i = 0; i < STATE_COUNT; i++)
		columns[i].key = state_name(i);
}

#define BY_NAME_STATES 10
#define BY_NAME_SELF (BY_NAME_STATES + STATE_COUNT + 1)
#define BY_NAME_BLOCKED_BY (BY_NAME_SELF + STATE_COUNT)

struct findings *spans_section_names(const struct section_input *in, const struct spans *s)
{
	static const unsigned quantiles[] = {500, 900, 990, 999};
	struct findings_column columns[BY_NAME_BLOCKED_BY + 2] = {
		{.key = "name",
		 .title = "name",
		 .least = 16,
		 .most = NAME_WIDTH,
		 .flags = FINDINGS_TAIL},
		{.key = "count",
		 .title = "count",
		 .unit = FINDINGS_COUNT,
		 .least = 7,
		 .views = SPANS_VIEW_TIMES},
		{.key = "total_ns", .title = "total", .unit = FINDINGS_NS},
		{.key = "self_ns",
		 .title = "self",
		 .meaning = "Without the spans within them.",
		 .unit = FINDINGS_NS,
		 .views = SPANS_VIEW_TIMES},
		{.title = "mean",
		 .unit = FINDINGS_NS,
		 .show = FINDINGS_MEAN,
		 .of = -2,
		 .per = -3,
		 .views = SPANS_VIEW_TIMES},
		QUANTILE("p50_ns", "p50"),
		QUANTILE("p90_ns", "p90"),
		QUANTILE("p99_ns", "p99"),
		QUANTILE("p999_ns", "p99.9"),
		{.key = "max_ns",
		 .title = "max",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_NO_SUM,
		 .views = SPANS_VIEW_TIMES},
		[BY_NAME_SELF - 1] = {.unit = FINDINGS_NS}, /* of all states */
		[BY_NAME_BLOCKED_BY] = {.key = "blocked_by", .unit = FINDINGS_ROWS},
		{.key = "blocked_by_rest_ns", .unit = FINDINGS_NS},
	};
	const struct findings_column states = {.group = "states",
					       .show = FINDINGS_SHARE,
					       .per = STATE_COUNT,
					       .flags = FINDINGS_IF_ANY,
					       .views = SPANS_VIEW_STATES},
				     self = {.group = "self_states", .views = SPANS_VIEW_NONE};
	const struct span_name *const *names;
	struct findings *f;
	uint32_t count;

	columns_states(columns + BY_NAME_STATES, &states);
	columns_states(columns + BY_NAME_SELF, &self);
	f = FINDINGS_NEW(columns);
	names = spans_by_name(s, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct span_name *n = names[i];

		findings_row(f, FINDINGS_ALL);
		findings_text(f, n->text, NULL);
		FINDINGS_NUMBERS(f, n->times.count, n->total_ns, n->self_ns);
		for (size_t k = 0; k < sizeof(quantiles) / sizeof(*quantiles); k++)
			findings_number(f, quantiles_at(&n->times, quantiles[k]));
		findings_number(f, n->times.max);
		findings_numbers(f, n->states.ns, STATE_COUNT);
		findings_number(f, states_sum(&n->states));
		findings_numbers(f, n->self.ns, STATE_COUNT);
		findings_rows(f, blockers(in, &n->blockers));
		findings_number(f, n->blockers.rest_ns);
	}
	return f;
}

#define SPAN_STATES 6
#define SPAN_BLOCKED_BY (SPAN_STATES + STATE_COUNT)

struct findings *spans_section_list(const struct section_input *in, const struct span *const *spans,
				    uint32_t count, bool ended)
{
	struct findings_column columns[SPAN_BLOCKED_BY + 2] = {
		{.key = "name", .title = "name"},
		{.key = "within", .flags = FINDINGS_NULL},
		{.key = "thread", .title = "thread"},
		{.key = "tid", .unit = FINDINGS_NUMBER},
		{.key = "begin_ns", .unit = FINDINGS_NS},
		{.key = "ns", .title = "time", .unit = FINDINGS_NS},
		[SPAN_BLOCKED_BY] = {.key = "blocked_by", .unit = FINDINGS_ROWS},
		{.key = "blocked_by_rest_ns", .unit = FINDINGS_NS},
	};
	struct findings *f;
	char label[LABEL_MAX];

	columns_states(columns + SPAN_STATES,
		       &(struct findings_column){.group = "states", .flags = FINDINGS_NULL});
	f = FINDINGS_NEW(columns);
	for (uint32_t i = 0; i < count; i++) {
		const struct span *s = spans[i];
		const struct log_thread *thread = log_names_thread(in->names, s->thread);

		findings_row(f, FINDINGS_ALL);
		findings_text(f, s->name, NULL);
		findings_text(f, s->within, NULL);
		findings_text(f, name_thread(in->names, s->thread, "(unknown)"),
			      label_thread(in->labels, s->thread, label));
		FINDINGS_NUMBERS(f, thread ? thread->tid : 0, s->begin_ns, s->ns);
		for (int k = 0; k < STATE_COUNT; k++)
			findings_maybe(f, ended, s->states.ns[k]);
		findings_rows(f, blockers(in, &s->blockers));
		findings_number(f, s->blockers.rest_ns);
	}
	return f;
}

#define BLOCKERS_SHOWN 4

/* For people: name by name, the first of what each was blocked on. */
struct findings *spans_section_blockers(const struct section_input *in, const struct spans *s)
{
	static const struct findings_column columns[] = {
		{.title = "name", .least = 16, .most = NAME_WIDTH, .flags = FINDINGS_TAIL},
		{.title = "time", .unit = FINDINGS_NS},
		{.title = "share", .unit = FINDINGS_NS, .show = FINDINGS_SHARE, .of = -1, .per = 4},
		{.title = "lock", .least = 16, .most = NAME_WIDTH, .flags = FINDINGS_TAIL},
		{.title = "held by", .least = 12, .most = 32},
		{.title = "in", .least = 8, .most = 60, .flags = FINDINGS_TAIL},
		{.unit = FINDINGS_NS},
	};
	struct findings *f = FINDINGS_NEW(columns);
	const struct span_name *const *names;
	char label[LABEL_MAX];
	uint32_t count;

	names = spans_by_name(s, &count);
	for (uint32_t i = 0; i < count && i < in->in->top; i++) {
		struct spans_row rows[SPAN_BLOCKERS_MAX];
		unsigned n = spans_rows(&names[i]->blockers, in->stacks, rows);

		for (unsigned k = 0; k < n && k < BLOCKERS_SHOWN; k++) {
			findings_row(f, FINDINGS_PEOPLE);
			findings_text(f, k ? "" : names[i]->text, NULL);
			findings_number(f, rows[k].ns);
			findings_text(f, label_span_lock(in->labels, rows[k].lock, label), NULL);
			findings_text(f, label_thread(in->labels, rows[k].holder, label), NULL);
			findings_text(f,
				      holder_is_thread(rows[k].holder)
					      ? label_method(in->stacks, rows[k].method, label)
					      : "",
				      NULL);
			findings_number(f, names[i]->total_ns);
		}
	}
	return f;
}
