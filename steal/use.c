#include "steal/use.h"

#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"

struct steal_use *use_list_add(struct use_list *l)
{
	struct steal_use *v;

	if (array_grow(&l->v, &l->capacity, l->count, sizeof(*l->v)))
		return NULL;
	v = &l->v[l->count++];
	memset(v, 0, sizeof(*v));
	return v;
}

static int compare_key(const void *a, const void *b)
{
	const struct steal_use *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->start_ticks > y->start_ticks) - (x->start_ticks < y->start_ticks);
}

static int compare_stolen(const void *a, const void *b, void *method)
{
	const struct steal_use *x = a, *y = b;
	int m = *(const int *)method;

	if (x->stolen_ns[m] != y->stolen_ns[m])
		return x->stolen_ns[m] < y->stolen_ns[m] ? 1 : -1;
	if (x->cpu_ns != y->cpu_ns)
		return x->cpu_ns < y->cpu_ns ? 1 : -1;
	return compare_key(a, b);
}

void use_sort(struct steal_use *v, size_t count, bool exact)
{
	int method = exact ? STEAL_EXACT : STEAL_PROPORTIONAL;

	if (count)
		qsort_r(v, count, sizeof(*v), compare_stolen, &method);
}

void use_sort_by_key(struct steal_use *v, size_t count)
{
	if (count)
		qsort(v, count, sizeof(*v), compare_key);
}

struct steal_use *use_find(struct steal_use *v, size_t count, const struct steal_use *like)
{
	return count ? bsearch(like, v, count, sizeof(*v), compare_key) : NULL;
}
