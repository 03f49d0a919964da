/* jvm/layout/flags.h: the JVM's flags (-XX), found by name. */
#pragma once

#include "jvm/target/mem.h"

#include <stdbool.h>

struct vmstructs;

struct flag {
	const char *name;
	uint64_t addr;   /* of the value */
	uint64_t origin; /* of JVMFlag::_flags, 4 bytes; 0: not in vmStructs */
};

struct flag_table {
	struct mem_span names;
	struct flag *flags; /* by name */
	size_t count;
};

/* -ENOTSUP: vmStructs does not say where they are. -EAGAIN: they are not there yet. */
int flag_table_load(const struct mem *m, const struct vmstructs *v, struct flag_table *ret);
void flag_table_free(struct flag_table *t);
/* NULL: there is no such flag. */
const struct flag *flag_find(const struct flag_table *t, const char *name);
/* -ENOENT: no such flag. -EINVAL: the byte is neither 0 nor 1, so it is no bool. */
int flag_bool(const struct mem *m, const struct flag_table *t, const char *name, bool *ret);
