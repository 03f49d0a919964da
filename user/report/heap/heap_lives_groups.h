/* report/heap/heap_lives_groups.h: kinds of objects in groups, by what people call them. */
#pragma once

#include "base/text/strbuf.h"
#include "heap/replay/heap_lives.h"
#include "report/heap/heap_lives_report.h"

struct heap_lives_groups {
	struct heap_lives *sums; /* by group, as heap_lives_add has them */
	char **names;
	uint32_t *of_kind; /* the group of each kind of objects */
	uint32_t *order;   /* the groups of which the view has something to say, most bytes first */
	uint32_t count, order_count, capacity;
	struct heap_lives all;
};

/* 0 or -ENOMEM; to be freed in any case. */
int heap_lives_groups_make(const struct heap_lives_report *r, struct heap_lives_groups *ret);
void heap_lives_groups_free(struct heap_lives_groups *g);
/* What a group is ordered by, in bytes. */
int64_t heap_lives_weight(const struct heap_lives *g, enum heap_lives_view view);
