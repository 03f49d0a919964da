/* report/model/phase_tree.h: which phases of collections are shown, and in which order. */
#pragma once

#include <stdint.h>

struct phases;

/*
 * The children of a row, PLACE_NONE: the outermost ones, in the order in which they were first
 * seen; those that count nothing, and nothing within, are left out. after: the child before;
 * PLACE_NONE: the first is wanted. PLACE_NONE: there are no more.
 */
uint32_t phase_tree_next(const struct phases *p, uint32_t parent, uint32_t after);
const char *phase_kind_name(uint64_t kind);
