/* report/heap/heap_page.h: a heap, or the lifetimes of a log's objects, as one HTML file, which
 * needs nothing else. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct heap_state;
struct heap_view;
struct object_replay;
struct pool_agreement;

struct heap_page_input {
	const char *title, *source; /* foreign text */
	/* Of a log: finished, with its heap; else NULL, and the view's state is that of a dump. */
	const struct object_replay *log;
	struct heap_view *view;
	bool references; /* the view has a graph and who refers to whom: groups by these, too */
	const struct pool_agreement *agreement; /* of a log; NULL */
	uint32_t cells_max;                     /* 0: HEAP_PAGE_CELLS_MAX */
	uint32_t lives_max;                     /* 0: HEAP_PAGE_LIVES_MAX */
};

/* Beyond so many kinds of objects, those of the fewest bytes become one. */
#define HEAP_PAGE_CELLS_MAX 50000
/* Beyond so many lifetimes, the page has every second, fourth, ... moment only. */
#define HEAP_PAGE_LIVES_MAX 400000

/* 0 or -ENOMEM; out's error flag says the rest. */
int heap_report_page(const struct heap_page_input *in, FILE *out);
