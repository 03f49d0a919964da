#include "analyze/diff/call_paths.h"

#include <stdlib.h>

#include "base/tables/array.h"

/* FNV-1a, without a key: paths are compared by it alone, and a collision adds two edges up. */
uint64_t call_path_of(uint64_t caller, const char *frame)
{
	uint64_t hash = caller;

	do
		hash = (hash ^ (unsigned char)*frame) * 0x100000001b3ull;
	while (*frame++);
	hash ^= hash >> 32;
	return hash * 0xd6e8feb86659fd93ull;
}

int call_paths_add(struct call_paths *c, uint64_t path, uint64_t ns, uint64_t count)
{
	int err;

	c->all_ns += ns;
	if (c->count == CALL_PATHS_MAX)
		call_paths_sort(c);
	if (c->count == CALL_PATHS_MAX)
		return 0;
	err = array_grow(&c->paths, &c->capacity, c->count, sizeof(*c->paths));
	if (!err)
		c->paths[c->count++] = (struct call_path){path, ns, count};
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
		if (c->paths[i].path == c->paths[n].path) {
			c->paths[n].ns += c->paths[i].ns;
			c->paths[n].count += c->paths[i].count;
		} else {
			c->paths[++n] = c->paths[i];
		}
	}
	c->count = n + 1;
}

void call_paths_free(struct call_paths *c)
{
	free(c->paths);
	*c = (struct call_paths){.paths = NULL};
}
