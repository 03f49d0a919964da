/* steal/use.h: rows of threads, as an audit sums them up; for audit.c and compare.c. */
#pragma once

#include "steal/audit.h"

struct use_list {
	struct steal_use *v;
	uint32_t count, capacity;
};

/* A row more, filled with zeros; NULL: no memory. */
struct steal_use *use_list_add(struct use_list *l);
/* The most stolen first, by the best method there is; then by use, then by number. */
void use_sort(struct steal_use *v, size_t count, bool exact);
/* By start and number, for use_find. */
void use_sort_by_key(struct steal_use *v, size_t count);
struct steal_use *use_find(struct steal_use *v, size_t count, const struct steal_use *like);
