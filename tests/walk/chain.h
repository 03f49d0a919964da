/* tests/walk/chain.h: the walker's chains and the JVM's, method by method. */
#pragma once

#include "agct.h"
#include "vm.h"

#define CHAIN_MAX 2048

struct link {
	const struct code_method *method; /* NULL: not known */
	int64_t bci;
	bool inferred;
	uint32_t group; /* which frame it is from */
};

struct chain {
	struct link links[CHAIN_MAX];
	uint32_t count;
	bool astray, stale;
};

/* All frames, with those that are inlined. */
void chain_resolve(const struct hs_walk *w, struct chain *ret);
void chain_of_jvm(const struct agct *a, struct chain *ret);
/*
 * Whether the walk of a thread that is stopped at pc says what the JVM says; of one that is not complete, as far as it
 * goes. Of an interrupted compiled method the method itself must be right, what is inlined in it may be a neighbour's;
 * lenient: of any innermost compiled method.
 */
bool chain_same(const struct hs_walk *w, uint64_t pc, const struct chain *ours,
		const struct chain *jvms, bool lenient);
/* AsyncGetCallTrace does not get past some stubs: whether what it has is the inner part of ours. */
bool chain_cut(const struct hs_walk *w, uint64_t pc, const struct chain *ours,
	       const struct chain *jvms);
void chain_print(FILE *out, const char *title, const struct chain *c);
