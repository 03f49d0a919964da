/* report/model/attribution_basis.h: how it is known who held the locks of a log: the same facts for
 * all outputs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "analyze/contention/contention.h"

struct report_input;

struct attribution_basis {
	bool exact; /* events have numbers, or would have: the JVM is a patched one */
	struct contention_facts facts;
	/* Of contentions, as reported; inferred: they ended, and no event reported a release. */
	uint64_t inferred;
	uint64_t count, blocked_ns, unknown_ns, hand_over_ns, after_wait_count, after_wait_ns;
	bool by_switches; /* by the scheduler: who got a lock without sleeping is not there */
	/* Running threads that were looked at, and those of them that spun for a monitor; spun_ns:
	 * for how long in all, about. */
	uint64_t samples, spins, spun_ns;
	/* Of these, and of parking: put together, as there were too many combinations (cells.h). */
	uint64_t others_count, others_ns;
};

struct attribution_basis basis_of(const struct report_input *in);
/* NULL: no memory. */
json_t *basis_json(const struct report_input *in);
