/* steal/worst_parts.h: how an audit keeps its extremes; for audit.c and worst.c. */
#pragma once

#include "steal/worst.h"

struct worst {
	size_t keep;
	struct steal_worst *intervals;
	struct steal_theft *thefts;
	size_t interval_count, theft_count;
	uint64_t histogram_base[STEAL_SLOTS], histogram[STEAL_SLOTS];
	uint64_t lost_base, lost, threads_lost_base, threads_lost;
};

int worst_init(struct worst *w, size_t keep);
void worst_free(struct worst *w);
/* The sample at which the audit begins. */
void worst_begin(struct worst *w, const struct steal_sample *s);
void worst_add_interval(struct worst *w, const struct steal_span *s);
void worst_add_thefts(struct worst *w, const struct steal_sample *s);
