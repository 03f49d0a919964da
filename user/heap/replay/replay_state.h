/* heap/replay/replay_state.h: the heap of a replay as a state, like that of a dump. */
#pragma once

#include <stdbool.h>

struct heap_state;
struct object_replay;

/* r is finished, and has its heap. objects: one by one. *ret is initialized, and is to be freed in
 * any case. 0; -ENOMEM; -EOVERFLOW: there are more objects than spoor can number. */
int replay_state_make(const struct object_replay *r, bool objects, struct heap_state *ret);
