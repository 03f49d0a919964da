/* analyze/profile/waiting.h: where a thread was while it did not run. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/threads/states.h"

struct event;
struct profile;
struct profile_thread;

#define WAITING_LEVELS 2 /* the way back from Object.wait() may have to wait for the monitor */

/* What is known of a thread's waiting, at the last event that had its counters. */
struct waiting {
	bool known;
	uint64_t at_ns;
	uint64_t stolen_ns, runnable_ns, throttled_ns;
	uint64_t on_ns;         /* cpu, stolen and runnable: the rest of the time it was blocked */
	/* Since the last sample, for the next one; blocked for any reason is STATE_OTHER, and waits
	 * for an off_cpu. */
	struct states uncharged;
	uint64_t carrier;       /* of a virtual thread that waits and stays on it; 0: of none */
	uint32_t depth;
	struct waiting_level {
		enum state state;
		uint64_t stack;
	} levels[WAITING_LEVELS];
};

/* Events in time order. 0 or -ENOMEM. */
int waiting_add(struct profile *p, const struct event *e);
