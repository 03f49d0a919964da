#include "report/model/where.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "analyze/stacks/stacks.h"

static int find_aspect(const void *ctx, const char *name, size_t length)
{
	(void)ctx;
	return aspect_by_name(name, length);
}

static const char *aspect_name(const void *ctx, int n)
{
	(void)ctx;
	return n < ASPECT_COUNT ? aspect_get(n)->name : NULL;
}

const char *where_faceted(const struct condition *w, unsigned facets)
{
	unsigned at = 0;
	int aspect;

	while (w && (aspect = condition_next_name(w, &at)) >= 0)
		if (aspect_get(aspect)->facets & facets)
			return aspect_get(aspect)->name;
	return NULL;
}

unsigned where_facets(const struct condition *w)
{
	unsigned at = 0, facets = 0;
	int aspect;

	while (w && (aspect = condition_next_name(w, &at)) >= 0)
		facets |= aspect_get(aspect)->facets;
	return facets;
}

/* Pools and packages, if any are asked for. */
static int prepare(const struct condition *w, const struct stacks *stacks)
{
	unsigned at = 0;
	int aspect, err = 0;

	while (!err && (aspect = condition_next_name(w, &at)) >= 0) {
		enum aspect_id id = aspect;

		err = aspects_prepare(stacks, &id, 1);
	}
	return err;
}

int where_parse(const char *text, struct condition **ret, char error[WHERE_ERROR_MAX])
{
	static const struct condition_names names = {.noun = "an aspect",
						     .example = "lock_class=*Table*",
						     .find = find_aspect,
						     .name = aspect_name};

	return condition_parse(text, &names, ret, error);
}

void where_free(struct condition *w)
{
	condition_free(w);
}

/* A cell, and what it takes to name it. */
struct subject {
	const struct labels *labels;
	const struct stacks *stacks;
	const struct cell *cell;
};

static bool any_frame(const struct subject *s, const char *glob, uint64_t stack)
{
	char label[LABEL_MAX];
	struct stacks_frame f;

	while (stacks_next(s->stacks, &stack, &f)) {
		if (f.method && !fnmatch(glob, label_method_name(f.method, label), 0))
			return true;
	}
	return false;
}

static bool is(void *ctx, int aspect, const char *glob)
{
	const struct subject *s = ctx;
	const struct group g = {.aspect = aspect, .cell = s->cell};
	char label[LABEL_MAX];

	if (aspect == ASPECT_WAITER_STACK && group_stack(s->stacks, &g))
		return any_frame(s, glob, s->cell->waiter_stack);
	if (aspect == ASPECT_OWNER_STACK && group_stack(s->stacks, &g))
		return any_frame(s, glob, s->cell->holder_stack);
	return !fnmatch(glob, label_group(s->labels, s->stacks, &g, label), 0);
}

int where_cells(const struct condition *w, const struct where_input *in, struct cell **ret,
		uint32_t *ret_count)
{
	struct labels *labels = labels_new(stacks_names(in->stacks));
	struct cell *chosen = malloc((in->count + 1ul) * sizeof(*chosen));
	struct subject s = {.labels = labels, .stacks = in->stacks};
	uint32_t n = 0;

	if (!labels || !chosen || prepare(w, in->stacks)) {
		labels_free(labels);
		free(chosen);
		return -ENOMEM;
	}
	labels_set_facets(labels, in->facets);
	for (uint32_t i = 0; i < in->count; i++) {
		s.cell = &in->cells[i];
		if (condition_holds(w, is, &s))
			chosen[n++] = in->cells[i];
	}
	labels_free(labels);
	*ret = chosen;
	*ret_count = n;
	return 0;
}
