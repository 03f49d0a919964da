/* report/web/page_kinds.h: of the page's cells, pools, classes, packages and facets; and how long
 * contentions were. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "analyze/groups/groups.h"

struct page_cells;
struct report_input;
struct section_input;

struct page_kinds {
	const struct section_input *s;
	const struct page_cells *p;
};

/* Whether a page can group by an aspect: not by facets that the cells are not cut by. */
bool page_has_aspect(const struct report_input *in, enum aspect_id aspect);
/* ,"kinds":{ASPECT:{"of":[...],"texts":[...],"ranks":[...]},...}: of by thread, chain or cell
 * the index of its text; ranks decide between equal sums. 0 or -ENOMEM. */
int page_kinds_write(const struct page_kinds *k, FILE *out);
/* ,"lengths":{"shift":N,"rows":[by cell],"steps":[...],"counts":[...]}. 0 or -ENOMEM. */
int page_lengths_write(const struct page_cells *p, FILE *out);
