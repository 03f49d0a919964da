#include "report/model/where.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells/stacks.h"

#define AFTER_WAIT ASPECT_COUNT

static int find_aspect(const void *ctx, const char *name, size_t length)
{
	static const char after_wait[] = "after_wait";

	(void)ctx;
	return length == strlen(after_wait) && !memcmp(name, after_wait, length)
		       ? AFTER_WAIT
		       : aspect_by_name(name, length);
}

static const char *aspect_name(const void *ctx, int n)
{
	(void)ctx;
	if (n == AFTER_WAIT)
		return "after_wait";
	return n < ASPECT_COUNT ? aspect_get(n)->name : NULL;
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

	if (aspect == AFTER_WAIT)
		return !fnmatch(glob, s->cell->after_wait ? "yes" : "no", 0);
	if (aspect == ASPECT_WAITER_STACK && group_stack(s->stacks, &g))
		return any_frame(s, glob, s->cell->waiter_stack);
	if (aspect == ASPECT_OWNER_STACK && group_stack(s->stacks, &g))
		return any_frame(s, glob, s->cell->holder_stack);
	return !fnmatch(glob, label_group(s->labels, s->stacks, &g, label), 0);
}

int where_cells(const struct condition *w, const struct stacks *stacks, const struct cell *cells,
		uint32_t count, struct cell **ret, uint32_t *ret_count)
{
	struct labels *labels = labels_new(stacks_names(stacks));
	struct cell *chosen = malloc((count + 1ul) * sizeof(*chosen));
	struct subject s = {.labels = labels, .stacks = stacks};
	uint32_t n = 0;

	if (!labels || !chosen) {
		labels_free(labels);
		free(chosen);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++) {
		s.cell = &cells[i];
		if (condition_holds(w, is, &s))
			chosen[n++] = cells[i];
	}
	labels_free(labels);
	*ret = chosen;
	*ret_count = n;
	return 0;
}
