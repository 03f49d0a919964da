/* report/model/sections/commands/gc_cause.h: why a collection ran. */
#pragma once

#include <stdbool.h>

struct gc_row;
struct log_names;

enum gc_cause_basis {
	GC_CAUSE_UNKNOWN,
	GC_CAUSE_RECORDED, /* a patched JVM's word */
	GC_CAUSE_INFERRED, /* from the VM operation */
	GC_CAUSE_BASIS_COUNT,
};

struct gc_cause {
	const char *text; /* lent by the names; NULL: not known */
	enum gc_cause_basis basis;
	bool is_part; /* of a concurrent cycle, which has the cause */
};

struct gc_cause gc_cause_of(const struct log_names *names, const struct gc_row *r);
const char *gc_cause_basis_name(enum gc_cause_basis basis);
