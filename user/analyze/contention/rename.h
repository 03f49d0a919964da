/* analyze/contention/rename.h: a holder turns out to have been somebody else. */
#pragma once

#include "analyze/contention/holds.h"

/* What the thread's contention, which goes on, has with the holder `from` is with `to` instead,
 * which is to_index among the threads. What is in a cell of several waiters stays there. 0 or
 * -ENOMEM. */
int rename_holder(struct holds *h, struct waiter_state *t, uint64_t from, uint64_t to,
		  uint32_t to_index);
