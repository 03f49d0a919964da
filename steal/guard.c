#include "steal/guard.h"

void guard_set(struct guard *g, uint64_t value_ns, uint64_t time_ns)
{
	g->value_ns = value_ns;
	g->seen_ns = g->moved_ns = time_ns;
}

/* An eighth more than has passed: clocks of a guest that is suspended or migrated run unevenly. */
static bool is_possible(uint64_t growth_ns, uint64_t passed_ns, const struct guard_limits *limits)
{
	return growth_ns <= passed_ns + passed_ns / 8 + limits->slack_ns;
}

enum guard_verdict guard_step(struct guard *g, uint64_t value_ns, uint64_t time_ns, uint64_t end_ns,
			      const struct guard_limits *limits, uint64_t *ret_ns)
{
	uint64_t since_ns = limits->late ? g->moved_ns : g->seen_ns;
	uint64_t passed_ns = end_ns > since_ns ? end_ns - since_ns : 0;
	uint64_t growth_ns = value_ns - g->value_ns; /* modulo 2^64 */
	enum guard_verdict verdict = GUARD_OK;

	*ret_ns = 0;
	g->seen_ns = time_ns;
	if (value_ns == g->value_ns)
		return GUARD_OK;
	if (value_ns < g->value_ns) {
		/* A CPU's idle time does that on some kernels, by a tick (proc(5)): the value that
		 * was reached stands until it is passed. */
		if (g->value_ns - value_ns <= limits->slack_ns)
			return GUARD_OK;
		growth_ns += limits->wrap_ns;
		verdict =
			is_possible(growth_ns, passed_ns, limits) ? GUARD_WRAPPED : GUARD_BACKWARDS;
	} else if (!is_possible(growth_ns, passed_ns, limits)) {
		verdict = GUARD_JUMPED;
	}
	guard_set(g, value_ns, time_ns);
	if (verdict == GUARD_OK || verdict == GUARD_WRAPPED)
		*ret_ns = growth_ns;
	return verdict;
}
