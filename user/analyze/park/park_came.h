/* analyze/park/park_came.h: unparks, and threads that have come back from park by them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/park/park_chain.h"

/* An unpark; sequence 0: none. */
struct unpark {
	uint64_t sequence, ns, thread, stack;
	struct park_chain chain;
};

/* A thread has come back from park, and it is not known from which lock it may have got then. */
struct came {
	bool known;
	uint32_t condition; /* on which it was parked; INDEX_NONE: not known either */
	struct unpark by;
	uint64_t sequence, ns;
};

/* A thread that had come back like this has woken another, perhaps by releasing the lock. */
struct hand_over {
	uint64_t thread;
	struct came came;
};

/* So many of the last ones are kept. */
#define HAND_OVERS_MAX 64
