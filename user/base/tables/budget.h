/* base/tables/budget.h: how many bytes a part of the program may keep. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct budget {
	uint64_t max, used, most; /* bytes; most: the largest that used ever was */
};

/* NULL as a budget: without bound. */
static inline bool budget_take(struct budget *b, uint64_t bytes)
{
	if (!b)
		return true;
	if (bytes > b->max || b->used > b->max - bytes)
		return false;
	b->used += bytes;
	if (b->used > b->most)
		b->most = b->used;
	return true;
}

static inline void budget_give(struct budget *b, uint64_t bytes)
{
	if (b)
		b->used -= bytes;
}
