#include "report/web/page_kinds.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/groups/facets.h"
#include "analyze/stacks/stacks.h"
#include "base/text/print.h"
#include "report/model/label.h"
#include "report/model/report.h"
#include "report/model/sections/sections.h"
#include "report/web/page_cells.h"

/* What defines a kind: each has a table of the page's. */
enum kind_by { KIND_BY_THREAD, KIND_BY_WAITER_CHAIN, KIND_BY_OWNER_CHAIN, KIND_BY_CELL };

static const struct {
	enum aspect_id aspect;
	enum kind_by by;
} kinds[] = {
	{ASPECT_WAITER_POOL, KIND_BY_THREAD},
	{ASPECT_OWNER_POOL, KIND_BY_THREAD},
	{ASPECT_WAITER_CLASS, KIND_BY_WAITER_CHAIN},
	{ASPECT_OWNER_CLASS, KIND_BY_OWNER_CHAIN},
	{ASPECT_WAITER_PACKAGE, KIND_BY_WAITER_CHAIN},
	{ASPECT_OWNER_PACKAGE, KIND_BY_OWNER_CHAIN},
	{ASPECT_OWNER_STATE, KIND_BY_CELL},
	{ASPECT_OWNER_SOURCE, KIND_BY_CELL},
	{ASPECT_AFTER_WAIT, KIND_BY_CELL},
	{ASPECT_DURATION, KIND_BY_CELL},
	{ASPECT_IN_GC, KIND_BY_CELL},
	{ASPECT_SPAN, KIND_BY_CELL},
};

bool page_has_aspect(const struct report_input *in, enum aspect_id aspect)
{
	return aspect != ASPECT_WINDOW && (in->facets || !aspect_get(aspect)->facets);
}

/* One of a list. */
static void entry_write(FILE *out, uint32_t index, uint64_t n)
{
	if (index)
		putc(',', out);
	fprintf(out, "%" PRIu64, n);
}

static uint32_t row_count(const struct page_kinds *k, enum kind_by by)
{
	return by == KIND_BY_CELL     ? k->p->cell_count
	       : by == KIND_BY_THREAD ? k->p->threads.count
				      : k->p->chain_keys.count;
}

/* A cell that has what defines the kind of a row. */
static struct cell like_row(const struct page_kinds *k, enum kind_by by, uint32_t row)
{
	const struct page_cells *p = k->p;
	struct cell cell = {.lock = 0};

	if (by == KIND_BY_THREAD) {
		cell.waiter = cell.holder = p->threads.keys[row].a;
	} else if (by == KIND_BY_CELL) {
		cell.facets = p->cells[row].facets;
		cell.holder = p->threads.keys[p->cells[row].holder].a;
		cell.numbered = p->cells[row].sum.numbered;
		cell.after_wait = p->cells[row].sum.after_wait;
	} else {
		cell.holder = p->chains[row].number == HOLDER_HAND_OVER ? HOLDER_HAND_OVER : 1;
		cell.waiter_stack = cell.holder_stack = p->chains[row].stack;
		if (p->chains[row].waiter_method == STACKS_METHOD_OTHERS)
			cell.waiter_stack = cell.holder_stack = STACK_OTHERS;
	}
	return cell;
}

struct ranked {
	uint64_t key;
	uint32_t index;
};

static int compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static int ranks_write(const struct keymap *keys, FILE *out)
{
	struct ranked *rows = malloc((keys->count + 1ul) * sizeof(*rows));
	uint32_t *ranks = malloc((keys->count + 1ul) * sizeof(*ranks));

	if (!rows || !ranks) {
		free(rows);
		free(ranks);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < keys->count; i++)
		rows[i] = (struct ranked){keys->keys[i].a, i};
	qsort(rows, keys->count, sizeof(*rows), compare);
	for (uint32_t i = 0; i < keys->count; i++)
		ranks[rows[i].index] = i;
	for (uint32_t i = 0; i < keys->count; i++)
		entry_write(out, i, ranks[i]);
	free(rows);
	free(ranks);
	return 0;
}

static int kind_write(const struct page_kinds *k, enum aspect_id aspect, enum kind_by by, FILE *out)
{
	const struct aspect *a = aspect_get(aspect);
	uint32_t rows = row_count(k, by), index, *first = NULL, first_capacity = 0;
	struct keymap keys = {0};
	char label[LABEL_MAX];
	int err = 0;

	print_json(out, "%s:{\"of\":[", a->name);
	for (uint32_t i = 0; i < rows && !err; i++) {
		const struct cell cell = like_row(k, by, i);
		uint32_t before = keys.count;

		err = keymap_add_row(&keys, (struct keymap_key){.a = a->key(k->s->stacks, &cell)},
				     &first, &first_capacity, sizeof(*first), &index);
		if (!err && keys.count > before)
			first[index] = i;
		entry_write(out, i, index);
	}
	fputs("],\"texts\":[", out);
	for (uint32_t i = 0; i < keys.count && !err; i++) {
		const struct cell cell = like_row(k, by, first[i]);
		const struct group group = {.aspect = aspect, .cell = &cell};

		if (i)
			putc(',', out);
		print_json_string(out, label_group(k->s->labels, k->s->stacks, &group, label));
	}
	fputs("],\"ranks\":[", out);
	err = err ? err : ranks_write(&keys, out);
	fputs("]}", out);
	keymap_free(&keys);
	free(first);
	return err;
}

int page_kinds_write(const struct page_kinds *k, FILE *out)
{
	int err = stacks_fill_kinds(k->s->stacks);
	unsigned n = 0;

	fputs(",\"kinds\":{", out);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && !err; i++) {
		if (!page_has_aspect(k->s->in, kinds[i].aspect))
			continue;
		if (n++)
			putc(',', out);
		err = kind_write(k, kinds[i].aspect, kinds[i].by, out);
	}
	putc('}', out);
	return err;
}

int page_lengths_write(const struct page_cells *p, FILE *out)
{
	struct length_index x;
	int err = length_index_make(&p->lengths, p->cell_count, &x);
	uint32_t count;

	if (err)
		return err;
	count = x.first[p->cell_count + 1];
	fprintf(out, ",\"lengths\":{\"shift\":%u,\"rows\":[", x.shift);
	for (uint32_t i = 0; i < p->cell_count; i++)
		entry_write(out, i, x.first[i + 2] - x.first[i + 1]);
	fputs("],\"steps\":[", out);
	for (uint32_t i = 0; i < count; i++)
		entry_write(out, i, length_step(&x.rows[i]));
	fputs("],\"counts\":[", out);
	for (uint32_t i = 0; i < count; i++)
		entry_write(out, i, x.rows[i].count);
	fputs("]}", out);
	length_index_free(&x);
	return 0;
}
