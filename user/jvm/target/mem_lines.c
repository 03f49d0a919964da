#include "jvm/target/mem_lines.h"

#include <errno.h>
#include <string.h>

void mem_lines_forget(struct mem_lines *l)
{
	/* After 2^32 times lines of the first ones would come back. */
	if (l->generation == UINT32_MAX)
		memset(l, 0, sizeof(*l));
	l->generation++;
	l->count = 0;
	l->gone = false;
}

static struct mem_line *line_at(struct mem_lines *l, const struct mem *m, uint64_t addr)
{
	uint32_t slot = (uint32_t)((addr / MEM_LINE_BYTES * 0x9e3779b97f4a7c15ull) >> 40);
	struct mem_line *line;
	int err;

	if (!l->generation)
		mem_lines_forget(l);
	for (uint32_t n = 0; n < MEM_LINES_MAX; n++) {
		line = &l->lines[(slot + n) % MEM_LINES_MAX];
		if (!mem_lines_has(l, line))
			break;
		if (line->addr == addr)
			return line;
	}
	/* One stays free, so that the search has an end. */
	if (l->count + 1 >= MEM_LINES_MAX)
		return NULL;
	l->count++;
	line->generation = l->generation;
	line->addr = addr;
	err = m->read(m, addr, line->bytes, MEM_LINE_BYTES);
	line->missing = err != 0;
	l->gone |= err == -ESRCH;
	return line;
}

int mem_lines_read(struct mem_lines *l, const struct mem *m, uint64_t addr, void *ret, size_t size)
{
	if (size > MEM_LINE_BYTES || addr > UINT64_MAX - 2 * MEM_LINE_BYTES)
		return -EFAULT;
	while (size) {
		uint64_t from = addr & ~(uint64_t)(MEM_LINE_BYTES - 1);
		const struct mem_line *line = line_at(l, m, from);
		size_t at = addr - from, left = MEM_LINE_BYTES - at, n = left < size ? left : size;

		if (!line)
			return -E2BIG;
		if (line->missing)
			return -EFAULT;
		memcpy(ret, line->bytes + at, n);
		ret = (char *)ret + n;
		addr += n;
		size -= n;
	}
	return 0;
}
