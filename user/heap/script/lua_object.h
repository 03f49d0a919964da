/* heap/script/lua_object.h: objects of a heap, as a script sees them. */
#pragma once

#include <stdbool.h>

#include "heap/classify/heap_classifier.h"

struct lua_State;

/* What is looked at now, and how much of it the script has asked for. */
struct lua_object_view {
	struct heap_view *view;
	unsigned needs;        /* of the classifier: bits of enum heap_needs */
	bool touched;          /* more than the description of the object */
	struct heap_keys keys; /* of built-in classifiers */
	struct strbuf label;
};

/* Bits of enum heap_needs, or -1: there is no such word for needs. */
int lua_object_needs(const char *word);
/* What objects are, for scripts; v is lent until lua_close. Errors are raised in Lua. */
void lua_object_open(struct lua_State *lua, struct lua_object_view *v);
/* Pushes an object. */
void lua_object_push(struct lua_State *lua, const struct heap_item *item);
void lua_object_view_free(struct lua_object_view *v);
