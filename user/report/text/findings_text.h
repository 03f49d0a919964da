/* report/text/findings_text.h: findings as a table for a terminal. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct findings;

/* Of the rows that are not shown: a line below the table; a row without figures; a row with sums */
enum findings_rest { FINDINGS_REST_LINE, FINDINGS_REST_ROW, FINDINGS_REST_SUM };

struct findings_view {
	unsigned indent;
	bool gap;         /* an empty line before the table */
	unsigned top;     /* rows at most, of a tree in each part; 0: all */
	const char *sort; /* the key of a column, for the largest first; NULL: as they are */
	bool ascending;   /* ... for the smallest first */
	bool in_order;    /* sort chooses what is shown, but the order stays */
	enum findings_rest rest;
	const char *noun; /* "and 3 more NOUN"; NULL: nothing */
	const char *all;  /* the name of a last row with sums, if there are several rows; NULL */
	unsigned view;    /* bit of the columns' views */
};

/* Prints nothing of a table that has no rows for people. 0, or what was wrong with f: -ENOMEM. */
int findings_to_text(const struct findings *f, const struct findings_view *v, FILE *out);
