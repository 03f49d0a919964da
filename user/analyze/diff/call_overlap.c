#include "analyze/diff/call_overlap.h"

#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"

#define HOT 0.1

/* FNV-1a; no key, as both sides are compared by it alone, and chance is all that is asked of it. */
static uint64_t mix(uint64_t hash, const char *text)
{
	do
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	while (*text++);
	return hash;
}

uint64_t call_path_of(uint64_t caller, const char *class_name, const char *method)
{
	uint64_t hash = mix(mix(caller, class_name), method);

	hash ^= hash >> 32;
	return hash * 0xd6e8feb86659fd93ull;
}

int call_paths_add(struct call_paths *c, uint64_t path, uint64_t ns)
{
	int err;

	c->all_ns += ns;
	if (c->count == CALL_PATHS_MAX)
		call_paths_sort(c);
	if (c->count == CALL_PATHS_MAX) {
		c->left_out_ns += ns;
		return 0;
	}
	err = array_grow(&c->paths, &c->capacity, c->count, sizeof(*c->paths));
	if (!err)
		c->paths[c->count++] = (struct call_path){path, ns};
	return err;
}

static int by_path(const void *a, const void *b)
{
	const struct call_path *x = a, *y = b;

	return (x->path > y->path) - (x->path < y->path);
}

void call_paths_sort(struct call_paths *c)
{
	uint32_t n = 0;

	if (!c->count)
		return;
	qsort(c->paths, c->count, sizeof(*c->paths), by_path);
	for (uint32_t i = 1; i < c->count; i++) {
		if (c->paths[i].path == c->paths[n].path)
			c->paths[n].ns += c->paths[i].ns;
		else
			c->paths[++n] = c->paths[i];
	}
	c->count = n + 1;
}

void call_paths_free(struct call_paths *c)
{
	free(c->paths);
	*c = (struct call_paths){.paths = NULL};
}

static double hottest_of(const struct call_paths *c)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < c->count; i++)
		most = c->paths[i].ns > most ? c->paths[i].ns : most;
	return (double)most;
}

/* The time at a path; 0: it is not there. *at goes on from one path to a later one. */
static uint64_t time_at(const struct call_paths *c, uint64_t path, uint32_t *at)
{
	while (*at < c->count && c->paths[*at].path < path)
		++*at;
	return *at < c->count && c->paths[*at].path == path ? c->paths[*at].ns : 0;
}

static double hot_of(const struct call_paths *one, const struct call_paths *other)
{
	double least = HOT * hottest_of(one), other_least = HOT * hottest_of(other);
	uint32_t hot = 0, both = 0, at = 0;

	for (uint32_t i = 0; i < one->count; i++) {
		if ((double)one->paths[i].ns < least || !one->paths[i].ns)
			continue;
		hot++;
		both += (double)time_at(other, one->paths[i].path, &at) >= other_least;
	}
	return hot ? (double)both / hot : 0;
}

struct call_likeness call_likeness_of(const struct call_paths *before,
				      const struct call_paths *after)
{
	double before_ns = (double)before->all_ns, after_ns = (double)after->all_ns;
	struct call_likeness l = {.overlap = 0};
	uint32_t at = 0;

	if (before_ns <= 0 && after_ns <= 0)
		return (struct call_likeness){1, 1, 1};
	if (before_ns <= 0 || after_ns <= 0)
		return l;
	for (uint32_t i = 0; i < before->count; i++) {
		double a = (double)before->paths[i].ns / before_ns;
		double b = (double)time_at(after, before->paths[i].path, &at) / after_ns;

		l.overlap += a < b ? a : b;
	}
	l.hot_before = hot_of(before, after);
	l.hot_after = hot_of(after, before);
	return l;
}
