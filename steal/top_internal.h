/* steal/top_internal.h: how an audit keeps its extremes; for audit.c and top.c. */
#pragma once

#include "steal/top.h"

struct top {
	size_t keep;
	struct steal_top *intervals;
	struct steal_theft *thefts;
	size_t interval_count, theft_count;
	uint64_t histogram_base[STEAL_SLOTS], histogram[STEAL_SLOTS];
	uint64_t lost_base, lost, threads_lost_base, threads_lost;
};

int top_init(struct top *w, size_t keep);
void top_free(struct top *w);
/* The sample at which the audit begins. */
void top_begin(struct top *w, const struct steal_sample *s);
void top_add_interval(struct top *w, const struct steal_span *s);
void top_add_thefts(struct top *w, const struct steal_sample *s);
