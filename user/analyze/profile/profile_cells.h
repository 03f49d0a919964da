/* analyze/profile/profile_cells.h: rows of a profile, new ones if need be. */
#pragma once

#include <stdint.h>

#include "analyze/threads/states.h"

struct profile;
struct profile_aspect;
struct profile_cell;
struct profile_thread;

/* All 0 or -ENOMEM; *ret is valid until its table grows. */
int profile_thread_get(struct profile *p, uint64_t thread, struct profile_thread **ret);
/* The index of such an aspect. */
int profile_aspect_get(struct profile *p, const struct profile_aspect *a, uint32_t *ret);
/* By the thread, the state, the chain, and what is in its place. */
int profile_cell_get(struct profile *p, const struct profile_cell *like, struct profile_cell **ret);
/* A cell's time becomes more. */
int profile_charge(struct profile *p, uint64_t thread, enum state state, uint64_t stack,
		   uint64_t ns);
