/*
 * Threads fill the heap by buffers of their own: in a page the objects come in ascending runs. They
 * are appended, and sorted when a collection begins to look for some.
 */
#include "heap/addresses/object_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GROW_MIN 14

static uint64_t block_bytes(uint32_t capacity)
{
	return (uint64_t)capacity * OBJECT_ENTRY_BYTES;
}

/* To another capacity; count fits in. 0 or -ENOMEM. */
static int page_resize(struct object_heap *h, struct object_page *p, uint32_t capacity)
{
	struct object_page old = *p;
	uint64_t more = block_bytes(capacity) - block_bytes(old.capacity);
	uint32_t *block;

	if (capacity > old.capacity && h->bytes + more > h->bytes_max)
		return -ENOMEM;
	block = malloc(block_bytes(capacity));
	if (!block)
		return -ENOMEM;
	p->block = block;
	p->capacity = (uint16_t)capacity;
	if (old.count) {
		memcpy(block, old.block, old.count * sizeof(*block));
		memcpy(object_page_births(p), object_page_births(&old), old.count * sizeof(*block));
		memcpy(object_page_offsets(p), object_page_offsets(&old),
		       old.count * sizeof(uint16_t));
	}
	free(old.block);
	h->bytes += more;
	if (h->bytes > h->bytes_most)
		h->bytes_most = h->bytes;
	return 0;
}

void object_page_drop(struct object_heap *h, uint32_t desc)
{
	h->count--;
	h->live_units -= h->descs.rows[desc].units;
	object_descs_give(&h->descs, desc);
}

int object_page_push(struct object_heap *h, struct object_page *p, uint32_t at,
		     struct object_entry entry)
{
	uint32_t capacity = p->capacity + p->capacity / 8u + GROW_MIN;

	if (p->count >= OBJECT_PAGE_UNITS_MAX)
		object_page_sort(h, p);
	if (p->count == p->capacity &&
	    page_resize(h, p,
			capacity < OBJECT_PAGE_UNITS_MAX + 1 ? capacity
							     : OBJECT_PAGE_UNITS_MAX + 1))
		return -ENOMEM;
	if (p->count && at <= object_page_offsets(p)[p->count - 1])
		p->unsorted = true;
	p->block[p->count] = entry.desc << OBJECT_AGE_BITS | entry.age;
	object_page_births(p)[p->count] = entry.birth;
	object_page_offsets(p)[p->count] = (uint16_t)at;
	p->count++;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void object_page_sort(struct object_heap *h, struct object_page *p)
{
	uint32_t *keys = (uint32_t *)h->scratch, *desc = keys + p->count, n = 0;
	uint32_t *birth = desc + p->count;
	uint16_t *offset = (uint16_t *)(birth + p->count);

	if (!p->unsorted)
		return;
	h->sorted += p->count;
	for (uint32_t i = 0; i < p->count; i++)
		keys[i] = (uint32_t)object_page_offsets(p)[i] << 16 | i;
	qsort(keys, p->count, sizeof(*keys), compare);
	memcpy(desc, p->block, p->count * sizeof(*desc));
	memcpy(birth, object_page_births(p), p->count * sizeof(*birth));
	memcpy(offset, object_page_offsets(p), p->count * sizeof(*offset));
	for (uint32_t i = 0; i < p->count; i++) {
		uint32_t from = keys[i] & 0xffff;

		if (i + 1 < p->count && keys[i] >> 16 == keys[i + 1] >> 16) {
			h->over++;
			object_page_drop(h, desc[from] >> OBJECT_AGE_BITS);
			continue;
		}
		p->block[n] = desc[from];
		object_page_births(p)[n] = birth[from];
		object_page_offsets(p)[n++] = offset[from];
	}
	p->count = (uint16_t)n;
	p->unsorted = false;
}

uint32_t object_page_from(const struct object_page *p, uint32_t at)
{
	const uint16_t *offsets = p->count ? object_page_offsets(p) : NULL;
	uint32_t low = 0, high = p->count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (offsets[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int object_page_trim(struct object_heap *h, struct object_page *p)
{
	if (!p->count || p->capacity - p->count <= GROW_MIN / 2)
		return 0;
	return page_resize(h, p, p->count);
}

int object_page_cut(struct object_heap *h, struct object_page *p, uint32_t kept)
{
	p->count = (uint16_t)kept;
	if (kept)
		return object_page_trim(h, p);
	h->bytes -= block_bytes(p->capacity);
	free(p->block);
	*p = (struct object_page){0};
	return 0;
}
