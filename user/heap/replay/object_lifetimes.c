/*
 * Most objects die at the first collection after their birth: a row per collection and kind stands
 * for millions of objects. So all questions on any interval are sums over rows, and none needs the
 * log again.
 */
#include "heap/replay/object_lifetimes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KIND_OTHERS 0

void object_lifetimes_free(struct object_lifetimes *l)
{
	keymap_free(&l->open);
	free(l->rows);
	free(l->open_rows);
	free(l->recent);
	free(l->folded);
	*l = (struct object_lifetimes){.rows_max = l->rows_max};
}

static bool is_folded(const struct object_lifetimes *l, uint32_t kind)
{
	return kind < l->folded_count && l->folded[kind];
}

/* Most objects of a kind that a collection finds dead were born in the same phase: the table is
 * asked for the others. */
static int row_get(struct object_lifetimes *l, uint32_t kind, uint32_t birth, uint32_t *ret)
{
	struct keymap_key key = {.a = kind, .b = 1 + (uint64_t)birth};
	uint32_t i;

	if (kind >= l->recent_capacity &&
	    array_extend(&l->recent, &l->recent_capacity, kind, sizeof(*l->recent)))
		return -ENOMEM;
	i = l->recent[kind];
	if (i && i <= l->open.count && l->open_rows[i - 1].kind == kind &&
	    l->open_rows[i - 1].birth == birth) {
		*ret = i - 1;
		return 0;
	}
	if (keymap_add_row(&l->open, key, &l->open_rows, &l->open_capacity, sizeof(*l->open_rows),
			   ret))
		return -ENOMEM;
	l->recent[kind] = 1 + *ret;
	return 0;
}

int object_lifetimes_add(struct object_lifetimes *l, uint32_t kind, uint32_t birth, uint64_t bytes)
{
	struct object_lifetime *row = l->last ? &l->open_rows[l->last - 1] : NULL;
	uint32_t i;

	if (is_folded(l, kind))
		kind = KIND_OTHERS;
	if (!row || row->kind != kind || row->birth != birth) {
		if (row_get(l, kind, birth, &i))
			return -ENOMEM;
		l->last = 1 + i;
		row = &l->open_rows[i];
		row->kind = kind;
		row->birth = birth;
	}
	row->objects++;
	row->bytes += bytes;
	return 0;
}

/* --- too many rows ------------------------------------------------------------------------ */

struct kind_bytes {
	uint64_t bytes;
	uint32_t kind;
};

static int compare_bytes(const void *a, const void *b)
{
	const struct kind_bytes *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

/* The half of all kinds that has fewer bytes becomes others. 0 or -ENOMEM. */
static int choose_folded(struct object_lifetimes *l)
{
	struct kind_bytes *kinds;
	uint32_t count = 1, live = 0;
	uint8_t *folded;

	for (uint32_t i = 0; i < l->count; i++)
		if (l->rows[i].kind >= count)
			count = l->rows[i].kind + 1;
	count = count > l->folded_count ? count : l->folded_count;
	folded = realloc(l->folded, count);
	if (!folded)
		return -ENOMEM;
	l->folded = folded;
	kinds = calloc(count, sizeof(*kinds));
	if (!kinds)
		return -ENOMEM;
	memset(folded + l->folded_count, 0, count - l->folded_count);
	l->folded_count = count;
	for (uint32_t i = 0; i < count; i++)
		kinds[i].kind = i;
	for (uint32_t i = 0; i < l->count; i++)
		kinds[l->rows[i].kind].bytes += l->rows[i].bytes;
	qsort(kinds, count, sizeof(*kinds), compare_bytes);
	for (uint32_t i = 0; i < count; i++)
		live += kinds[i].bytes && kinds[i].kind != KIND_OTHERS;
	live = (live + 1) / 2;
	for (uint32_t i = 0; i < count && live; i++) {
		if (!kinds[i].bytes || kinds[i].kind == KIND_OTHERS)
			continue;
		folded[kinds[i].kind] = 1;
		l->folded_kinds++;
		live--;
	}
	free(kinds);
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct object_lifetime *x = a, *y = b;

	if (x->death != y->death)
		return x->death < y->death ? -1 : 1;
	if (x->birth != y->birth)
		return x->birth < y->birth ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Rows of the same kind, birth and death are one. */
static void merge_rows(struct object_lifetimes *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->count; i++)
		if (is_folded(l, l->rows[i].kind))
			l->rows[i].kind = KIND_OTHERS;
	qsort(l->rows, l->count, sizeof(*l->rows), compare_rows);
	for (uint32_t i = 1; i < l->count; i++) {
		if (compare_rows(&l->rows[n], &l->rows[i]) != 0) {
			l->rows[++n] = l->rows[i];
			continue;
		}
		l->rows[n].objects += l->rows[i].objects;
		l->rows[n].bytes += l->rows[i].bytes;
	}
	l->count = l->count ? n + 1 : 0;
}

/* Until half of the rows are free, or nothing is left to put together. */
static int fold(struct object_lifetimes *l)
{
	uint32_t before;
	int err = 0;

	do {
		before = l->folded_kinds;
		err = choose_folded(l);
		if (!err)
			merge_rows(l);
	} while (!err && l->count > l->rows_max / 2 && l->folded_kinds > before);
	if (l->count > l->rows_max / 2 && l->rows_max < UINT32_MAX / 4)
		l->rows_max *= 2; /* births and deaths alone are too many */
	return err;
}

int object_lifetimes_close(struct object_lifetimes *l, uint32_t death)
{
	int err = 0;

	for (uint32_t i = 0; i < l->open.count && !err; i++) {
		err = array_grow(&l->rows, &l->capacity, l->count, sizeof(*l->rows));
		if (err)
			break;
		l->rows[l->count] = l->open_rows[i];
		l->rows[l->count++].death = death;
	}
	if (!err && l->open.count)
		memset(l->open_rows, 0, l->open.count * sizeof(*l->open_rows));
	keymap_clear(&l->open);
	l->last = 0;
	return !err && l->count > l->rows_max ? fold(l) : err;
}

enum lifetime_class object_lifetime_class(const struct object_lifetime *l, uint32_t from,
					  uint32_t to)
{
	if (l->birth >= to || l->death <= from)
		return LIFETIME_OUTSIDE;
	if (l->birth < from)
		return l->death > to ? LIFETIME_PERMANENT : LIFETIME_DIED;
	return l->death > to ? LIFETIME_BORN : LIFETIME_TEMPORARY;
}
