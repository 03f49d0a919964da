/* report/heap/heap_page_cells.h: kinds of objects for a page, what people call them by each aspect,
 * and how long their objects lived. */
#pragma once

#include <stdint.h>

#include "base/tables/keymap.h"
#include "base/text/strbuf.h"
#include "report/heap/heap_page.h"

#define HEAP_PAGE_ASPECTS_MAX 12

/* Texts of an aspect, each once; by cell the index of its text. */
struct page_aspect {
	const char *name, *doc;
	struct keymap keys; /* by hash and length */
	struct strbuf all;
	size_t *at;
	uint32_t at_capacity;
	uint32_t *of_cell;
};

/* Moments are those of object_lifetimes, every step-th of them; of a dump there is one, 1. */
struct page_life {
	uint32_t cell, birth, death; /* death: HEAP_PAGE_ALIVE */
	uint64_t objects, bytes;
};
#define HEAP_PAGE_ALIVE UINT32_MAX

struct page_heap {
	struct page_aspect aspects[HEAP_PAGE_ASPECTS_MAX];
	unsigned aspect_count;
	uint32_t cell_count, others; /* others: kinds that are the last cell together */
	struct keymap life_keys;
	struct page_life *lives;
	uint32_t life_capacity, step;
};

/* *ret is to be freed in any case. 0 or -ENOMEM. */
int page_heap_make(const struct heap_page_input *in, struct page_heap *ret);
void page_heap_free(struct page_heap *p);
