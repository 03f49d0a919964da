#include "report/heap/lives/heap_lives_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/hash.h"
#include "heap/classify/heap_classifier.h"
#include "heap/snapshot/replay_state.h"
#include "heap/state/heap_state.h"

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
	for (uint32_t i = 1; all && i < count; i++) {
		const struct object_site *s = &n->sites[site];
		bool first = i == s->frame_count - s->inferred;

		/* Of a long name people see the begin: all frames after the mark are inferred. */
		object_frame_text(n, site, i, name, sizeof(name));
		if (i >= s->frame_count - s->inferred)
			name[strlen(name) - strlen(OBJECT_FRAME_INFERRED)] = '\0';
		strbuf_add(o, " <%s %s", first ? OBJECT_FRAME_INFERRED : "", name);
	}
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

/* --- groups in groups --------------------------------------------------------------------- */

struct leveller {
	struct heap_lives_groups *g;
	struct names names;
	struct heap_state state; /* of kinds */
	struct heap_view view;
	struct heap_keys keys;
	struct strbuf name;
};

/* The group of what is in l->name, whose last part begins at label. */
static int node_of(struct leveller *l, uint32_t parent, size_t label, unsigned level, uint32_t *ret)
{
	uint32_t known = l->g->count;
	int err = l->name.err;

	if (!err)
		err = group_of(l->g, &l->names, strbuf_text(&l->name), ret);
	if (err || *ret != known)
		return err;
	err = array_grow(&l->g->nodes, &l->g->node_capacity, known, sizeof(*l->g->nodes));
	if (!err)
		l->g->nodes[known] =
			(struct heap_lives_node){parent, (uint32_t)label, (uint16_t)level};
	return err;
}

static size_t begin_label(struct leveller *l, uint32_t parent)
{
	strbuf_add(&l->name, "%s", parent == HEAP_LIVES_TOP ? "" : " > ");
	return l->name.used;
}

static void add_label(struct leveller *l, const struct heap_classifier *c, uint64_t key)
{
	if (key == HEAP_KEY_NONE)
		strbuf_add(&l->name, "(none)");
	else
		c->label(&l->view, key, &l->name);
}

static int compare_keys(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* What is in several groups is one of its own, "A + B": sums are of each object once. */
static int add_joined(struct leveller *l, const struct heap_classifier *c, unsigned level,
		      uint32_t *node)
{
	size_t label = begin_label(l, *node);

	qsort(l->keys.all, l->keys.count, sizeof(*l->keys.all), compare_keys);
	for (uint32_t i = 0; i < l->keys.count; i++) {
		strbuf_add(&l->name, "%s", i ? " + " : "");
		add_label(l, c, l->keys.all[i]);
	}
	return node_of(l, *node, label, level, node);
}

static int add_level(struct leveller *l, const struct heap_classifier *c, unsigned level,
		     uint32_t desc, uint32_t *node)
{
	const struct heap_item item = {desc, HEAP_NONE};
	int err;

	l->keys.count = 0;
	heap_classify(c, &l->view, &item, &l->keys);
	if (!l->keys.count)
		heap_keys_add(&l->keys, HEAP_KEY_NONE);
	err = l->keys.err ? l->keys.err : l->view.err;
	if (!err && c->shape == HEAP_MANY)
		return add_joined(l, c, level, node);
	for (uint32_t i = 0; i < l->keys.count && !err; i++) {
		size_t label = begin_label(l, *node);

		add_label(l, c, l->keys.all[i]);
		err = node_of(l, *node, label, level, node);
	}
	return err;
}

/* Half of the table is free, which is more than one kind takes: 8 levels of 16 frames. */
static int names_grow(struct names *n, const struct heap_lives_groups *g)
{
	struct names more = {.mask = 2 * n->mask + 1};

	if (g->count < n->mask / 2)
		return 0;
	more.buckets = calloc(more.mask + 1ul, sizeof(*more.buckets));
	if (!more.buckets)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->count; i++) {
		uint32_t at = (uint32_t)hash_bytes(g->names[i], strlen(g->names[i])) & more.mask;

		while (more.buckets[at])
			at = (at + 1) & more.mask;
		more.buckets[at] = i + 1;
	}
	free(n->buckets);
	*n = more;
	return 0;
}

static int level_kinds(const struct heap_lives_report *r, struct leveller *l)
{
	const struct object_names *n = object_replay_names(r->log);
	int err = 0;

	for (uint32_t i = 0; i < n->kind_count && !err; i++) {
		uint32_t node = HEAP_LIVES_TOP;

		strbuf_clear(&l->name);
		err = names_grow(&l->names, l->g);
		for (unsigned k = 0; k < r->levels->count && !err; k++)
			err = add_level(l, r->levels->all[k], k, l->state.objects.desc[i], &node);
		l->g->of_kind[i] = node;
	}
	return err;
}

