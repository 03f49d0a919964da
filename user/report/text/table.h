/* report/text/table.h: columns that line up on a terminal. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct table_column {
	const char *title;
	bool left;      /* text; numbers stand at the right */
	unsigned least; /* width in characters at least ... */
	unsigned most;  /* ... and at most: longer text is cut and ends in "..."; 0: no limit */
	bool tail;      /* what is cut is the beginning: of a class, the name matters more than the
			   package */
};

struct table;

/* NULL: no memory; the other functions accept that. columns is lent until table_free. */
struct table *table_new(const struct table_column *columns, unsigned count);
void table_free(struct table *t);

/* Fills the next cell; a row is complete when all its columns are. */
void table_add(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Leaves the other cells of the row empty. One that has only its first cell is printed whole, and
 * widens no column. */
void table_end_row(struct table *t);
/* 0 or -ENOMEM, from then or before; it prints nothing then. */
int table_print(const struct table *t, unsigned indent, FILE *out);

/* Characters of UTF-8 text. */
unsigned text_width(const char *text);
