/* steal/top.h: the extremes of an audit: its worst intervals, and single thefts. */
#pragma once

#include "steal/audit.h"

struct steal_top {
	uint64_t from_ns, to_ns, stolen_ns, wanted_ns;
	struct steal_use victim; /* who lost most; cpu_ns and all 0: nobody */
};

struct steal_thefts {
	uint64_t counts[STEAL_SLOTS]; /* as in steal_sample, since the audit began */
	uint64_t lost;
	const struct steal_theft *longest; /* the longest first */
	size_t longest_count;
};

/* The most stolen first; intervals without any are in none. Lent until the next steal_audit_add. */
const struct steal_top *steal_audit_top(const struct steal_audit *a, size_t *ret_count);
/* Threads that the source had no account for, since the audit began. */
uint64_t steal_audit_threads_lost(const struct steal_audit *a);
void steal_audit_thefts(const struct steal_audit *a, struct steal_thefts *ret);
