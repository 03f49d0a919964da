#include "jvm/code/scopes.h"

#include "jvm/layout/code_layout.h"
#include "jvm/layout/unsigned5.h"
#include "jvm/target/mem.h"

#include <errno.h>
#include <string.h>

/*
 * A PcDesc leads to a scope: numbers that say where the scope of the caller that it was inlined
 * into is, the method (an index of the nmethod's metadata, from 1), the bytecode index (+ 1: -1 is
 * the entry of a synchronized method, where the frame stands at its beginning), and where locals,
 * expressions and monitors are, which nobody needs here. Callers are described before what is
 * inlined into them, so that a way that only leads to smaller offsets is all that there can be.
 */

#define NUMBER_MAX 5 /* bytes: see unsigned5.h */
#define SCOPE_BYTES (3 * NUMBER_MAX)
#define LINE_ESCAPE 0xff

static int pc_desc_read(const struct mem *m, const struct code_layout *l, const struct scopes *s,
			uint32_t i, int32_t *ret)
{
	uint32_t offset;
	int err = mem_u32(m, s->pcs + (uint64_t)i * l->pc_desc_size + l->pc_desc_pc, &offset);

	if (!err)
		*ret = (int32_t)offset;
	return err;
}

/* The first and the last PcDesc are guards, with an offset below and above all others. */
int scopes_pc_find(const struct mem *m, const struct code_layout *l, const struct scopes *s,
		   uint32_t offset, bool exact, uint32_t *ret_scope, uint32_t *ret_offset)
{
	uint32_t low = 0, high = s->pc_count;
	int32_t found = -1, at;
	uint32_t scope;
	int err;

	if (offset > INT32_MAX)
		return -EPROTO;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		err = pc_desc_read(m, l, s, middle, &at);
		if (err)
			return err;
		if (at < (int32_t)offset) {
			low = middle + 1;
			continue;
		}
		high = middle;
		found = at;
	}
	if (found < 0 || (exact && found != (int32_t)offset))
		return -EPROTO;
	err = mem_u32(m, s->pcs + (uint64_t)low * l->pc_desc_size + l->pc_desc_scope, &scope);
	if (err)
		return err;
	*ret_scope = scope;
	*ret_offset = (uint32_t)found;
	return 0;
}

static int scope_read(const struct mem *m, const struct scopes *s, uint32_t at, struct scope *ret,
		      uint32_t *ret_sender)
{
	enum { SENDER, METHOD, BCI, NUMBERS };
	uint8_t bytes[SCOPE_BYTES];
	uint32_t n[NUMBERS], len;
	size_t used = 0;
	int err;

	if (at >= s->data_size)
		return -EPROTO;
	len = s->data_size - at < sizeof(bytes) ? s->data_size - at : sizeof(bytes);
	err = m->read(m, s->data + at, bytes, len);
	if (err)
		return err;
	for (int i = 0; i < NUMBERS; i++)
		if (!unsigned5_read(bytes, len, &used, s->number_excluded, &n[i]))
			return -EPROTO;
	if (n[SENDER] >= at || !n[METHOD] || n[METHOD] > s->metadata_count)
		return -EPROTO;
	ret->bci = n[BCI] ? n[BCI] - 1 : 0;
	*ret_sender = n[SENDER];
	return mem_u64(m, s->metadata + 8 * (uint64_t)(n[METHOD] - 1), &ret->method);
}

int scopes_read(const struct mem *m, const struct scopes *s, uint32_t scope, struct scope *ret,
		size_t max)
{
	size_t count = 0;

	while (scope) {
		int err = count < max ? scope_read(m, s, scope, &ret[count++], &scope) : -EPROTO;

		if (err)
			return err;
	}
	return count ? (int)count : -EPROTO;
}

static int32_t zigzag(uint32_t n)
{
	return (int32_t)(n >> 1 ^ -(n & 1));
}

struct line {
	uint32_t bci, line;
};

/* Reads one entry of a line table, as a difference to the one before. 1, 0: the end, or -EPROTO. */
static int line_next(const struct line_table *t, size_t *at, struct line *l)
{
	uint32_t bci, line;
	uint8_t b;

	if (*at >= t->size)
		return -EPROTO;
	b = t->bytes[(*at)++];
	if (b != LINE_ESCAPE) {
		l->bci += b >> 3;
		l->line += b & 7;
		return b != 0;
	}
	if (!unsigned5_read(t->bytes, t->size, at, t->number_excluded, &bci) ||
	    !unsigned5_read(t->bytes, t->size, at, t->number_excluded, &line))
		return -EPROTO;
	l->bci += (uint32_t)zigzag(bci);
	l->line += (uint32_t)zigzag(line);
	return 1;
}

int scopes_line(const struct line_table *t, uint32_t bci, uint32_t *ret, size_t *ret_size)
{
	struct line l = {0}, best = {0};
	bool exact = false;
	size_t at = 0;
	int n;

	while ((n = line_next(t, &at, &l)) > 0) {
		/* Not sorted; of two with the same index the first counts if it is the one that is
		 * looked for, else the last. */
		if (exact || l.bci > bci || l.bci < best.bci)
			continue;
		exact = l.bci == bci;
		best = l;
	}
	if (n < 0)
		return n;
	if (best.line > UINT16_MAX)
		return -EPROTO;
	*ret = best.line;
	if (ret_size)
		*ret_size = at;
	return 0;
}
