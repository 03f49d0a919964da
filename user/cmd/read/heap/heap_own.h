/* cmd/read/heap/heap_own.h: classifiers that the user brings along in files. */
#pragma once

#include <stdbool.h>

#include "heap/classify/heap_classifier.h"

#define HEAP_OWN_FILES_MAX 8

struct heap_own_files {
	struct heap_script *scripts[HEAP_OWN_FILES_MAX];
	const char *names[HEAP_OWN_FILES_MAX];
	unsigned count;
	struct heap_features *features; /* NULL: none */
	struct heap_own_classifiers classifiers;
};

/* Reads a script; says what is wrong. force: also another user's. 0 or a negative errno. */
int heap_own_script(struct heap_own_files *own, const char *name, bool force);
/* The same with a file of features. */
int heap_own_features(struct heap_own_files *own, const char *name, bool force);
void heap_own_free(struct heap_own_files *own);
/* What scripts have done wrong. */
void heap_own_say_errors(const struct heap_own_files *own);
/* -ECANCELED has been the error of a report: says why. */
void heap_own_say_stopped(const struct heap_own_files *own);
