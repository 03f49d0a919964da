/* analyze/profile/profile_step.h: what one event adds to a profile. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What an event says that a thread ran since the thread's event before. */
struct profile_step {
	uint64_t thread, time_ns;
	uint64_t run_ns;
	bool sample;     /* else all of the following is 0 */
	uint64_t weight; /* since the thread's sample before */
	uint64_t mode, via, result;
	uint32_t cell; /* index in the profile's cells */
};
