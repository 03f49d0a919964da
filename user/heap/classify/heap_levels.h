/* heap/classify/heap_levels.h: what --by says: classifiers, and what lies beyond references. */
#pragma once

#include "heap/classify/heap_tree.h"

#define HEAP_LEVELS_ERROR_MAX 256

struct heap_levels {
	const struct heap_classifier *all[HEAP_LEVELS_MAX];
	uint8_t via[HEAP_LEVELS_MAX]; /* enum heap_via */
	unsigned count;
};

/* "type,pointed_from(type,site),age": of the objects that refer there type and site, then the age
 * of the objects themselves. own may be NULL. -EINVAL: error says why. */
int heap_levels_parse(const char *text, const struct heap_own_classifiers *own,
		      struct heap_levels *ret, char error[HEAP_LEVELS_ERROR_MAX]);
/* Bits of enum heap_needs. */
unsigned heap_levels_need(const struct heap_levels *l);
bool heap_levels_go_beyond(const struct heap_levels *l);
/* A level that says something of the address or the length of each object, not of its kind only;
 * NULL: there is none. */
const char *heap_levels_of_objects(const struct heap_levels *l);
void heap_levels_set(const struct heap_levels *l, struct heap_tree *ret);
