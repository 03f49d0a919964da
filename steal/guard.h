/* steal/guard.h: how much a counter has grown, when it may also have gone wrong. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum guard_verdict {
	GUARD_OK,
	GUARD_WRAPPED,   /* it went past its end; the growth is right */
	GUARD_BACKWARDS, /* it went back: the growth is not known, and counted as 0 */
	GUARD_JUMPED,    /* it grew by more than can be: so too */
	GUARD_VERDICT_COUNT,
};

/* How a counter can behave. */
struct guard_limits {
	uint64_t wrap_ns;  /* it begins anew at this value; 0: at 2^64 */
	uint64_t slack_ns; /* by which it may be late, or go back and come again: two ticks */
	bool late;         /* it is brought up to date only now and then */
};

struct guard {
	uint64_t value_ns;
	uint64_t seen_ns;  /* when it was last looked at */
	uint64_t moved_ns; /* when it was last seen to have moved */
};

/* The first value, or another beginning. */
void guard_set(struct guard *g, uint64_t value_ns, uint64_t time_ns);
/*
 * The growth from the last value to this one, which was read between time_ns and end_ns. One CPU,
 * and one thread, cannot spend more time than passes; only a late counter may make up for all of
 * the time in which it stood still.
 */
enum guard_verdict guard_step(struct guard *g, uint64_t value_ns, uint64_t time_ns, uint64_t end_ns,
			      const struct guard_limits *limits, uint64_t *ret_ns);
