#include "report/live/live_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/print.h"
#include "report/live/live_cells.h"
#include "report/model/label.h"

/* The groups that are rows: those of a lock, or pairs of methods, which are two levels deep. */
struct rows {
	struct group root;
	struct row {
		const struct group *waiter, *group; /* waiter: of holders, the group above */
	} * list;
	uint32_t count;
	enum live_pane pane;
};

static int by_rank(const void *a, const void *b, void *order)
{
	const struct row *x = a, *y = b;
	uint64_t of_x = group_rank(x->group, *(enum group_order *)order);
	uint64_t of_y = group_rank(y->group, *(enum group_order *)order);

	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	return (x->group > y->group) - (x->group < y->group);
}

static void fill(struct rows *r)
{
	for (uint32_t i = 0; i < r->root.group_count; i++) {
		const struct group *g = &r->root.groups[i];

		if (r->pane == LIVE_LOCKS) {
			r->list[r->count++] = (struct row){NULL, g};
			continue;
		}
		for (uint32_t k = 0; k < g->group_count; k++)
			r->list[r->count++] = (struct row){g, &g->groups[k]};
	}
}

static uint32_t rows_needed(const struct rows *r)
{
	uint32_t count = 1;

	for (uint32_t i = 0; i < r->root.group_count; i++)
		count += r->pane == LIVE_LOCKS ? 1 : r->root.groups[i].group_count;
	return count;
}

static int rows_make(const struct section_input *in, enum live_pane pane, struct rows *ret)
{
	static const enum aspect_id locks[] = {ASPECT_LOCK, ASPECT_WAITER_METHOD,
					       ASPECT_OWNER_METHOD};
	static const enum aspect_id pairs[] = {ASPECT_WAITER_METHOD, ASPECT_OWNER_METHOD};
	enum group_order order = in->in->order;
	int err;

	*ret = (struct rows){.pane = pane};
	err = pane == LIVE_LOCKS ? report_groups(in->in, locks, 3, &ret->root)
				 : report_groups(in->in, pairs, 2, &ret->root);
	if (err)
		return err;
	ret->list = calloc(rows_needed(ret), sizeof(*ret->list));
	if (!ret->list) {
		groups_free(&ret->root);
		return -ENOMEM;
	}
	fill(ret);
	if (pane == LIVE_HOLDERS)
		qsort_r(ret->list, ret->count, sizeof(*ret->list), by_rank, &order);
	return 0;
}

static void rows_free(struct rows *r)
{
	free(r->list);
	groups_free(&r->root);
}

static const char *group_label(const struct section_input *in, const struct group *g,
			       char buf[LABEL_MAX])
{
	return g ? label_group(in->labels, in->stacks, g, buf) : "";
}

/* Of a lock, those with most of its time. */
static void methods(const struct rows *r, const struct row *row, const struct group **ret_waiter,
		    const struct group **ret_holder)
{
	*ret_waiter = row->waiter;
	*ret_holder = row->group;
	if (r->pane == LIVE_HOLDERS)
		return;
	*ret_waiter = row->group->group_count ? &row->group->groups[0] : NULL;
	*ret_holder = *ret_waiter && (*ret_waiter)->group_count ? &(*ret_waiter)->groups[0] : NULL;
}

static bool is_same(const struct section_input *in, const struct group *g, const struct cell *c)
{
	const struct aspect *a;

	if (!g)
		return true;
	a = aspect_get(g->aspect);
	return a->key(in->stacks, g->cell) == a->key(in->stacks, c);
}

/* Contentions of a row that are open at the interval's end. */
static uint64_t waiting(const struct section_input *in, const struct row *row)
{
	uint64_t waiters = 0;
	uint32_t count;
	const struct cell *cells = report_cells(in->in, &count);

	while (count-- && live_cell_is_open(&cells[count]))
		waiters += lock_is_contended(in->names, cells[count].lock, cells[count].monitor) &&
			   is_same(in, row->waiter, &cells[count]) &&
			   is_same(in, row->group, &cells[count]);
	return waiters;
}

static void add_row(const struct section_input *in, const struct rows *r, const struct row *row,
		    struct findings *f)
{
	const struct group *g = row->group, *waiter, *holder;
	char text[LABEL_MAX];

	methods(r, row, &waiter, &holder);
	findings_row(f, FINDINGS_ALL);
	FINDINGS_NUMBERS(f, g->blocked_ns, g->count);
	for (unsigned i = 0; i < LENGTH_QUANTILES; i++)
		findings_maybe(f, g->count, g->quantile_ns[i]);
	FINDINGS_NUMBERS(f, g->max_ns, g->idle_ns, waiting(in, row));
	if (r->pane == LIVE_LOCKS)
		findings_text(f, group_label(in, g, text), NULL);
	findings_text(f, group_label(in, waiter, text), NULL);
	findings_text(f, group_label(in, holder, text), NULL);
}

