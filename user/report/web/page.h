/* report/web/page.h: the findings and the cells of a log as one HTML file, which needs nothing
 * else. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Beyond so many, the cells with the least time become one for each class of lock. */
#define PAGE_CELLS_MAX 50000

struct cell_windows;
struct gc_series;
struct page_compare;
struct report_input;

/* The windows of time that the page has, since begin_ns. */
struct page_axis {
	uint64_t start_ns;  /* of the recording: times in the page are since then */
	uint64_t begin_ns;  /* of the first window */
	uint64_t length_ns; /* 0: there are none */
};

struct page_input {
	const struct report_input *in;
	const struct cell_windows *windows; /* observed all along */
	const struct gc_series *series;     /* finished */
	const char *title, *source;         /* foreign text */
	uint64_t start_ns;                  /* of the recording; times are given from there on */
	uint32_t cells_max;                 /* 0: PAGE_CELLS_MAX */
	bool aligned;                       /* names are as page_aligned.h has them */
	const struct page_compare *compare; /* with which logs; NULL: with none */
	uint64_t end_ns;                    /* of the last event */
	uint64_t window_ns;                 /* windows are at least so long */
	/* Writes what else the page has, as ,"key":value; NULL: nothing. 0 or -ENOMEM. */
	int (*parts)(void *ctx, const struct report_input *in, const struct page_axis *axis,
		     FILE *out);
	void *parts_ctx;
};

/* 0 or -ENOMEM; out's error flag says the rest. */
int report_page(const struct page_input *in, FILE *out);
/* The cells alone, for the page of another log: page_compare.h. 0 or -ENOMEM. */
int page_cells_json(const struct page_input *in, FILE *out);
