/* jvm/layout/code_blocks.h: goes through the blocks of the code cache. */
#pragma once

#include <stddef.h>

#include "jvm/layout/code_layout.h"

struct code_source;

struct code_blocks {
	const struct mem *m;
	const struct code_source *s;
	const struct code_layout *l; /* with its heaps */
	size_t head;                 /* so many bytes of each blob are wanted */
	/* A block that is used: the address of its blob, and the blob's first bytes, lent until it
	 * returns. True: this is enough. */
	bool (*visit)(void *ctx, uint64_t blob, const char *bytes);
	void *ctx;
};

/* heaps: the addresses of the CodeHeaps. They change meanwhile: a block may be missed. */
void code_blocks_each(const struct code_blocks *b, const uint64_t heaps[CODE_HEAPS_MAX]);
