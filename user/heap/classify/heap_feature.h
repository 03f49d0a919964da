/* heap/classify/heap_feature.h: features of a program, by a file that says which classes are whose.
 */
#pragma once

#include <stddef.h>

#include "heap/classify/heap_classifier.h"

#define HEAP_FEATURES_BYTES_MAX (1u << 20)
#define HEAP_FEATURES_MAX 1000
#define HEAP_FEATURE_PATTERNS_MAX 4000
#define HEAP_FEATURE_NAME_MAX 100
#define HEAP_FEATURES_ERROR_MAX 256

struct heap_features;

/*
 * Of a text as "name (red green blue) { pattern ... } ..."; the colour may be left out, and #
 * begins a comment. A pattern is a class's name with * and ?: java.* has subpackages, too; or a
 * method's with (), or its bytecodes: a.B.add(), a.B.add:12, a.B.add:10-40. 0, and
 * *ret is to be freed; -EINVAL, and error says in which line and why; -ENOMEM.
 */
int heap_features_new(const char *text, size_t length, struct heap_features **ret,
		      char error[HEAP_FEATURES_ERROR_MAX]);
void heap_features_free(struct heap_features *f); /* accepts NULL */
/*
 * "feature": an object is in those of its class, an array in those of its elements' class; of a
 * log, in those of the innermost frame of its site that has any. "feature_any": of a log, in those
 * of all its frames. In "Others" if there is none. Lent until heap_features_free.
 */
const struct heap_classifier *heap_features_classifier(const struct heap_features *f);
const struct heap_classifier *heap_features_any(const struct heap_features *f);
