/* analyze/stacks/cell_kinds.h: pools of threads, classes and packages of methods: kinds that can
 * only be told when all threads and methods are known. */
#pragma once

#include <stdint.h>

struct cell_kinds;
struct log_method;
struct log_names;

/* NULL: no memory. It is empty, and costs next to nothing. */
struct cell_kinds *cell_kinds_new(void);
void cell_kinds_free(struct cell_kinds *k);

/* The threads of names, and methods, of which the first has that number, unless that has been done.
 * 0 or -ENOMEM. */
int cell_kinds_fill(struct cell_kinds *k, const struct log_names *names,
		    const struct log_method *const *methods, uint32_t first, uint32_t count);

/* 1 + the pool's index; 0: none is known. */
uint32_t cell_kinds_pool(const struct cell_kinds *k, uint64_t thread);
/* "http-*"; NULL: none is known. Lent until cell_kinds_free. */
const char *cell_kinds_pool_name(const struct cell_kinds *k, uint64_t thread);
/* 1 + its index in the order of the names, of the method of that number; 0: it has none. */
uint32_t cell_kinds_class(const struct cell_kinds *k, uint32_t method);
uint32_t cell_kinds_package(const struct cell_kinds *k, uint32_t method);
