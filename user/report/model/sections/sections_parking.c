/* Parking and Object.wait, summed by the class of what was parked or waited on; virtual threads
 * that block on their carriers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/groups/groups.h"
#include "analyze/park/parking.h"
#include "analyze/park/pins.h"
#include "analyze/registry/analysis.h"
#include "base/tables/saturate.h"
#include "base/text/format.h"
#include "log/read/names.h"
#include "report/model/label.h"
#include "report/model/sections/section_internal.h"
#include "report/model/sections/sections.h"

struct blocker {
	const char *class;
	uint64_t count, total_ns, max_ns, open, open_ns, begin_missing, end_missing;
	uint64_t how[PARKING_HOW_COUNT];
	uint64_t back_ns;
};

static int compare_classes(const void *a, const void *b)
{
	return strcmp(((const struct blocker *)a)->class, ((const struct blocker *)b)->class);
}

static int compare_times(const void *a, const void *b)
{
	const struct blocker *x = a, *y = b;
	uint64_t time_x = sum_saturated(x->total_ns, x->open_ns);
	uint64_t time_y = sum_saturated(y->total_ns, y->open_ns);

	return time_x != time_y ? (time_x < time_y ? 1 : -1) : compare_classes(a, b);
}

static void merge(struct blocker *to, const struct blocker *from)
{
	to->count = sum_saturated(to->count, from->count);
	to->total_ns = sum_saturated(to->total_ns, from->total_ns);
	to->max_ns = from->max_ns > to->max_ns ? from->max_ns : to->max_ns;
	to->open += from->open;
	to->open_ns += from->open_ns;
	to->begin_missing += from->begin_missing;
	to->end_missing += from->end_missing;
	to->back_ns += from->back_ns;
	for (int i = 0; i < PARKING_HOW_COUNT; i++)
		to->how[i] = sum_saturated(to->how[i], from->how[i]);
}

static struct blocker blocker_of(const struct parking_row *row, const struct log_names *names)
{
	struct blocker b = {.class = row->lock ? name_class(names, row->lock) : "(no blocker)",
			    .count = row->count,
			    .total_ns = row->total_ns,
			    .max_ns = row->max_ns,
			    .open = row->open,
			    .open_ns = row->open_ns,
			    .begin_missing = row->begin_missing,
			    .end_missing = row->end_missing,
			    .back_ns = row->back_ns};

	memcpy(b.how, row->how, sizeof(b.how));
	return b;
}

/* Sorted by time, then by class. Parks on java.util.concurrent locks are left out: they are
 * contention. To be freed. */
static struct blocker *blockers_make(const struct section_input *in, enum parking_kind kind,
				     uint32_t *ret_count)
{
	const struct parking *p = analysis_parking(in->analysis);
	struct blocker *all = malloc((p->row_map.count + 1) * sizeof(*all));
	uint32_t count = 0, merged = 0;

	if (!all)
		return NULL;
	for (uint32_t i = 0; i < p->row_map.count; i++) {
		const struct parking_row *row = &p->rows[i];

		if (row->kind != kind ||
		    (kind == PARKING_PARK && lock_is_contended(in->names, row->lock, false)))
			continue;
		all[count++] = blocker_of(row, in->names);
	}
	qsort(all, count, sizeof(*all), compare_classes);
	for (uint32_t i = 0; i < count; i++) {
		if (merged && !strcmp(all[merged - 1].class, all[i].class))
			merge(&all[merged - 1], &all[i]);
		else
			all[merged++] = all[i];
	}
	qsort(all, merged, sizeof(*all), compare_times);
	*ret_count = merged;
	return all;
}

/* A patched JVM reports how they ended. */
static void add_ends(struct findings *f, const struct blocker *b)
{
	if (b->how[PARKING_HOW_NOT_KNOWN] >= b->count)
		return;
	FINDINGS_NUMBERS(f, b->how[PARKING_WOKEN], b->how[PARKING_TIMEOUT],
			 b->how[PARKING_INTERRUPTED], b->how[PARKING_SPURIOUS],
			 b->how[PARKING_HOW_NOT_KNOWN], b->back_ns);
}

static struct findings *make(const struct section_input *in, enum parking_kind kind)
{
	const unsigned if_any = FINDINGS_IF_ANY | FINDINGS_NO_ZERO;
	const struct findings_column columns[] = {
		{.key = "class",
		 .title = kind == PARKING_PARK ? "class of the blocker" : "class of the monitor",
		 .flags = FINDINGS_TAIL,
		 .least = 30,
		 .most = 58},
		{.key = "count", .title = "count", .unit = FINDINGS_COUNT, .least = 9},
		{.key = "total_ns", .title = "total", .unit = FINDINGS_NS},
		FINDINGS_MEAN_OF(-1, -2),
		{.key = "max_ns", .title = "max", .unit = FINDINGS_NS, .flags = FINDINGS_NO_SUM},
		{.key = "open",
		 .title = "not ended",
		 .meaning = "Still parked when the log or the thread ended: not in the total.",
		 .unit = FINDINGS_COUNT,
		 .flags = if_any},
		{.key = "open_ns",
		 .title = "for",
		 .meaning = "How long those that have not ended had been parked.",
		 .unit = FINDINGS_NS,
		 .flags = if_any},
		{.key = "begin_missing",
		 .meaning = "Ends whose begin is not in the log.",
		 .unit = FINDINGS_COUNT},
		{.key = "end_missing",
		 .meaning = "Begins whose end is not in the log.",
		 .unit = FINDINGS_COUNT},
		{.key = "woken", .group = "ended", .unit = FINDINGS_COUNT},
		{.key = "timeout",
		 .title = "timed out",
		 .group = "ended",
		 .unit = FINDINGS_COUNT,
		 .flags = if_any},
		{.key = "interrupted",
		 .title = "interrupted",
		 .group = "ended",
		 .unit = FINDINGS_COUNT,
		 .flags = if_any},
		{.key = "spurious",
		 .meaning = "Ended for no reason.",
		 .group = "ended",
		 .unit = FINDINGS_COUNT},
		{.key = "not_known", .group = "ended", .unit = FINDINGS_COUNT},
		{.key = "back_ns",
		 .meaning = "Of the total, from the unpark until the thread ran.",
		 .group = "ended",
		 .unit = FINDINGS_NS},
	};
	uint32_t count = 0;
	struct blocker *rows = blockers_make(in, kind, &count);
	struct findings *f = rows ? FINDINGS_NEW(columns) : NULL;

	for (uint32_t i = 0; i < count; i++) {
		const struct blocker *b = &rows[i];

		findings_row(f, FINDINGS_ALL);
		findings_text(f, b->class, NULL);
		FINDINGS_NUMBERS(f, b->count, b->total_ns, b->max_ns, b->open, b->open_ns,
				 b->begin_missing, b->end_missing);
		add_ends(f, b);
	}
	free(rows);
	return f;
}

struct findings *section_parking(const struct section_input *in)
{
	return make(in, PARKING_PARK);
}

struct findings *section_waiting(const struct section_input *in)
{
	return make(in, PARKING_WAIT);
}

/* --- pinned ------------------------------------------------------------------------------ */

/* By time; of equal ones by the lock, then by the reason. */
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
