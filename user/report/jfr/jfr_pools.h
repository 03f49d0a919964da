/* report/jfr/jfr_pools.h: constants of a chunk: what events name by a key. */
#pragma once

#include <stdint.h>

#include "base/tables/keymap.h"
#include "base/text/strbuf.h"
#include "report/jfr/jfr_types.h"

struct contention_events;

struct jfr_pool {
	struct keymap map;    /* an entry's key is 1 + its index; 0 is nothing */
	struct strbuf values; /* of all entries, each with its key */
};

struct jfr_pools {
	const struct contention_events *in;
	struct jfr_pool pools[JFR_TYPE_COUNT]; /* of the types that have constants */
	struct strbuf value, name;             /* one that is being made; a text of it */
	int err;                               /* 0 or -ENOMEM */
};

void jfr_pools_free(struct jfr_pools *p);

/* Keys; 0: not known, or none. An error is kept in p. */
uint64_t jfr_thread(struct jfr_pools *p, uint64_t thread);
uint64_t jfr_lock_class(struct jfr_pools *p, uint64_t lock);
uint64_t jfr_stack_trace(struct jfr_pools *p, uint64_t stack);

/* The event that has them all. */
void jfr_pools_put(struct jfr_pools *p, struct strbuf *b, uint64_t ticks);
