#include "base/print.h"
#include "report/text/text_report.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/registry/analysis.h"
#include "base/format.h"
#include "report/model/phase_tree.h"
#include "report/text/table.h"
#include "report/text/times.h"

static int compare_collections(const void *a, const void *b)
{
	const struct phase_collection *x = *(const struct phase_collection *const *)a,
				      *y = *(const struct phase_collection *const *)b;

	return (y->times.total_ns > x->times.total_ns) - (y->times.total_ns < x->times.total_ns)
		       ?: (x > y) - (x < y);
}

static int print_collections(struct text *t, const struct phases *p)
{
	static const struct table_column columns[] = {
		{"collector", true, 12, 24, false}, {"cause", true, 12, 40, false}, TIMES_COLUMNS};
	uint32_t count = p->collection_places.count;
	const struct phase_collection **rows = malloc((count + 1) * sizeof(*rows));
	struct table *table = table_new(columns, 6);
	char text[LABEL_MAX];
	int err = rows ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < count && rows; i++)
		rows[i] = &p->collections[i];
	if (rows)
		qsort(rows, count, sizeof(*rows), compare_collections);
	for (uint32_t i = 0; i < count && i < t->in->top && rows; i++) {
		table_add(table, "%s", label_string(t->labels, rows[i]->collector, "?", text));
		table_add(table, "%s", label_string(t->labels, rows[i]->cause, "?", text));
		times_add_cells(table, &rows[i]->times);
	}
	if (!err)
		err = table_print(table, 2, t->out);
	if (!err && count > t->in->top)
		print_text(t->out, "  and %u more\n", count - t->in->top);
	table_free(table);
	free(rows);
	return err;
}

/* depth: how many phases these are within. */
static void add_phases(struct text *t, struct table *table, uint32_t parent, unsigned depth)
{
	const struct phases *p = analysis_phases(t->in->log->analysis);
	char text[LABEL_MAX];
	unsigned left_out = 0;

	for (uint32_t i = phase_tree_next(p, parent, PLACE_NONE); i != PLACE_NONE;
	     i = phase_tree_next(p, parent, i)) {
		if (!phase_tree_in_top(p, i, t->in->top)) {
			left_out++;
			continue;
		}
		table_add(table, "%*s%s", 2 * depth, "",
			  label_string(t->labels, p->rows[i].phase, "?", text));
		table_add(table, "%s", phase_kind_name(p->rows[i].kind));
		times_add_cells(table, &p->rows[i].times);
		add_phases(t, table, i, depth + 1);
	}
	if (left_out) {
		table_add(table, "%*sand %u more", 2 * depth, "", left_out);
		table_end_row(table);
	}
}

static int print_phases(struct text *t)
{
	static const struct table_column columns[] = {
		{"phase", true, 40, 56, false}, {"kind", true, 5, 0, false}, TIMES_COLUMNS};
	struct table *table = table_new(columns, 6);
	int err;

	add_phases(t, table, PLACE_NONE, 0);
	err = table_print(table, 2, t->out);
	table_free(table);
	return err;
}

int text_collections(struct text *t)
{
	const struct phases *p = analysis_phases(t->in->log->analysis);
	char count[FORMAT_MAX];
	int err = 0;

	if (p->collection_times.count) {
		text_heading(t, "COLLECTIONS: %s, concurrent cycles from their begin to their end",
			     count_format(p->collection_times.count, count));
		err = print_collections(t, p);
	}
	if (!err && phase_tree_next(p, PLACE_NONE, PLACE_NONE) != PLACE_NONE) {
		text_heading(t, "PHASES OF COLLECTIONS (workers are busy side by side: their times "
				"add up to more)");
		err = print_phases(t);
	}
	if (!err && p->incomplete)
		print_text(t->out, "  %s collections and phases seen in part only: in no sum\n",
			   count_format(p->incomplete, count));
	return err;
}
