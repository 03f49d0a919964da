/* report/web/page_compare.h: of the page of a log, what other logs it is compared with. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct diff_input;

/* The cells of another log than the page's own. */
struct page_other {
	bool after;
	char *json; /* as page_cells_json() writes it */
	size_t size;
};

struct page_compare {
	const struct diff_input *diff; /* top and all are not looked at */
	const struct page_other *others;
	unsigned other_count;
};

/* ,"compare":{...}. 0 or -ENOMEM. */
int page_compare_write(const struct page_compare *c, FILE *out);
