/* report/csv/findings_csv.h: findings as CSV. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct findings;

/* A line for each row, after one with the columns' keys if head says so; a cell without a value is
 * empty. Of a tree, the first column is the level of the row, from 0; tables within rows are left
 * out, but for lists of texts: they stand in one field, with "; " between them. 0, or what was
 * wrong with f; out's error flag says the rest. */
int findings_to_csv(const struct findings *f, bool head, FILE *out);
