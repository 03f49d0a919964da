/* cmd/read/page_log.h: a log analysed for a page of it. */
#pragma once

#include "analyze/groups/facets.h"

struct condition;
struct log_source;
struct page_input;

/* By what the cells of a page are cut: all but windows, as the page has windows of its own. */
#define PAGE_FACETS (FACET_DURATION | FACET_GC | FACET_SPAN | FACET_STATE)

struct page_log {
	struct log_source *source;
	const char *where_text;        /* --where as it was given; NULL: all contentions */
	const struct condition *where; /* that; NULL: all contentions */
	/* Gets the page, lent, whose title is its source. 0, 1 as finish_output() has it, or a
	 * negative errno, and what went wrong has been said. */
	int (*write)(void *ctx, struct page_input *page);
	void *ctx;
};

/* Says on stderr what went wrong, and what the log lacks. 0 or negative errno. */
int page_log_read(const struct page_log *l);
