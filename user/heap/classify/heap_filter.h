/* heap/classify/heap_filter.h: which objects --where chooses. */
#pragma once

#include <stdbool.h>

#include "base/text/condition.h"
#include "heap/classify/heap_classifier.h"

struct heap_filter;

/* own may be NULL.
 * The condition's names are those of classifiers; the texts are those that people see. Of a
 * classifier with several groups any may be meant. */
int heap_condition_parse(const char *text, const struct heap_own_classifiers *own,
			 struct condition **ret, char error[CONDITION_ERROR_MAX]);
/* What the condition looks at, bits of enum heap_needs; NULL: nothing. */
unsigned heap_condition_needs(const struct condition *c, const struct heap_own_classifiers *own);

/* c and v are lent until heap_filter_free; c may be NULL: all are chosen. c's
 * classifiers are those of v. -ENOMEM. */
int heap_filter_new(const struct condition *c, struct heap_view *v, struct heap_filter **ret);
void heap_filter_free(struct heap_filter *f); /* accepts NULL */
unsigned heap_filter_needs(const struct heap_filter *f);
/* 1: chosen; 0; -ENOMEM; -ECANCELED, as the err of heap_keys. */
int heap_filter_holds(struct heap_filter *f, const struct heap_item *item);
