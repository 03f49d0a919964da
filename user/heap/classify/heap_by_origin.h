/* heap/classify/heap_by_origin.h: classifiers that look at where objects come from, which logs of
 * object events have. */
#pragma once

#include "heap/classify/heap_classifier.h"

void heap_by_site(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret);
void heap_by_method(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret);
void heap_by_code(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret);
void heap_by_thread(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret);
void heap_by_space(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret);
/* The site, and the callers that it knows, outwards; the same from the outermost in. */
void heap_by_chain(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret);
void heap_by_callers(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret);
void heap_by_age(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret);
