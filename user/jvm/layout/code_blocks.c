#include "jvm/layout/code_blocks.h"

#include "jvm/layout/code_vtables.h"
#include "jvm/target/mem.h"

#include <string.h>

#define BLOCKS_MAX 1000000
#define BLOB_HEAD_MAX 512

/* True: the visitor has enough. */
static bool heap_each(const struct code_blocks *b, uint64_t heap, const struct code_heap *h)
{
	const struct code_layout *l = b->l;
	const struct code_source *s = b->s;
	size_t head = l->heap_block_size + b->head;
	char block[BLOB_HEAD_MAX];
	uint64_t addr = h->low, end, length = 0;

	if (head > sizeof(block) || mem_u64(b->m, heap + s->heap_memory + s->space_high, &end) ||
	    end > h->high)
		return false;
	for (int i = 0; i < BLOCKS_MAX && addr < end && end - addr >= head; i++) {
		if (b->m->read(b->m, addr, block, head))
			return false;
		memcpy(&length, block + s->block_length, l->block_length_bytes);
		if (block[l->block_used] &&
		    b->visit(b->ctx, addr + l->heap_block_size, block + l->heap_block_size))
			return true;
		if (!length || length > (end - addr) >> h->segment_shift)
			return false;
		addr += length << h->segment_shift;
	}
	return false;
}

void code_blocks_each(const struct code_blocks *b, const uint64_t heaps[CODE_HEAPS_MAX])
{
	for (uint32_t i = 0; i < b->l->heap_count; i++)
		if (heap_each(b, heaps[i], &b->l->heaps[i]))
			return;
}
