/* heap/script/heap_script.h: classifiers that a user writes, in Lua. */
#pragma once

#include <stddef.h>

#include "heap/classify/heap_classifier.h"

#define HEAP_SCRIPT_BYTES_MAX (1u << 20)
#define HEAP_SCRIPT_CLASSIFIERS_MAX 16
#define HEAP_SCRIPT_ERROR_MAX 512

struct heap_script;

/*
 * Runs the text of a script, which declares classifiers; name is what its errors call it. own:
 * those that there are already, whose names are taken; may be NULL. 0, and *ret is to be freed;
 * -EINVAL, and error says where and why; -ENOMEM.
 */
int heap_script_new(const char *name, const char *text, size_t length,
		    const struct heap_own_classifiers *own, struct heap_script **ret,
		    char error[HEAP_SCRIPT_ERROR_MAX]);
void heap_script_free(struct heap_script *s); /* accepts NULL */
/* Lent until heap_script_free; NULL: there are no more. */
const struct heap_classifier *heap_script_get(const struct heap_script *s, unsigned n);

/* The first error, of an object that is in the group (error); NULL: there was none. */
const char *heap_script_error(const struct heap_script *s);
/* Which bound the script has gone beyond, and where, so that heap_keys had the error -ECANCELED;
 * NULL: none. */
const char *heap_script_stopped(const struct heap_script *s);
