/* heap/classify/heap_by_graph.h: classifiers that look at references. */
#pragma once

#include "heap/classify/heap_classifier.h"

void heap_by_points_to(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret);
void heap_by_pointed_from(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret);
void heap_by_reach(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret);
void heap_reach_label(struct heap_view *v, uint64_t key, struct strbuf *ret);
void heap_by_root(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret);
void heap_root_label(struct heap_view *v, uint64_t key, struct strbuf *ret);
void heap_by_retained(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret);
void heap_by_dominator(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret);
