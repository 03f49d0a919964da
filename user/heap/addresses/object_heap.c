#include "heap/addresses/object_heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/addresses/object_page.h"

int object_heap_init(struct object_heap *h, uint64_t units, unsigned shift, uint64_t bytes_max)
{
	*h = (struct object_heap){.bytes_max = bytes_max,
				  .page_bits = OBJECT_PAGE_BYTES_BITS - shift,
				  .area_bits = OBJECT_HEAP_AREA_BITS(shift)};
	if (units > OBJECT_HEAP_UNITS_MAX)
		return -EFBIG;
	h->page_count = (units >> h->page_bits) + 1;
	h->pages = calloc(h->page_count, sizeof(*h->pages));
	h->front = calloc(h->page_count, sizeof(*h->front));
	h->ever = calloc((units >> h->area_bits) / 8 + 1, 1);
	h->scratch = malloc(OBJECT_SCRATCH_BYTES);
	if (!h->pages || !h->front || !h->ever || !h->scratch) {
		object_heap_free(h);
		return -ENOMEM;
	}
	h->units = units;
	return 0;
}

void object_heap_free(struct object_heap *h)
{
	for (uint64_t i = 0; i < h->page_count; i++) {
		if (h->pages)
			free(h->pages[i].block);
		if (h->front)
			free(h->front[i].block);
	}
	free(h->pages);
	free(h->front);
	free(h->dirty);
	free(h->ever);
	free(h->scratch);
	object_descs_free(&h->descs);
	*h = (struct object_heap){0};
}

bool object_heap_find(struct object_heap *h, uint64_t at, struct object_entry *ret)
{
	struct object_page *p;
	uint32_t in = (uint32_t)(at & ((1u << h->page_bits) - 1)), i;

	if (at >= h->units)
		return false;
	p = &h->pages[at >> h->page_bits];
	object_page_sort(h, p);
	i = object_page_from(p, in);
	if (i == p->count || object_page_offsets(p)[i] != in)
		return false;
	*ret = object_page_get(p, i);
	return true;
}

static void mark_area(struct object_heap *h, uint64_t at)
{
	uint64_t area = at >> h->area_bits;

	h->ever[area / 8] |= (uint8_t)(1u << area % 8);
}

void object_heap_touch(struct object_heap *h, uint64_t at, uint32_t units)
{
	mark_area(h, at);
	mark_area(h, units ? at + units - 1 : at);
}

int object_heap_put(struct object_heap *h, uint64_t at, struct object_entry entry)
{
	uint32_t units = h->descs.rows[entry.desc].units;

	if (at >= h->units || units > h->units - at)
		return -EINVAL;
	if (object_page_push(h, &h->pages[at >> h->page_bits],
			     (uint32_t)(at & ((1u << h->page_bits) - 1)), entry))
		return -ENOMEM;
	h->count++;
	h->live_units += units;
	object_heap_touch(h, at, units);
	return 0;
}

bool object_heap_ever(const struct object_heap *h, uint64_t at)
{
	uint64_t area;

	if (at >= h->units)
		return false;
	area = at >> h->area_bits;
	return h->ever[area / 8] >> area % 8 & 1;
}

void object_heap_sort(struct object_heap *h)
{
	for (uint64_t i = 0; i < h->page_count && h->pages; i++)
		object_page_sort(h, &h->pages[i]);
}

bool object_heap_next(const struct object_heap *h, uint64_t *at, struct object_entry *ret)
{
	uint32_t i, in = (uint32_t)(*at & ((1u << h->page_bits) - 1));

	if (!h->pages)
		return false;
	for (uint64_t page = *at >> h->page_bits; page < h->page_count; page++, in = 0) {
		const struct object_page *p = &h->pages[page];

		i = p->count ? object_page_from(p, in) : 0;
		if (i == p->count)
			continue;
		*at = (page << h->page_bits) + object_page_offsets(p)[i];
		*ret = object_page_get(p, i);
		return true;
	}
	return false;
}

void object_heap_forget(struct object_heap *h)
{
	for (uint64_t page = 0; page < h->page_count; page++) {
		struct object_page *p = &h->pages[page];

		for (uint32_t i = 0; i < p->count; i++)
			object_page_drop(h, p->block[i] >> OBJECT_AGE_BITS);
		object_page_cut(h, p, 0);
	}
}
