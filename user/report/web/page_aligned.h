/* report/web/page_aligned.h: what is called what in a page that compares logs: all names are those
 * by which spoor diff aligns logs (docs/diff.md). */
#pragma once

#include <stdint.h>

#include "report/model/label.h"

struct log_method;
struct page_cells;
struct section_input;

/* Of each lock of p its rank among those of its class, by the time that is lost on it: 1 is the
 * worst. NULL: no memory; else to be freed. */
uint32_t *page_aligned_ranks(const struct section_input *s, const struct page_cells *p);

/* All return buf. lock and thread: numbers, as in the log. */
char *page_aligned_class(const struct section_input *s, uint64_t lock, char buf[LABEL_MAX]);
char *page_aligned_lock(const struct section_input *s, uint64_t lock, uint32_t rank,
			char buf[LABEL_MAX]);
char *page_aligned_thread(const struct section_input *s, uint64_t thread, char buf[LABEL_MAX]);
char *page_aligned_method(const struct log_method *m, char buf[LABEL_MAX]);