#define FIGURES 10 /* columns */
#define TEXT_LEAST 10
#define TEXT_MOST 40

/* What the figures leave of the screen is shared out among the texts. */
static unsigned text_most(unsigned width, unsigned texts)
{
	unsigned figures = live_rows_view(width) == LIVE_ROWS_WIDE ? 72 : 34;
	unsigned each = width > figures ? (width - figures) / texts - 2 : TEXT_LEAST;

	if (!width)
		return TEXT_MOST;
	return each < TEXT_LEAST ? TEXT_LEAST : each;
}

/* A group's label is harmless on a terminal already, and that is what all readers get. */
struct findings *live_rows_table(const struct section_input *in, enum live_pane pane,
				 unsigned width)
{
	unsigned texts = pane == LIVE_LOCKS ? 3 : 2, most = text_most(width, texts);
	const struct findings_column columns[] = {
		{.key = "blocked_ns", .title = "blocked", .unit = FINDINGS_NS},
		{.title = "share",
		 .unit = FINDINGS_NS,
		 .show = FINDINGS_SHARE,
		 .of = -1,
		 .views = LIVE_ROWS_WIDE},
		{.key = "count", .title = "times", .unit = FINDINGS_COUNT, .least = 6},
		{.key = "p50_ns",
		 .title = "p50",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_NO_SUM,
		 .views = LIVE_ROWS_WIDE},
		{.key = "p90_ns", .unit = FINDINGS_NS, .flags = FINDINGS_NO_SUM},
		{.key = "p99_ns",
		 .title = "p99",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_NO_SUM,
		 .views = LIVE_ROWS_WIDE},
		{.key = "p999_ns", .unit = FINDINGS_NS, .flags = FINDINGS_NO_SUM},
		{.key = "max_ns",
		 .title = "longest",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_NO_SUM,
		 .views = LIVE_ROWS_WIDE},
		{.key = "idle_ns", .title = "idle", .unit = FINDINGS_NS, .flags = FINDINGS_IF_ANY},
		{.key = "waiting",
		 .title = "now",
		 .unit = FINDINGS_COUNT,
		 .flags = FINDINGS_IF_ANY},
		{.key = "lock", .title = "lock", .most = most},
		{.key = "waiter_method", .title = "waits in", .most = most, .flags = FINDINGS_TAIL},
		{.key = "owner_method", .title = "held in", .most = most, .flags = FINDINGS_TAIL},
	};
	struct findings_column shown[sizeof(columns) / sizeof(*columns)];
	struct findings *f;
	struct rows r;

	if (rows_make(in, pane, &r))
		return NULL;
	memcpy(shown, columns, sizeof(columns));
	if (pane == LIVE_HOLDERS)
		memcpy(shown + FIGURES, columns + FIGURES + 1, 2 * sizeof(*columns));
	f = findings_new(shown, FIGURES + texts);
	for (uint32_t i = 0; i < r.count && f; i++)
		add_row(in, &r, &r.list[i], f);
	rows_free(&r);
	return f;
}

/* --- which row --- */

static void key_of(const struct section_input *in, const struct row *row, char ret[LIVE_KEY_MAX])
{
	char waiter[LABEL_MAX], group[LABEL_MAX];

	print_buffer(ret, LIVE_KEY_MAX, "%s%s%s", group_label(in, row->waiter, waiter),
		     row->waiter ? " <- " : "", group_label(in, row->group, group));
}

bool live_rows_key(const struct section_input *in, enum live_pane pane, uint32_t row,
		   char ret[LIVE_KEY_MAX])
{
	struct rows r;
	bool found;

	if (rows_make(in, pane, &r))
		return false;
	found = row < r.count;
	if (found)
		key_of(in, &r.list[row], ret);
	rows_free(&r);
	return found;
}

static int copy_cells(const struct section_input *in, const struct row *row, struct cell **ret,
		      uint32_t *ret_count)
{
	const struct cell *cells;
	uint32_t count, n = 0;
	struct cell *chosen;

	cells = report_cells(in->in, &count);
	chosen = calloc((size_t)count + 1, sizeof(*chosen));
	if (!chosen)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		if (is_same(in, row->waiter, &cells[i]) && is_same(in, row->group, &cells[i]))
			chosen[n++] = cells[i];
	*ret = chosen;
	*ret_count = n;
	return 0;
}

int live_rows_cells(const struct section_input *in, enum live_pane pane, const char *key,
		    struct cell **ret, uint32_t *ret_count)
{
	char of_row[LIVE_KEY_MAX];
	struct rows r;
	int err = rows_make(in, pane, &r);

	if (err)
		return err;
	err = -ENOENT;
	for (uint32_t i = 0; i < r.count && err == -ENOENT; i++) {
		key_of(in, &r.list[i], of_row);
		if (!strcmp(of_row, key))
			err = copy_cells(in, &r.list[i], ret, ret_count);
	}
	rows_free(&r);
	return err;
}
