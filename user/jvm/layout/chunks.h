/* jvm/layout/chunks.h: where the frames of a virtual thread are that are in the heap. */
#pragma once

#include "jvm/layout/layout.h"

/* Whether they can be read, as far as is known without the classes. */
bool chunks_possible(const struct jvm_layout *l);

/* Looks for what the layout lacks of it; 1: all of it is there now, 0: not yet. */
int chunks_find(const struct mem *m, struct layout_source *s, struct jvm_layout *l);
