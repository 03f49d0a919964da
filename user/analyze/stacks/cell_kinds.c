#include "analyze/stacks/cell_kinds.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/threads/pool.h"
#include "base/tables/keymap.h"
#include "log/read/names.h"

struct cell_kinds {
	bool filled;
	struct keymap threads; /* in the order of pools.of */
	struct pools pools;
	uint32_t *classes, *packages; /* by method */
	uint32_t method_count;
};

struct cell_kinds *cell_kinds_new(void)
{
	return calloc(1, sizeof(struct cell_kinds));
}

static void clear(struct cell_kinds *k)
{
	keymap_free(&k->threads);
	pools_free(&k->pools);
	free(k->classes);
	free(k->packages);
	*k = (struct cell_kinds){.filled = false};
}

void cell_kinds_free(struct cell_kinds *k)
{
	if (k)
		clear(k);
	free(k);
}

static int fill_pools(struct cell_kinds *k, const struct log_names *names)
{
	uint32_t count = log_names_count(names, LOG_NAMES_THREAD), index;
	struct pool_thread *threads = calloc(count + 1ul, sizeof(*threads));
	int err = threads ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < count && !err; i++) {
		uint64_t id = log_names_id(names, LOG_NAMES_THREAD, i);
		const struct log_thread *t = log_names_thread(names, id);
		const char *name = t ? t->name : "";

		err = keymap_add_number(&k->threads, id, &index);
		if (!err)
			threads[index] =
				(struct pool_thread){name, thread_group_of(name, t && t->java_id)};
	}
	err = err ? err : pools_make(threads, k->threads.count, &k->pools);
	free(threads);
	return err;
}

struct package {
	const char *class_name;
	size_t length; /* of the package's name in it; 0: of none */
	uint32_t method;
};

static int compare_packages(const void *a, const void *b)
{
	const struct package *x = a, *y = b;
	size_t least = x->length < y->length ? x->length : y->length;
	int order = memcmp(x->class_name, y->class_name, least);

	return order ? order : (x->length > y->length) - (x->length < y->length);
}

static int compare_classes(const void *a, const void *b)
{
	return strcmp(((const struct package *)a)->class_name,
		      ((const struct package *)b)->class_name);
}

static int fill_packages(struct cell_kinds *k, const struct log_method *const *methods,
			 uint32_t first, uint32_t count)
{
	struct package *rows = calloc(count + 1ul, sizeof(*rows));
	uint32_t n = count, index = 0;

	k->classes = calloc(first + (size_t)count, sizeof(*k->classes));
	k->packages = calloc(first + (size_t)count, sizeof(*k->packages));
	k->method_count = first + count;
	if (!rows || !k->classes || !k->packages) {
		free(rows);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++) {
		const char *class_name = methods[i]->class_name;
		const char *end = strrchr(class_name, '.');

		rows[i] = (struct package){class_name, end ? (size_t)(end - class_name) : 0,
					   first + i};
	}
	qsort(rows, n, sizeof(*rows), compare_packages);
	for (uint32_t i = 0; i < n; i++) {
		index += !i || compare_packages(&rows[i - 1], &rows[i]);
		k->packages[rows[i].method] = index;
	}
	qsort(rows, n, sizeof(*rows), compare_classes);
	index = 0;
	for (uint32_t i = 0; i < n; i++) {
		index += !i || compare_classes(&rows[i - 1], &rows[i]);
		k->classes[rows[i].method] = index;
	}
	free(rows);
	return 0;
}

int cell_kinds_fill(struct cell_kinds *k, const struct log_names *names,
		    const struct log_method *const *methods, uint32_t first, uint32_t count)
{
	int err;

	if (k->filled)
		return 0;
	err = fill_pools(k, names);
	err = err ? err : fill_packages(k, methods, first, count);
	if (err)
		clear(k);
	k->filled = !err;
	return err;
}

uint32_t cell_kinds_pool(const struct cell_kinds *k, uint64_t thread)
{
	uint32_t index = k->filled ? keymap_find_number(&k->threads, thread) : INDEX_NONE;

	return index == INDEX_NONE ? 0 : k->pools.of[index] + 1;
}

const char *cell_kinds_pool_name(const struct cell_kinds *k, uint64_t thread)
{
	uint32_t pool = cell_kinds_pool(k, thread);

	return pool ? k->pools.pools[pool - 1].name : NULL;
}

uint32_t cell_kinds_class(const struct cell_kinds *k, uint32_t method)
{
	return k->filled && method < k->method_count ? k->classes[method] : 0;
}

uint32_t cell_kinds_package(const struct cell_kinds *k, uint32_t method)
{
	return k->filled && method < k->method_count ? k->packages[method] : 0;
}
