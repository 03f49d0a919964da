#include "jvm/target/mem_ahead.h"

#include <string.h>

#define ALIGN (MEM_AHEAD_BYTES / 2)

static int read_ahead(const struct mem *m, uint64_t addr, void *ret, size_t len)
{
	struct mem_ahead *a = (struct mem_ahead *)(uintptr_t)m;
	uint64_t from = addr & ~(uint64_t)(ALIGN - 1);
	unsigned n = a->next;

	for (unsigned i = 0; i < MEM_AHEAD_CHUNKS; i++)
		if (addr >= a->chunks[i].addr && len <= a->chunks[i].size &&
		    addr - a->chunks[i].addr <= a->chunks[i].size - len) {
			memcpy(ret, a->chunks[i].bytes + (addr - a->chunks[i].addr), len);
			return 0;
		}
	/* What is beyond it may not be there, and need not be. */
	if (len > MEM_AHEAD_BYTES - (addr - from) ||
	    a->of->read(a->of, from, a->chunks[n].bytes, MEM_AHEAD_BYTES)) {
		a->chunks[n].size = 0;
		return a->of->read(a->of, addr, ret, len);
	}
	a->chunks[n].addr = from;
	a->chunks[n].size = MEM_AHEAD_BYTES;
	a->next = (n + 1) % MEM_AHEAD_CHUNKS;
	memcpy(ret, a->chunks[n].bytes + (addr - from), len);
	return 0;
}

void mem_ahead_open(struct mem_ahead *ret, const struct mem *of)
{
	*ret = (struct mem_ahead){.mem = *of, .of = of};
	ret->mem.read = read_ahead;
}

void mem_ahead_forget(struct mem_ahead *a)
{
	for (unsigned i = 0; i < MEM_AHEAD_CHUNKS; i++)
		a->chunks[i].size = 0;
}
