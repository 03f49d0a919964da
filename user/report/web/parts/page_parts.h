/* report/web/parts/page_parts.h: the parts of a page beside locks: what each watches of a log, and
 * what of that goes into the page. */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

struct analysis;
struct cell_part;
struct event;
struct page_axis;
struct range;
struct report_input;

struct page_parts;

/* As struct log_watch has them. range is lent. NULL: no memory. */
struct page_parts *page_parts_new(struct analysis *a, const json_t *header,
				  const struct range *range);
void page_parts_free(struct page_parts *p);
/* 0 or -ENOMEM, as all. */
int page_parts_event(struct page_parts *p, const struct event *e);
int page_parts_hole(struct page_parts *p, uint64_t from_ns, uint64_t to_ns);
/* A piece of a contention, as contention_observe() has it; an error is kept. */
void page_parts_blocked(struct page_parts *p, const struct cell_part *part);
/* No more of these: to be called once, with the analysis that has ended. */
int page_parts_finish(struct page_parts *p, const struct analysis *a);

/* The shortest windows that the page may have, since the begin, for all parts to follow a range of
 * them exactly; 0: any. */
uint64_t page_parts_window_ns(const struct page_parts *p);

/* For page_input.parts: ,"parts":{...}. parts is a struct page_parts. */
int page_parts_write(void *parts, const struct report_input *in, const struct page_axis *axis,
		     FILE *out);
