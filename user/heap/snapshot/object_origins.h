/* heap/snapshot/object_origins.h: where objects of a replay come from, as rows of a state. */
#pragma once

#include <stdint.h>

#include "heap/snapshot/replay_state.h"

struct heap_state;
struct object_found;
struct object_origins;
struct object_replay;

/* All are lent until object_origins_free. 0 or -ENOMEM. */
int object_origins_new(const struct object_replay *r, const struct replay_state_options *o,
		       struct heap_state *state, struct object_origins **ret);
void object_origins_free(struct object_origins *m); /* accepts NULL */

/* *ret: as heap_desc.origin. 0 or -ENOMEM. */
int object_origins_of(struct object_origins *m, const struct object_found *f, uint32_t *ret);
/* Of the object at an address, if the replay has one of so many bytes there; else *ret is 0. */
int object_origins_at(struct object_origins *m, uint64_t address, uint64_t bytes, uint32_t *ret);
