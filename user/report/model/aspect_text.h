/* report/model/aspect_text.h: what groups are called; of pools, classes, packages and facets as
 * they are. label_group() of label.h is here, too. */
#pragma once

#include "analyze/groups/groups.h"

struct facet_cells;
struct stacks;
struct strbuf;

/* Appends the text of a group's key, as it is in the log. facets: of which the group's cells are;
 * NULL: of none. False, and nothing is appended: labels of another kind belong to the aspect. */
bool aspect_text(const struct stacks *s, const struct facet_cells *facets, const struct group *g,
		 struct strbuf *ret);
