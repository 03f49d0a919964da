/* analyze/spans/span_name.h: the table of spans by name. */
#pragma once

#include "analyze/spans/spans.h"
#include "base/tables/keymap.h"

#define SPAN_NAME_BYTES 256
#define SPAN_NAMES_MAX 10000

struct span_names {
	struct keymap map;      /* by two hashes of the text */
	struct span_name **all; /* [map.count] */
	uint32_t capacity;
};

/* Its index, a new one if need be. INDEX_NONE: there are too many. 0 or -ENOMEM. */
int span_names_add(struct span_names *n, const char *text, uint32_t *ret);
void span_names_free(struct span_names *n);

/*
 * What the groups of the expression match, with a blank between two; all of the match if it has no
 * groups, all of the text if there is no expression (NULL). false: it does not match, or matches
 * nothing. Always UTF-8, and at most so many bytes of it.
 */
bool span_name_cut(const regex_t *expression, const char *text, char buf[SPAN_NAME_BYTES]);
