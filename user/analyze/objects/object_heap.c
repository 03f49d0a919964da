#include "analyze/objects/object_heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES (OBJECT_HEAP_PAGE * sizeof(struct object_place))

int object_heap_init(struct object_heap *h, uint64_t units, unsigned shift, uint64_t bytes_max)
{
	*h = (struct object_heap){.bytes_max = bytes_max,
				  .area_bits = OBJECT_HEAP_AREA_BITS(shift)};
	if (units > OBJECT_HEAP_UNITS_MAX)
		return -EFBIG;
	h->page_count = (units + OBJECT_HEAP_PAGE - 1) / OBJECT_HEAP_PAGE;
	h->pages = calloc(h->page_count + 1, sizeof(*h->pages));
	h->ever = calloc((units >> h->area_bits) / 8 + 1, 1);
	if (!h->pages || !h->ever) {
		object_heap_free(h);
		return -ENOMEM;
	}
	h->units = units;
	return 0;
}

void object_heap_free(struct object_heap *h)
{
	for (uint64_t i = 0; i < h->page_count && h->pages; i++)
		free(h->pages[i]);
	free(h->pages);
	free(h->ever);
	*h = (struct object_heap){0};
}

struct object_place *object_heap_find(const struct object_heap *h, uint64_t at)
{
	struct object_place *page;

	if (at >= h->units)
		return NULL;
	page = h->pages[at / OBJECT_HEAP_PAGE];
	return page && page[at % OBJECT_HEAP_PAGE].kind ? &page[at % OBJECT_HEAP_PAGE] : NULL;
}

static void mark_area(struct object_heap *h, uint64_t at)
{
	uint64_t area = at >> h->area_bits;

	h->ever[area / 8] |= (uint8_t)(1u << area % 8);
}

int object_heap_put(struct object_heap *h, uint64_t at, struct object_place place, bool *ret_over)
{
	struct object_place **page;

	if (at >= h->units || place.units > h->units - at)
		return -EINVAL;
	page = &h->pages[at / OBJECT_HEAP_PAGE];
	if (!*page) {
		if (h->bytes >= h->bytes_max)
			return -ENOMEM;
		*page = calloc(1, PAGE_BYTES);
		if (!*page)
			return -ENOMEM;
		h->bytes += PAGE_BYTES;
	}
	*ret_over = (*page)[at % OBJECT_HEAP_PAGE].kind != 0;
	(*page)[at % OBJECT_HEAP_PAGE] = place;
	mark_area(h, at);
	mark_area(h, place.units ? at + place.units - 1 : at);
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

void object_heap_forget(struct object_heap *h, uint64_t at, uint64_t units)
{
	uint64_t end, page, next;

	if (at >= h->units)
		return;
	end = units < h->units - at ? at + units : h->units;
	for (; at < end; at = next) {
		page = at / OBJECT_HEAP_PAGE;
		next = (page + 1) * OBJECT_HEAP_PAGE;
		next = next < end ? next : end;
		if (!h->pages[page])
			continue;
		if (next - at < OBJECT_HEAP_PAGE) {
			memset(h->pages[page] + at % OBJECT_HEAP_PAGE, 0,
			       (next - at) * sizeof(struct object_place));
			continue;
		}
		free(h->pages[page]);
		h->pages[page] = NULL;
		h->bytes -= PAGE_BYTES;
	}
}
