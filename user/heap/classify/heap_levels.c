#include "heap/classify/heap_levels.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void beyond_label(struct heap_view *v, uint64_t key, struct strbuf *ret)
{
	(void)v;
	(void)key;
	strbuf_add(ret, "points to");
}

static void before_label(struct heap_view *v, uint64_t key, struct strbuf *ret)
{
	(void)v;
	(void)key;
	strbuf_add(ret, "pointed from");
}

/* Of all references from an object, or to it: heap_tree.c knows what to do with them. */
static const struct heap_classifier points_to = {.name = "points_to",
						 .needs = HEAP_NEEDS_GRAPH,
						 .label = beyond_label},
				    pointed_from = {.name = "pointed_from",
						    .needs = HEAP_NEEDS_REFERRERS,
						    .label = before_label};

struct parser {
	const char *at;
	const struct heap_own_classifiers *own;
	struct heap_levels *to;
	char *error;
	bool beyond; /* within parentheses */
};

static int wrong(struct parser *p, const char *what, size_t length)
{
	snprintf(p->error, HEAP_LEVELS_ERROR_MAX, "%s '%.*s'; spoor heap --list has all", what,
		 (int)(length < 100 ? length : 100), p->at);
	return -EINVAL;
}

static int level_add(struct parser *p, const struct heap_classifier *c, enum heap_via via)
{
	struct heap_levels *l = p->to;

	if (l->count == HEAP_LEVELS_MAX) {
		snprintf(p->error, HEAP_LEVELS_ERROR_MAX, "%d names at most", HEAP_LEVELS_MAX);
		return -EINVAL;
	}
	l->all[l->count] = c;
	l->via[l->count++] = (uint8_t)via;
	return 0;
}

/* "points_to(" or "pointed_from(" */
static int open_beyond(struct parser *p, size_t length)
{
	if (p->beyond)
		return wrong(p, "no parentheses within others:", length);
	p->beyond = true;
	if (length == strlen(points_to.name) && !memcmp(p->at, points_to.name, length))
		return level_add(p, &points_to, HEAP_TO_ALL);
	if (length == strlen(pointed_from.name) && !memcmp(p->at, pointed_from.name, length))
		return level_add(p, &pointed_from, HEAP_FROM_ALL);
	return wrong(p, "no parentheses after", length);
}

static int parse_name(struct parser *p)
{
	size_t length = strcspn(p->at, ",()");
	const struct heap_classifier *c = heap_classifier_any(p->own, p->at, length);
	int err;

	if (p->at[length] == '(') {
		err = open_beyond(p, length);
		p->at += length + 1;
		return err ? err : parse_name(p);
	}
	if (!c)
		return wrong(p, "no", length);
	err = level_add(p, c, p->beyond ? HEAP_VIA : HEAP_SELF);
	p->at += length;
	if (*p->at == ')' && p->beyond) {
		p->beyond = false;
		p->at++;
	}
	return err;
}

int heap_levels_parse(const char *text, const struct heap_own_classifiers *own,
		      struct heap_levels *ret, char error[HEAP_LEVELS_ERROR_MAX])
{
	struct heap_levels levels = {0};
	struct parser p = {.at = text, .own = own, .to = &levels, .error = error};
	int err;

	do {
		p.at += levels.count != 0; /* the comma */
		err = parse_name(&p);
	} while (!err && *p.at == ',');
	if (!err && (*p.at || p.beyond))
		err = wrong(&p, p.beyond ? "a ')' is missing at" : "a comma is missing at",
			    strlen(p.at));
	if (!err)
		*ret = levels;
	return err;
}

unsigned heap_levels_need(const struct heap_levels *l)
{
	unsigned needs = HEAP_NEEDS_DESC;

	for (unsigned i = 0; i < l->count; i++)
		needs |= l->all[i]->needs;
	return needs;
}

bool heap_levels_go_beyond(const struct heap_levels *l)
{
	for (unsigned i = 0; i < l->count; i++)
		if (l->via[i] != HEAP_SELF)
			return true;
	return false;
}

const char *heap_levels_of_objects(const struct heap_levels *l)
{
	static const char *const names[] = {"size", "array_length", "length", "shape", "age",
					    "space"};

	for (unsigned i = 0; i < l->count; i++) {
		if (l->all[i]->of_kind && l->via[i] == HEAP_SELF)
			continue;
		if (l->all[i]->needs != HEAP_NEEDS_DESC || l->all[i]->own ||
		    l->via[i] != HEAP_SELF || l->all[i]->shape == HEAP_MANY)
			return l->all[i]->name;
		for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
			if (!strcmp(l->all[i]->name, names[n]))
				return names[n];
	}
	return NULL;
}

void heap_levels_set(const struct heap_levels *l, struct heap_tree *ret)
{
	memcpy(ret->levels, l->all, sizeof(l->all));
	memcpy(ret->via, l->via, sizeof(l->via));
	ret->level_count = l->count;
}
