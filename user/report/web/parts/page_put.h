/* report/web/parts/page_put.h: lists of numbers of rows, column by column, as the page's code reads
 * them. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct findings;

/* Rows of a table, or some of them. */
struct page_rows {
	const void *rows;
	size_t size; /* of a row */
	uint32_t count;
};

/* "key":[...], with a comma in front. offset: of the number within a row. */
void page_put_u32(FILE *out, const char *key, const struct page_rows *r, size_t offset);
void page_put_u64(FILE *out, const char *key, const struct page_rows *r, size_t offset);
/* ,"key":N */
void page_put_number(FILE *out, const char *key, uint64_t n);
/* ,"key":{table}; frees f. */
int page_put_table(FILE *out, const char *key, struct findings *f);
