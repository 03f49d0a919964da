/* report/heap/heap_agreement.h: whether the collections of a log agree with the JVM's pools, in the
 * heading of whatever is made of its objects. */
#pragma once

#include <jansson.h>
#include <stdio.h>

struct pool_agreement;

/* All accept NULL: it was not looked at. */
/* Collections that differ, before all else; nothing if none does. */
void heap_agreement_first(const struct pool_agreement *a, const char *name, FILE *out);
#define HEAP_AGREEMENT_MAX 200
/* "; 22 of 22 collections agree with the JVM's pools"; "". Returns buf. */
char *heap_agreement_text(const struct pool_agreement *a, char buf[HEAP_AGREEMENT_MAX]);
/* "; 22 of 22 collections agree with the JVM's pools", and the line's end. */
void heap_agreement_head(const struct pool_agreement *a, FILE *out);
/* {"agree":22, "differ":0, "not_compared":0, "layout_known":true}; NULL: no memory. */
json_t *heap_agreement_json(const struct pool_agreement *a);
