#include "report/heap/heap_lives_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/hash.h"

#define NAME_BYTES 1024
#define OTHERS "(others, of few bytes)"

const char *const heap_lives_by_names[HEAP_LIVES_BY_COUNT] = {
	[HEAP_LIVES_BY_TYPE] = "type",   [HEAP_LIVES_BY_SITE] = "site",
	[HEAP_LIVES_BY_CHAIN] = "chain", [HEAP_LIVES_BY_METHOD] = "method",
	[HEAP_LIVES_BY_CODE] = "code",   [HEAP_LIVES_BY_AGE] = "age",
};

static void add_method(const struct object_names *n, uint32_t site, struct strbuf *o)
{
	char name[NAME_BYTES];

	strbuf_add(o, "%s", object_method_text(n, site, 0, name, sizeof(name)));
}

static void add_frames(const struct object_names *n, uint32_t site, bool all, struct strbuf *o)
{
	uint32_t count = site == INDEX_NONE ? 0 : n->sites[site].frame_count;
	char name[NAME_BYTES];

	strbuf_add(o, " at %s", object_frame_text(n, site, 0, name, sizeof(name)));
	for (uint32_t i = 1; all && i < count; i++)
		strbuf_add(o, " < %s", object_frame_text(n, site, i, name, sizeof(name)));
}

static void add_name(const struct object_names *n, uint32_t kind, enum heap_lives_by by,
		     struct strbuf *o)
{
	const struct object_kind *k = &n->kinds[kind];
	char name[NAME_BYTES];

	if (!kind) {
		strbuf_add(o, OTHERS);
	} else if (by == HEAP_LIVES_BY_METHOD) {
		add_method(n, k->site, o);
	} else if (by == HEAP_LIVES_BY_CODE) {
		strbuf_add(o, "%s", object_code_text(n, k->site));
	} else {
		strbuf_add(o, "%s", object_class_text(n, k->class, name, sizeof(name)));
		if (by == HEAP_LIVES_BY_SITE || by == HEAP_LIVES_BY_CHAIN)
			add_frames(n, k->site, by == HEAP_LIVES_BY_CHAIN, o);
	}
}

/* Names are found by hashes of themselves, and compared; buckets: 1 + group. */
struct names {
	uint32_t *buckets, mask;
};

static int group_of(struct heap_lives_groups *g, struct names *names, const char *name,
		    uint32_t *ret)
{
	uint32_t at = (uint32_t)hash_bytes(name, strlen(name)) & names->mask;
	char *copy;

	for (; names->buckets[at]; at = (at + 1) & names->mask)
		if (!strcmp(g->names[names->buckets[at] - 1], name)) {
			*ret = names->buckets[at] - 1;
			return 0;
		}
	if (array_grow(&g->names, &g->capacity, g->count, sizeof(*g->names)))
		return -ENOMEM;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	g->names[g->count] = copy;
	*ret = g->count++;
	names->buckets[at] = g->count;
	return 0;
}

static int name_kinds(const struct heap_lives_report *r, struct heap_lives_groups *g)
{
	const struct object_names *n = object_replay_names(r->log);
	struct strbuf name = {0};
	struct names names = {.mask = 63};
	int err = 0;

	while (names.mask / 2 < n->kind_count)
		names.mask = 2 * names.mask + 1;
	names.buckets = calloc(names.mask + 1ul, sizeof(*names.buckets));
	g->of_kind = calloc(n->kind_count, sizeof(*g->of_kind));
	if (!names.buckets || !g->of_kind)
		err = -ENOMEM;
	for (uint32_t i = 0; i < n->kind_count && !err; i++) {
		strbuf_clear(&name);
		add_name(n, i, r->by, &name);
		err = name.err ? name.err : group_of(g, &names, strbuf_text(&name), &g->of_kind[i]);
	}
	strbuf_free(&name);
	free(names.buckets);
	return err;
}

int64_t heap_lives_weight(const struct heap_lives *g, enum heap_lives_view view)
{
	uint64_t bytes = g->of[LIFETIME_TEMPORARY].bytes;

	if (view == HEAP_LIVES_GROW)
		return (int64_t)(g->old_to.bytes - g->old_from.bytes);
	if (view == HEAP_LIVES_DIFF)
		return (int64_t)(g->of[LIFETIME_BORN].bytes - g->of[LIFETIME_DIED].bytes);
	return (int64_t)(view == HEAP_LIVES_CHURN ? bytes : bytes + g->of[LIFETIME_DIED].bytes);
}

struct weighted {
	int64_t weight;
	uint32_t group;
};

static int compare(const void *a, const void *b)
{
	const struct weighted *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->group > y->group) - (x->group < y->group);
}

/* Something was born, be it dead by now. */
static bool has_come(const struct heap_lives *g)
{
	return g->of[LIFETIME_BORN].objects || g->of[LIFETIME_TEMPORARY].objects;
}

static int order_groups(const struct heap_lives_report *r, struct heap_lives_groups *g)
{
	struct weighted *all = calloc(g->count + 1ul, sizeof(*all));
	uint32_t n = 0;

	g->order = calloc(g->count + 1ul, sizeof(*g->order));
	if (!all || !g->order) {
		free(all);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->count; i++)
		all[i] = (struct weighted){heap_lives_weight(&g->sums[i], r->view), i};
	qsort(all, g->count, sizeof(*all), compare);
	for (uint32_t i = 0; i < g->count; i++)
		if (all[i].weight ||
		    (r->view == HEAP_LIVES_DIFF && has_come(&g->sums[all[i].group])))
			g->order[n++] = all[i].group;
	g->order_count = n;
	free(all);
	return 0;
}

int heap_lives_groups_make(const struct heap_lives_report *r, struct heap_lives_groups *ret)
{
	const struct object_lifetimes *l = object_replay_lifetimes(r->log);
	uint32_t kinds = object_replay_names(r->log)->kind_count, *one;
	int err;

	*ret = (struct heap_lives_groups){0};
	err = name_kinds(r, ret);
	if (err)
		return err;
	ret->sums = calloc(ret->count, sizeof(*ret->sums));
	one = calloc(kinds, sizeof(*one));
	if (ret->sums && one) {
		heap_lives_add(l, ret->of_kind, r->from, r->to, ret->sums);
		heap_lives_add(l, one, r->from, r->to, &ret->all);
		err = order_groups(r, ret);
	} else {
		err = -ENOMEM;
	}
	free(one);
	return err;
}

void heap_lives_groups_free(struct heap_lives_groups *g)
{
	for (uint32_t i = 0; i < g->count; i++)
		free(g->names[i]);
	free(g->names);
	free(g->sums);
	free(g->of_kind);
	free(g->order);
	*g = (struct heap_lives_groups){0};
}
