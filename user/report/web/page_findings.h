/* report/web/page_findings.h: findings, for the page's code to make a table of. */
#pragma once

#include <stdint.h>
#include <stdio.h>

struct findings;

/* Rows that a page has of one table. */
#define PAGE_ROWS_MAX 2000

/* An object with the columns and the rows for people; frees f. 0, or what was wrong with f. */
int page_findings_take(struct findings *f, FILE *out);
/* With the tables that are within rows. */
int page_findings_take_within(struct findings *f, FILE *out);
/* With the rows that have the most in a column, the largest first, and the sums of all rows. */
int page_findings_take_sorted(struct findings *f, const char *key, FILE *out);
