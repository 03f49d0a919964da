/* heap/snapshot/replay_state.h: the heap of a replay as a state, like that of a dump. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "heap/snapshot/heap_spaces.h"

struct heap_state;
struct object_replay;

struct replay_state_options {
	bool objects; /* one by one */
	struct heap_spaces spaces;
	/* What people call a thread by its java_tid; NULL: the name is not known. Lent until the
	 * next call. May be NULL itself. */
	const char *(*thread_name)(const void *ctx, int64_t java_tid);
	const void *ctx;
};

/* r is finished, and has its heap. Threads are distinguished if r does so. *ret is initialized, and
 * is to be freed in any case. 0; -ENOMEM; -EOVERFLOW: there are more objects than spoor can
 * number. */
int replay_state_make(const struct object_replay *r, const struct replay_state_options *o,
		      struct heap_state *ret);
/* The same of kinds of objects, dead ones, too: an object of 0 bytes for each, in the order of
 * their numbers, one by one. */
int replay_state_kinds(const struct object_replay *r, const struct replay_state_options *o,
		       struct heap_state *ret);
