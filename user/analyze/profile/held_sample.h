/* analyze/profile/held_sample.h: a sample of a running thread, as a profile counts it. */
#pragma once

#include <stdint.h>

#include "analyze/profile/vm_work.h"

/* What distinguishes samples of the same chain. */
struct profile_aspect {
	uint64_t lock;   /* that the thread held, and others waited for; 0: none, or not wanted */
	uint64_t span;   /* 1 + the string that names the span it was in; 0: not wanted */
	uint64_t symbol; /* a string: the function that was interrupted; 0: not known */
	uint64_t callers; /* a string: its native callers, a line each; 0: not known */
	enum vm_work_kind work; /* of a thread without a chain */
	uint64_t work_id;
};

/* A sample, with its weight. Some count when all has been seen. */
struct held_sample {
	uint32_t span;
	uint64_t time_ns, thread, stack, mode, via, result, weight;
	struct profile_aspect aspect;
};