static int name_levels(const struct heap_lives_report *r, struct heap_lives_groups *g)
{
	const struct replay_state_options options = {.spaces.collector = HEAP_OTHER,
						     .thread_name = r->thread_name,
						     .ctx = r->thread_ctx};
	struct leveller l = {.g = g, .names.mask = 4095};
	int err = replay_state_kinds(r->log, &options, &l.state);

	g->of_kind = calloc(object_replay_names(r->log)->kind_count, sizeof(*g->of_kind));
	l.names.buckets = calloc(l.names.mask + 1ul, sizeof(*l.names.buckets));
	if (!err && (!g->of_kind || !l.names.buckets))
		err = -ENOMEM;
	if (!err)
		err = heap_view_init(&l.view, &l.state, HEAP_NEEDS_DESC);
	l.view.own = r->own;
	if (!err)
		err = level_kinds(r, &l);
	heap_view_free(&l.view);
	heap_state_free(&l.state);
	strbuf_free(&l.name);
	free(l.names.buckets);
	free(l.keys.all);
	return err;
}

_Static_assert(sizeof(struct heap_lives) % sizeof(uint64_t) == 0, "sums, and nothing else");

/* A group comes after the one around it. */
static int sum_levels(struct heap_lives_groups *g)
{
	const size_t words = sizeof(*g->totals) / sizeof(uint64_t);

	g->totals = calloc(g->count + 1ul, sizeof(*g->totals));
	if (!g->totals)
		return -ENOMEM;
	memcpy(g->totals, g->sums, g->count * sizeof(*g->totals));
	for (uint32_t i = g->count; i--;) {
		uint64_t *to, *from = (uint64_t *)&g->totals[i];

		if (g->nodes[i].parent == HEAP_LIVES_TOP)
			continue;
		to = (uint64_t *)&g->totals[g->nodes[i].parent];
		for (size_t k = 0; k < words; k++)
			to[k] += from[k];
	}
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

bool heap_lives_says(const struct heap_lives *g, enum heap_lives_view view)
{
	return heap_lives_weight(g, view) || (view == HEAP_LIVES_DIFF && has_come(g));
}

uint32_t *heap_lives_order(const struct heap_lives_groups *g, enum heap_lives_view view)
{
	struct weighted *all = calloc(g->count + 1ul, sizeof(*all));
	uint32_t *order = calloc(g->count + 1ul, sizeof(*order));

	if (!all || !order) {
		free(all);
		free(order);
		return NULL;
	}
	for (uint32_t i = 0; i < g->count; i++)
		all[i] = (struct weighted){heap_lives_weight(&g->totals[i], view), i};
	qsort(all, g->count, sizeof(*all), compare);
	for (uint32_t i = 0; i < g->count; i++)
		order[i] = all[i].group;
	free(all);
	return order;
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
		if (heap_lives_says(&g->sums[all[i].group], r->view))
			g->order[n++] = all[i].group;
	g->order_count = n;
	free(all);
	return 0;
}

/* Of moment 0, which is no collection's, only the end is known: the log's begin. */
static int times_make(const struct object_replay *log, struct heap_lives_times *ret)
{
	const struct object_names *n = object_replay_names(log);
	uint32_t count;
	const struct object_collection *c = object_replay_collections(log, &count);
	struct heap_lives_times t = {.begin_ns = calloc(count + 1ul, sizeof(*t.begin_ns)),
				     .end_ns = calloc(count + 1ul, sizeof(*t.end_ns)),
				     .count = count + 1,
				     .untimed = calloc(n->kind_count, sizeof(*t.untimed))};

	*ret = t;
	if (!t.begin_ns || !t.end_ns || !t.untimed)
		return -ENOMEM;
	t.end_ns[0] = object_replay_sums(log)->begin_ns;
	for (uint32_t i = 0; i < count; i++) {
		t.begin_ns[i + 1] = c[i].begin_ns;
		t.end_ns[i + 1] = c[i].end_ns;
	}
	for (uint32_t i = 0; i < n->kind_count; i++)
		t.untimed[i] = !i || n->kinds[i].part == OBJECT_PART_CARRIED ||
			       object_names_was_found(n, i);
	return 0;
}

/* one: a single group of all kinds. */
static int add_lives(const struct heap_lives_report *r, const struct object_lifetimes *l,
		     const uint32_t *one, struct heap_lives_groups *g)
{
	struct heap_lives_times times;
	const struct heap_lives_interval interval = {r->from, r->to, &times};
	int err = times_make(r->log, &times);

	if (!err) {
		heap_lives_add(l, g->of_kind, &interval, g->sums);
		heap_lives_add(l, one, &interval, &g->all);
	}
	free(times.begin_ns);
	free(times.end_ns);
	free(times.untimed);
	return err;
}

int heap_lives_groups_name(const struct heap_lives_report *r, struct heap_lives_groups *ret)
{
	*ret = (struct heap_lives_groups){0};
	return r->levels ? name_levels(r, ret) : name_kinds(r, ret);
}

int heap_lives_groups_make(const struct heap_lives_report *r, struct heap_lives_groups *ret)
{
	const struct object_lifetimes *l = object_replay_lifetimes(r->log);
	uint32_t kinds = object_replay_names(r->log)->kind_count, *one;
	int err = heap_lives_groups_name(r, ret);

	if (err)
		return err;
	ret->sums = calloc(ret->count, sizeof(*ret->sums));
	one = calloc(kinds, sizeof(*one));
	if (ret->sums && one) {
		err = add_lives(r, l, one, ret);
		if (!err)
			err = order_groups(r, ret);
		if (!err && r->levels)
			err = sum_levels(ret);
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
	free(g->nodes);
	free(g->totals);
	*g = (struct heap_lives_groups){0};
}
