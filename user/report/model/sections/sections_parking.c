/* Parking and Object.wait, summed by the class of what was parked or waited on. */
#include <stdlib.h>
#include <string.h>

#include "analyze/cells/groups.h"
#include "analyze/park/parking.h"
#include "analyze/registry/analysis.h"
#include "base/tables/saturate.h"
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

/* A patched JVM tells how they ended. */
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
