/* heap/classify/heap_classifier.h: what objects can be grouped by. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tables/keymap.h"
#include "base/text/strbuf.h"

struct heap_dominators;
struct heap_graph;
struct heap_referrers;
struct heap_state;
struct heap_view;

/* How many groups an object is in: one; any number, which overlap; or one in which it is, and those
 * around that group, the outermost first. */
enum heap_shape { HEAP_ONE, HEAP_MANY, HEAP_HIERARCHY };

/* What a classifier looks at beyond descriptions: bits. */
enum heap_needs {
	HEAP_NEEDS_DESC = 0,
	HEAP_NEEDS_OBJECTS = 1,
	HEAP_NEEDS_GRAPH = 2 | HEAP_NEEDS_OBJECTS,
	HEAP_NEEDS_REFERRERS = 4 | HEAP_NEEDS_GRAPH,
	HEAP_NEEDS_DOMINATORS = 8 | HEAP_NEEDS_GRAPH,
};

struct heap_item {
	uint32_t desc, object; /* object: HEAP_NONE for all of a description */
};

/* Groups of an item; none: it has no group. */
struct heap_keys {
	uint64_t *all;
	uint32_t count, capacity;
	int err; /* -ENOMEM; -ECANCELED: a classifier of the user's has gone too far */
};

struct heap_classifier {
	const char *name, *doc;
	enum heap_shape shape;
	unsigned needs; /* enum heap_needs */
	bool of_kind;   /* own: kinds of a log are enough, as the dead have them */
	void (*keys)(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret);
	/* What people call a group; foreign text. */
	void (*label)(struct heap_view *v, uint64_t key, struct strbuf *ret);
	/* Of the user's own, in place of keys. */
	void (*own_keys)(const struct heap_classifier *c, struct heap_view *v,
			 const struct heap_item *item, struct heap_keys *ret);
	void *own;
};

static inline void heap_classify(const struct heap_classifier *c, struct heap_view *v,
				 const struct heap_item *item, struct heap_keys *ret)
{
	if (c->own_keys)
		c->own_keys(c, v, item, ret);
	else
		c->keys(v, item, ret);
}

#define HEAP_OWN_MAX 130

/* Those that the user has brought along; all is lent. They come after the built-in ones. */
struct heap_own_classifiers {
	const struct heap_classifier *all[HEAP_OWN_MAX];
	unsigned count;
};

/* NULL: there is none. Of the built-in ones; of all, where own may be NULL: none. */
const struct heap_classifier *heap_classifier_find(const char *name, size_t length);
const struct heap_classifier *heap_classifier_any(const struct heap_own_classifiers *own,
						  const char *name, size_t length);
const struct heap_classifier *heap_classifier_get(const struct heap_own_classifiers *own,
						  unsigned n);
int heap_classifier_number(const struct heap_own_classifiers *own, const struct heap_classifier *c);

/* What classifiers derive from a state, once for all objects. */
struct heap_view {
	const struct heap_state *state;
	const struct heap_own_classifiers *own; /* lent; NULL: none */
	/* As far as they are needed. */
	struct heap_graph *graph;
	struct heap_referrers *referrers;
	struct heap_dominators *dominators;
	struct strbuf label;
	struct keymap text_keys; /* groups that are texts: names of types, packages */
	uint64_t *text_at;
	struct strbuf texts;
	uint32_t text_capacity;
	uint32_t *type_keys;                  /* by type; HEAP_NONE: not asked for yet */
	struct heap_memo *memos;              /* heap_memo_find() */
	uint32_t *seen, seen_capacity, round; /* seen: by key of a text, the last round with it */
	int err;
};

/* state is lent until heap_view_free; it has objects if more is needed than descriptions. -ENOMEM;
 * -EOVERFLOW. */
int heap_view_init(struct heap_view *v, const struct heap_state *state, unsigned needs);
void heap_view_free(struct heap_view *v);
/* The key of a text; HEAP_NONE, and err in v, without memory. */
uint32_t heap_view_text(struct heap_view *v, const char *text, size_t length);
const char *heap_view_text_get(const struct heap_view *v, uint64_t key);
/* A new round; whether a text's key comes for the first time in it. */
void heap_view_round(struct heap_view *v);
bool heap_view_first(struct heap_view *v, uint32_t key);
/* The key of a type's name: types of several class loaders have the same. */
uint32_t heap_view_type(struct heap_view *v, uint32_t type);
void heap_keys_add(struct heap_keys *k, uint64_t key);

/* What is remembered of a classifier, as it is the same for all objects of a description: true, and
 * the groups are added to *ret. */
bool heap_memo_find(struct heap_view *v, const struct heap_classifier *c, uint32_t desc,
		    struct heap_keys *ret);
/* -ENOMEM. */
int heap_memo_add(struct heap_view *v, const struct heap_classifier *c, uint32_t desc,
		  const struct heap_keys *keys);
