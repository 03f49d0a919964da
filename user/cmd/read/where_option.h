/* cmd/read/where_option.h: --where, of commands that report contentions. */
#pragma once

#include <argp.h>
#include <stdint.h>

#include "report/model/where.h"

struct analysis;
struct facet_cells;

/* Replaces *where; or ends with what is wrong: also with an aspect for which cells must be cut by
 * facets that are not among these, which are bits of enum facet. */
void set_where(struct condition **where, const char *arg, unsigned facets,
	       struct argp_state *state);

/* The contentions' cells that are chosen, or those of facets if it is not NULL; *ret is to be
 * freed. 0 or -ENOMEM. */
int where_chosen(const struct condition *where, const struct analysis *analysis,
		 const struct facet_cells *facets, struct cell **ret, uint32_t *ret_count);
