#include "analyze/cells/blocked_list.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/cells/cell_windows.h"

void blocked_list_free(struct blocked_list *l)
{
	keymap_free(&l->keys);
	free(l->parts);
	free(l->rows);
	*l = (struct blocked_list){0};
}

void blocked_list_part(void *list, const struct cell_part *part)
{
	struct blocked_list *l = list;
	uint64_t ns = part->to_ns - part->from_ns;
	uint32_t cell;

	if (l->err || part->to_ns <= part->from_ns)
		return;
	l->err = keymap_add(&l->keys, cell_windows_key(&part->key), &cell);
	if (!l->err)
		l->err =
			array_grow(&l->parts, &l->parts_capacity, l->part_count, sizeof(*l->parts));
	if (!l->err)
		l->parts[l->part_count++] = (struct blocked_part){cell, ns};
}

static uint64_t holder_of(const struct blocked_list *l, uint64_t part)
{
	return cell_windows_cell(&l->keys.keys[l->parts[part].cell]).holder;
}

/* Parts of one holder come one after the other, as those of one call chain do. */
static uint32_t most_of(const struct blocked_list *l, const struct blocked_interval *row)
{
	uint64_t end = row->part + row->part_count, most_ns = 0, i, next;
	uint32_t most = INDEX_NONE;

	for (i = row->part; i < end; i = next) {
		uint64_t holder = holder_of(l, i), ns = 0, best = i;

		for (next = i; next < end && holder_of(l, next) == holder; next++) {
			ns += l->parts[next].ns;
			if (l->parts[next].ns > l->parts[best].ns)
				best = next;
		}
		if (!holder_is_thread(holder) || ns <= most_ns)
			continue;
		most_ns = ns;
		most = (uint32_t)(best - row->part);
	}
	return most;
}

void blocked_list_interval(void *list, const struct cell_interval *interval)
{
	struct blocked_list *l = list;
	struct blocked_interval row = {.key = interval->key,
				       .since_ns = interval->since_ns,
				       .until_ns = interval->until_ns,
				       .last = interval->last,
				       .monitor = interval->monitor};

	if (l->count) {
		const struct blocked_interval *before = &l->rows[l->count - 1];

		row.part = before->part + before->part_count;
	}
	row.part_count = (uint32_t)(l->part_count - row.part);
	if (!l->err)
		l->err = array_grow(&l->rows, &l->capacity, l->count, sizeof(*l->rows));
	if (l->err)
		return;
	row.most = most_of(l, &row);
	l->rows[l->count++] = row;
}

struct by_lock {
	uint64_t lock, ns;
	uint32_t row;
};

static int compare(const void *a, const void *b)
{
	const struct by_lock *x = a, *y = b;

	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

int blocked_list_others(const struct blocked_list *l, uint32_t *counts)
{
	struct by_lock *begins = malloc((l->count + 1ul) * sizeof(*begins));
	struct by_lock *ends = malloc((l->count + 1ul) * sizeof(*ends));
	uint32_t end = 0, end_count = 0, begun = 0, ended = 0;
	int err = begins && ends ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < l->count && !err; i++) {
		begins[i] = (struct by_lock){l->rows[i].key.lock, l->rows[i].since_ns, i};
		if (l->rows[i].until_ns > l->rows[i].since_ns)
			ends[end_count++] =
				(struct by_lock){l->rows[i].key.lock, l->rows[i].until_ns, i};
	}
	if (!err) {
		qsort(begins, l->count, sizeof(*begins), compare);
		qsort(ends, end_count, sizeof(*ends), compare);
	}
	/* Nobody is seen to wait in one that was over at once. */
	for (uint32_t i = 0; i < l->count && !err; i++) {
		const struct by_lock *b = &begins[i];

		if (i && b->lock != begins[i - 1].lock)
			begun = ended = 0;
		for (; end < end_count && (ends[end].lock < b->lock ||
					   (ends[end].lock == b->lock && ends[end].ns <= b->ns));
		     end++)
			ended += ends[end].lock == b->lock;
		counts[b->row] = begun - ended;
		begun += l->rows[b->row].until_ns > b->ns;
	}
	free(begins);
	free(ends);
	return err;
}
