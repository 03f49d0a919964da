/* Virtual threads that block on their carriers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/park/pins.h"
#include "analyze/registry/analysis.h"
#include "base/text/format.h"
#include "log/read/names.h"
#include "report/model/label.h"
#include "report/model/sections/section_internal.h"
#include "report/model/sections/sections.h"

/* By time, then by class. */
static int by_time(const void *a, const void *b, void *ctx)
{
	const struct section_input *in = ctx;
	const struct pin_row *rows = analysis_pins(in->analysis)->rows;
	const struct pin_row *x = &rows[*(const uint32_t *)a], *y = &rows[*(const uint32_t *)b];

	if (x->times.total_ns != y->times.total_ns)
		return x->times.total_ns < y->times.total_ns ? 1 : -1;
	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	return (x->reason > y->reason) - (x->reason < y->reason);
}

struct findings *section_pinned(const struct section_input *in)
{
	static const struct findings_column columns[] = {
		{.key = "class", .title = "class of the lock or blocker", .least = 36},
		{.key = "lock",
		 .meaning = "The log's number of it; none: there was no blocker.",
		 .unit = FINDINGS_NUMBER},
		{.key = "reason", .title = "in", .least = 16},
		FINDINGS_TIMES,
	};
	static const char *const reasons[PIN_REASON_COUNT] = {
		[PIN_MONITOR] = "contended enter", [PIN_WAIT] = "Object.wait", [PIN_PARK] = "park"};
	const struct pins *p = analysis_pins(in->analysis);
	struct findings *f = FINDINGS_NEW(columns);
	uint32_t *order = calloc(p->row_map.count + 1, sizeof(*order)), shown = 0;

	if (!order) {
		findings_free(f);
		return NULL;
	}
	findings_title(f,
		       "PINNED: virtual threads that kept their carriers while they were blocked");
	for (uint32_t i = 0; i < p->row_map.count; i++)
		order[i] = i;
	qsort_r(order, p->row_map.count, sizeof(*order), by_time, (void *)(uintptr_t)in);
	for (uint32_t i = 0; i < p->row_map.count; i++) {
		const struct pin_row *row = &p->rows[order[i]];

		if (!row->times.count)
			continue;
		findings_row(f, in->in->top && shown++ >= in->in->top ? FINDINGS_PROGRAMS
								      : FINDINGS_ALL);
		findings_text(f, row->lock ? name_class(in->names, row->lock) : "(no blocker)",
			      NULL);
		findings_maybe(f, row->lock, row->lock);
		findings_text(f, reasons[row->reason], NULL);
		section_times(f, &row->times);
	}
	free(order);
	return f;
}

/* Of a thread's name what is before its number. */
static size_t stem_of(const char *name)
{
	size_t length = strlen(name);

	while (length && name[length - 1] >= '0' && name[length - 1] <= '9')
		length--;
	return length;
}

/* Threads that are called as this carrier is, but for the number: the scheduler's pool. */
static uint32_t pool_count(const struct log_names *names, uint64_t carrier)
{
	const char *name = name_thread(names, carrier, "");
	size_t stem = stem_of(name);
	uint32_t ret = 0;

	for (unsigned i = 0; stem && i < log_names_count(names, LOG_NAMES_THREAD); i++) {
		uint64_t id = log_names_id(names, LOG_NAMES_THREAD, i);
		const struct log_thread *t = log_names_thread(names, id);

		ret += !t->is_virtual && !strncmp(t->name, name, stem) && stem_of(t->name) == stem;
	}
	return ret;
}

struct findings *section_carriers(const struct section_input *in)
{
	static const struct findings_column columns[] = {
		{.key = "carriers",
		 .title = "carriers",
		 .meaning = "Threads of the pool whose threads have carried virtual threads.",
		 .unit = FINDINGS_COUNT,
		 .least = 8},
		{.key = "pinned_max",
		 .title = "pinned at once",
		 .meaning = "Most of them that were pinned at the same time.",
		 .unit = FINDINGS_COUNT},
		{.key = "all_pinned_count",
		 .title = "all pinned",
		 .meaning = "How often all were: no other virtual thread could run.",
		 .unit = FINDINGS_COUNT},
		{.key = "all_pinned_ns", .title = "for", .unit = FINDINGS_NS},
		{.key = "all_pinned_max_ns", .title = "longest", .unit = FINDINGS_NS},
	};
	const struct pins *p = analysis_pins(in->analysis);
	struct findings *f = FINDINGS_NEW(columns);
	char title[160], all[FORMAT_MAX];
	struct pause_times t;
	uint32_t count;

	if (!p->level_count)
		return f;
	count = pool_count(in->names, p->carriers[0]);
	if (count < p->carrier_map.count)
		count = p->carrier_map.count;
	t = pins_at_least(p, count);
	if (t.count)
		snprintf(
			title, sizeof(title),
			"CARRIERS of virtual threads: all were pinned for %s, and no other virtual "
			"thread could run",
			time_format(t.total_ns, all));
	else
		snprintf(title, sizeof(title), "CARRIERS of virtual threads: never all pinned");
	findings_title(f, title);
	findings_row(f, FINDINGS_ALL);
	FINDINGS_NUMBERS(f, count, p->level_count, t.count, t.total_ns, t.max_ns);
	return f;
}
