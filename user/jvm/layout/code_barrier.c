/*
 * The return barrier is one of few stubs that are together in one blob, which is made before there
 * is Java code and stays. The blob is "StubRoutines (continuation stubs)" in JDK 21 (21.0.13), and
 * "StubRoutines (continuationstubs)" in 25 (25.0.5): by this name it is found, as vmStructs does
 * not have the stub's address.
 */
#include "jvm/layout/code_barrier.h"

#include "jvm/layout/code_blocks.h"
#include "jvm/layout/code_vtables.h"
#include "jvm/layout/vmstructs.h"
#include "jvm/target/mem.h"

#include <string.h>

#define NAME "StubRoutines (continuation"
#define BLOB_BYTES_MAX (1u << 20)

struct search {
	const struct mem *m;
	struct code_layout *l;
	uint64_t other; /* the last name that was another one */
};

/* An address in the blob's code: see code_layout.address_spare. */
static uint64_t address_in_code(const struct code_layout *l, uint64_t blob, const char *bytes,
				uint32_t at)
{
	uint64_t address;
	int32_t offset;

	if (l->address_spare) {
		memcpy(&offset, bytes + at, sizeof(offset));
		return blob + (uint64_t)(int64_t)offset;
	}
	memcpy(&address, bytes + at, sizeof(address));
	return address;
}

static bool blob_look(void *ctx, uint64_t blob, const char *bytes)
{
	struct search *s = ctx;
	struct code_layout *l = s->l;
	uint64_t low = address_in_code(l, blob, bytes, l->blob_code_begin);
	uint64_t high = address_in_code(l, blob, bytes, l->blob_code_end), name_at;
	char name[sizeof(NAME)];

	memcpy(&name_at, bytes + l->blob_name, sizeof(name_at));
	if (!name_at || name_at == s->other)
		return false;
	if (s->m->read(s->m, name_at, name, sizeof(name) - 1) ||
	    memcmp(name, NAME, sizeof(name) - 1) != 0) {
		s->other = name_at;
		return false;
	}
	if (low <= blob || high <= low || high - blob > BLOB_BYTES_MAX)
		return false;
	l->barrier_low = low;
	l->barrier_high = high;
	return true;
}

static size_t more(size_t bytes, size_t needed)
{
	return needed > bytes ? needed : bytes;
}

void code_barrier_find(const struct mem *m, const struct vmstructs *v, const struct code_source *s,
		       const uint64_t heaps[CODE_HEAPS_MAX], struct code_layout *l)
{
	struct search search = {.m = m, .l = l};
	size_t head = more(l->blob_name, more(l->blob_code_begin, l->blob_code_end)) + 8;
	uint32_t offset;

	if (!vmstructs_offset(v, "JavaThread", "_vthread", &offset))
		code_blocks_each(&(struct code_blocks){m, s, l, head, blob_look, &search}, heaps);
}
