/* report/heap/lives/heap_lives_groups.h: kinds of objects in groups, by what people call them. */
#pragma once

#include "base/text/strbuf.h"
#include "heap/replay/heap_lives.h"
#include "report/heap/lives/heap_lives_report.h"

struct heap_lives_groups {
	struct heap_lives *sums; /* by group, as heap_lives_add has them */
	char **names;
	uint32_t *of_kind; /* the group of each kind of objects */
	uint32_t *order;   /* the groups of which the view has something to say, most bytes first */
	uint32_t count, order_count, capacity;
	struct heap_lives all;
	/* Of levels: the group around it, or HEAP_LIVES_TOP; a group comes after that. totals: with
	 * all groups in it. label: where in its name, which has all around it, its own begins. */
	struct heap_lives_node {
		uint32_t parent, label;
		uint16_t level;
	} * nodes;
	struct heap_lives *totals;
	uint32_t node_capacity;
};
#define HEAP_LIVES_TOP UINT32_MAX

/* 0 or -ENOMEM; to be freed in any case. */
int heap_lives_groups_make(const struct heap_lives_report *r, struct heap_lives_groups *ret);
/* The same, of names and kinds only: no sums. */
int heap_lives_groups_name(const struct heap_lives_report *r, struct heap_lives_groups *ret);
void heap_lives_groups_free(struct heap_lives_groups *g);
/* Of groups in groups, all by what they and those within have, the largest first; to be freed.
 * NULL: no memory. */
uint32_t *heap_lives_order(const struct heap_lives_groups *g, enum heap_lives_view view);
/* Whether the view has something to say of a group. */
bool heap_lives_says(const struct heap_lives *g, enum heap_lives_view view);
/* What a group is ordered by, in bytes. */
int64_t heap_lives_weight(const struct heap_lives *g, enum heap_lives_view view);
