#include <errno.h>
#include <stdlib.h>

#include "analyze/cells/cells.h"
#include "analyze/cells/lengths.h"
#include "analyze/groups/groups.h"
#include "report/csv/findings_csv.h"
#include "report/model/report.h"
#include "report/model/sections/by_section.h"

/* What a cell says of both sides, the coarse before the fine. Aspects for which cells would have to
 * be cut are not among these. */
static const enum aspect_id of_cell[] = {
	ASPECT_GROUP,         ASPECT_LOCK_CLASS,    ASPECT_LOCK,         ASPECT_WAITER_POOL,
	ASPECT_WAITER_THREAD, ASPECT_WAITER_PACKAGE, ASPECT_WAITER_CLASS, ASPECT_WAITER_METHOD,
	ASPECT_WAITER_STACK,  ASPECT_OWNER_SOURCE,  ASPECT_OWNER_POOL,   ASPECT_OWNER_THREAD,
	ASPECT_OWNER_PACKAGE, ASPECT_OWNER_CLASS,   ASPECT_OWNER_METHOD, ASPECT_OWNER_STACK,
	ASPECT_BEHIND,        ASPECT_AFTER_WAIT,
};

#define OF_CELL (sizeof(of_cell) / sizeof(*of_cell))

struct writer {
	struct by_section by;
	struct findings *row;
	struct length_index index;
	struct length_sums *sums;
	FILE *out;
};

static int cell_write(struct writer *w, const struct cell *cell)
{
	const struct groups_input in = {
		.stacks = w->by.section.stacks, .cells = cell, .cell_count = 1};
	const struct group *path[OF_CELL];
	struct group groups[OF_CELL], root;
	int err = groups_sum(&in, &root);

	if (err)
		return err;
	/* Mere parking has no sums. */
	if (root.count || root.blocked_ns) {
		root.parent_ns = w->by.root.blocked_ns;
		if (cell->count) {
			length_sums_add(w->sums, &w->index, cell->number);
			length_sums_take(w->sums, w->index.shift, cell->max_ns, root.quantile_ns);
		}
		for (size_t i = 0; i < OF_CELL; i++) {
			groups[i] = root;
			groups[i].aspect = of_cell[i];
			groups[i].cell = cell;
			path[i] = &groups[i];
		}
		findings_clear(w->row);
		by_section_path(&w->by, path, w->row);
		err = findings_to_csv(w->row, false, w->out);
	}
	groups_free(&root);
	return err;
}

/* What the aspects need of the log, as groups of no cell. */
static int aspects_make(const struct writer *w)
{
	const struct groups_input none = {
		.stacks = w->by.section.stacks, .by = of_cell, .depth = OF_CELL};
	struct group root;
	int err = groups_sum(&none, &root);

	if (!err)
		groups_free(&root);
	return err;
}

static int cells_write(struct writer *w, const struct report_input *in)
{
	uint32_t count, numbers = 0;
	const struct cell *cells = report_cells(in, &count);
	int err;

	for (uint32_t i = 0; i < count; i++)
		numbers = cells[i].number > numbers ? cells[i].number : numbers;
	err = length_index_make(report_lengths(in), numbers, &w->index);
	err = err ?: aspects_make(w);
	err = err ?: findings_to_csv(w->row, true, w->out);
	for (uint32_t i = 0; i < count && !err && !ferror(w->out); i++)
		err = cell_write(w, &cells[i]);
	return err;
}

int report_cells_csv(const struct report_input *in, FILE *out)
{
	struct writer w = {.out = out};
	int err = by_section_open(in, of_cell, 0, &w.by);

	if (err)
		return err;
	w.by.depth = OF_CELL;
	w.row = by_section_paths(&w.by);
	w.sums = calloc(1, sizeof(*w.sums));
	err = w.row && w.sums ? cells_write(&w, in) : -ENOMEM;
	free(w.sums);
	length_index_free(&w.index);
	findings_free(w.row);
	by_section_close(&w.by);
	return err;
}
