/* jvm/target/mem_ahead.h: memory of a target, read a little more at once than is asked for: for
 * whoever reads a few small fields of each of a few objects. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "jvm/target/mem.h"

#define MEM_AHEAD_BYTES 256u
#define MEM_AHEAD_CHUNKS 4u

/*
 * What has been read is known until mem_ahead_forget(): what moves or changes meanwhile is seen as
 * it was, so that whether it has moved is asked of the memory itself.
 */
struct mem_ahead {
	struct mem mem; /* to be read from */
	const struct mem *of;
	unsigned next; /* chunk to be overwritten */
	struct {
		uint64_t addr;
		size_t size; /* 0: nothing is known */
		unsigned char bytes[MEM_AHEAD_BYTES];
	} chunks[MEM_AHEAD_CHUNKS];
};

/* of is lent. ret stays where it is. */
void mem_ahead_open(struct mem_ahead *ret, const struct mem *of);
void mem_ahead_forget(struct mem_ahead *a);
