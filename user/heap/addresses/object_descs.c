#include "heap/addresses/object_descs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/tables/array.h"
#include "base/tables/hash.h"

#define BUCKET_BITS_MIN 6

void object_descs_free(struct object_descs *d)
{
	free(d->rows);
	free(d->buckets);
	free(d->recent);
	*d = (struct object_descs){0};
}

static uint32_t bucket_of(const struct object_descs *d, const struct object_desc *row)
{
	uint32_t hash = hash_end(hash_secret->offset + hash_word(row->kind, 0) +
				 hash_word((uint64_t)row->length << 32 | row->units, 1));

	return hash >> (32 - d->bucket_bits);
}

static void link_row(struct object_descs *d, uint32_t i)
{
	uint32_t *bucket = &d->buckets[bucket_of(d, &d->rows[i])];

	d->rows[i].next = *bucket;
	*bucket = 1 + i;
}

static int buckets_grow(struct object_descs *d)
{
	uint32_t bits = d->bucket_bits ? d->bucket_bits + 1 : BUCKET_BITS_MIN;
	uint32_t *buckets = calloc(1ull << bits, sizeof(*buckets));

	if (!buckets)
		return -ENOMEM;
	free(d->buckets);
	d->buckets = buckets;
	d->bucket_bits = bits;
	for (uint32_t i = 0; i < d->count; i++)
		if (d->rows[i].live)
			link_row(d, i);
	return 0;
}

/* A row that is not used, of which next is not a free one any more. */
static int row_get(struct object_descs *d, uint32_t *ret)
{
	if (d->free) {
		*ret = d->free - 1;
		d->free = d->rows[*ret].next;
		return 0;
	}
	if (d->count == OBJECT_DESCS_MAX ||
	    array_grow(&d->rows, &d->capacity, d->count, sizeof(*d->rows)))
		return -ENOMEM;
	if ((!d->bucket_bits || d->count >> d->bucket_bits) && buckets_grow(d))
		return -ENOMEM;
	*ret = d->count++;
	return 0;
}

static bool is_same(const struct object_desc *a, const struct object_desc *b)
{
	return a->kind == b->kind && a->length == b->length && a->units == b->units;
}

int object_descs_take(struct object_descs *d, uint32_t kind, uint32_t length, uint32_t units,
		      uint32_t *ret)
{
	const struct object_desc sought = {.kind = kind, .length = length, .units = units};
	uint32_t i;

	/* All objects of a kind that is no array have the same description. */
	if (kind >= d->recent_capacity &&
	    array_extend(&d->recent, &d->recent_capacity, kind, sizeof(*d->recent)))
		return -ENOMEM;
	i = d->recent[kind];
	if (i && d->rows[i - 1].live && is_same(&d->rows[i - 1], &sought)) {
		*ret = i - 1;
		d->rows[i - 1].live++;
		return 0;
	}
	for (i = d->bucket_bits ? d->buckets[bucket_of(d, &sought)] : 0; i; i = d->rows[i - 1].next)
		if (is_same(&d->rows[i - 1], &sought))
			break;
	if (i) {
		d->recent[kind] = i;
		*ret = i - 1;
		d->rows[i - 1].live++;
		return 0;
	}
	if (row_get(d, &i))
		return -ENOMEM;
	d->rows[i] = sought;
	d->rows[i].live = 1;
	link_row(d, i);
	d->recent[kind] = 1 + i;
	*ret = i;
	return 0;
}

void object_descs_give(struct object_descs *d, uint32_t desc)
{
	struct object_desc *row = &d->rows[desc];
	uint32_t *at;

	if (--row->live)
		return;
	for (at = &d->buckets[bucket_of(d, row)]; *at != 1 + desc; at = &d->rows[*at - 1].next)
		;
	*at = row->next;
	row->next = d->free;
	d->free = 1 + desc;
}
