/* report/web/parts/page_spans.h: the page's part about marked spans. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "analyze/spans/span_bins.h"
#include "analyze/spans/spans.h"

struct log_names;
struct page_axis;
struct section_input;

/* So many of the slowest spans are in a page, and of those that were open. */
#define PAGE_SPANS_MAX 200

struct page_spans {
	struct spans *spans;
	struct span_bins bins;
};

/* 0 or -ENOMEM; to be freed in any case. The struct stays where it is until then. */
int page_spans_begin(struct page_spans *p, const struct log_names *names, uint64_t begin_ns);
void page_spans_free(struct page_spans *p);
/* "spans":{...}, or "spans":null if there are none. in has stacks. */
int page_spans_write(const struct page_spans *p, const struct section_input *in,
		     const struct page_axis *axis, FILE *out);
