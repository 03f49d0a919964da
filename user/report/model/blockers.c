#include "report/model/blockers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells/groups.h"
#include "report/model/label.h"

static int compare_classes(const void *a, const void *b)
{
	return strcmp(((const struct blocker *)a)->class, ((const struct blocker *)b)->class);
}

static int compare_times(const void *a, const void *b)
{
	const struct blocker *x = a, *y = b;
	uint64_t time_x = x->total_ns + x->open_ns, time_y = y->total_ns + y->open_ns;

	return time_x != time_y ? (time_x < time_y ? 1 : -1) : compare_classes(a, b);
}

static void merge(struct blocker *to, const struct blocker *from)
{
	to->count += from->count;
	to->total_ns += from->total_ns;
	to->max_ns = from->max_ns > to->max_ns ? from->max_ns : to->max_ns;
	to->open += from->open;
	to->open_ns += from->open_ns;
	to->begin_missing += from->begin_missing;
	to->end_missing += from->end_missing;
	to->back_ns += from->back_ns;
	for (int i = 0; i < PARKING_HOW_COUNT; i++)
		to->how[i] += from->how[i];
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

int blockers_make(const struct parking *p, const struct log_names *names, enum parking_kind kind,
		  struct blocker **ret, uint32_t *ret_count)
{
	struct blocker *all = malloc((p->row_places.count + 1) * sizeof(*all));
	uint32_t count = 0, merged = 0;

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->row_places.count; i++) {
		const struct parking_row *row = &p->rows[i];

		if (row->kind != kind ||
		    (kind == PARKING_PARK && lock_is_contended(names, row->lock, false)))
			continue;
		all[count++] = blocker_of(row, names);
	}
	qsort(all, count, sizeof(*all), compare_classes);
	for (uint32_t i = 0; i < count; i++) {
		if (merged && !strcmp(all[merged - 1].class, all[i].class))
			merge(&all[merged - 1], &all[i]);
		else
			all[merged++] = all[i];
	}
	qsort(all, merged, sizeof(*all), compare_times);
	*ret = all;
	*ret_count = merged;
	return 0;
}
