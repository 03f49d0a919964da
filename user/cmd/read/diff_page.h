/* cmd/read/diff_page.h: the page of spoor diff --format html. */
#pragma once

#include <stdio.h>
#include <sys/types.h>

struct condition;
struct diff_input;
struct log_source;

struct diff_page {
	const struct diff_input *diff;
	/* By side, those of diff->before first; each opened anew. */
	struct log_source *sources;
	unsigned before_count, count;
	const char *where_text;        /* NULL: all contentions */
	const struct condition *where; /* that */
	const char *title;             /* NULL: the names of the first log of each side */
};

/* Says on stderr what went wrong. 0 or negative errno; out's error flag says the rest. */
int diff_page_write(const struct diff_page *p, FILE *out);
