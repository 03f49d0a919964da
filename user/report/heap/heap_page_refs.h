/* report/heap/heap_page_refs.h: kinds of objects for a page that has references: by description,
 * and by who refers to them, whom they refer to, and how they are reached. */
#pragma once

#include "base/tables/keymap.h"
#include "base/text/strbuf.h"

struct heap_view;

enum page_refs_aspect { PAGE_POINTED_FROM, PAGE_POINTS_TO, PAGE_REACHED, PAGE_REFS_ASPECTS };
extern const char *const page_refs_names[PAGE_REFS_ASPECTS]; /* those of classifiers */

struct page_ref {
	uint32_t desc, text[PAGE_REFS_ASPECTS];
	uint64_t objects;
};

struct page_refs {
	struct keymap keys, text_keys;
	struct page_ref *rows;
	size_t *text_at;
	struct strbuf texts;
	uint32_t row_capacity, text_capacity;
};

/* v has a graph, and who refers to whom. 0 or -ENOMEM; to be freed in any case. */
int page_refs_make(struct heap_view *v, struct page_refs *ret);
void page_refs_free(struct page_refs *r);
static inline const char *page_refs_text(const struct page_refs *r, uint32_t row, unsigned aspect)
{
	return r->texts.text + r->text_at[r->rows[row].text[aspect]];
}
