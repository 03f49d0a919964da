/* analyze/park/park_chain.h: what the call chain of a park or an unpark says about the lock. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/tables/keymap.h"

struct log_names;

/* Why a thread was unparked. */
enum unpark_reason {
	UNPARK_NOT_KNOWN,      /* no call chain, or it breaks off too early */
	UNPARK_RELEASE,        /* its lock, held exclusively, was released */
	UNPARK_RELEASE_SHARED, /* the last of those that shared it has released it */
	UNPARK_PASS_ON,        /* the unparker has got its share: there may be more to have */
	UNPARK_REPAIR,         /* somebody has left the queue; nothing was released */
	UNPARK_GIVE_UP,        /* the unparker itself has, as it does not want the lock any more */
	UNPARK_OTHER,          /* by code that is not that of a lock */
};

/* As what a parked thread wants the lock. */
enum park_mode { PARK_MODE_NOT_KNOWN, PARK_EXCLUSIVE, PARK_SHARED };

struct park_chain {
	enum unpark_reason unpark;
	enum park_mode mode;
	bool awaits; /* in Condition.await */
};

/* What was found out by now. All zero but names at the start. */
struct park_chains {
	const struct log_names *names; /* lent */
	struct keymap map;
	struct park_chain *rows;
	uint32_t capacity;
};

/* One that has been found out. NULL: it is not. Lent until the next park_chains_get. */
static inline const struct park_chain *park_chains_known(const struct park_chains *c,
							 uint64_t stack)
{
	uint32_t index = keymap_find_number(&c->map, stack);

	return index == INDEX_NONE ? NULL : &c->rows[index];
}

bool park_chains_read_ready(const struct park_chains *c, uint64_t stack);
int park_chains_read(struct park_chains *c, uint64_t stack, struct park_chain *ret);

/* Whether all names are there that it takes to read a chain; those that are not may still come. */
static inline bool park_chains_ready(const struct park_chains *c, uint64_t stack)
{
	return park_chains_known(c, stack) || park_chains_read_ready(c, stack);
}

/* 0 or -ENOMEM. stack may be 0. */
static inline int park_chains_get(struct park_chains *c, uint64_t stack, struct park_chain *ret)
{
	const struct park_chain *known = park_chains_known(c, stack);

	if (!known)
		return park_chains_read(c, stack, ret);
	*ret = *known;
	return 0;
}

void park_chains_free(struct park_chains *c);
