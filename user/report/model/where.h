/* report/model/where.h: contentions that a condition chooses: --where. */
#pragma once

#include <stdint.h>

#include "base/text/condition.h"
#include "report/model/label.h"

/*
 * A condition is made of ASPECT=GLOB and ASPECT!=GLOB, "not", "and", "or" and parentheses; "not"
 * binds most, "or" least. Aspects are those of --by, and after_wait, which is yes or no. The glob
 * is fnmatch()'s, of the text that the report shows; of a call chain any frame's method may match.
 * A value with blanks or parentheses stands in quotes, "..." or '...'.
 */
#define WHERE_ERROR_MAX CONDITION_ERROR_MAX

/* 0, and *ret is to be freed; -EINVAL, and error says where and why; -ENOMEM. */
int where_parse(const char *text, struct condition **ret, char error[WHERE_ERROR_MAX]);
void where_free(struct condition *w);

/* The facets that cells must have been cut by, as bits of enum facet. */
unsigned where_facets(const struct condition *w);
/* An aspect of it that needs one of these facets; NULL: none does. */
const char *where_faceted(const struct condition *w, unsigned facets);

/* Those of count cells that are chosen, in their order. facets: of which they are; NULL: of none.
 * *ret is to be freed. 0 or -ENOMEM. */
struct where_input {
	const struct stacks *stacks;
	const struct facet_cells *facets;
	const struct cell *cells;
	uint32_t count;
};
int where_cells(const struct condition *w, const struct where_input *in, struct cell **ret,
		uint32_t *ret_count);
