/* report/web/page.h: the findings and the cells of a log as one HTML file, which needs nothing
 * else. */
#pragma once

#include <stdint.h>
#include <stdio.h>

struct cell_windows;
struct gc_series;
struct report_input;

struct page_input {
	const struct report_input *in;
	const struct cell_windows *windows; /* observed all along */
	const struct gc_series *series;     /* finished */
	const char *title, *source;         /* foreign text */
	uint64_t start_ns;                  /* of the recording; times are given from there on */
	uint32_t cells_max;                 /* 0: as page_cells.h has it */
};

/* 0 or -ENOMEM; out's error flag tells the rest. */
int report_page(const struct page_input *in, FILE *out);
