/* jvm/target/mem_lines.h: memory of a target in lines, each read once until all are forgotten: for
 * whoever reads the same addresses again and again, or must know what was read. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "jvm/target/mem.h"

#define MEM_LINE_BYTES 64u
#define MEM_LINES_MAX (1u << 15)

struct mem_line {
	uint64_t addr;
	uint32_t generation;
	bool missing; /* it cannot be read */
	unsigned char bytes[MEM_LINE_BYTES];
};

/* 3 MB; zero: nothing is known. */
struct mem_lines {
	struct mem_line lines[MEM_LINES_MAX]; /* those of this generation are known; in no order */
	uint32_t generation;
	uint32_t count; /* of them */
	bool gone;      /* the target has ended */
};

void mem_lines_forget(struct mem_lines *l);
/* All of size bytes, or -EFAULT, or -E2BIG: too many lines are known, and must be forgotten. */
int mem_lines_read(struct mem_lines *l, const struct mem *m, uint64_t addr, void *ret, size_t size);

static inline bool mem_lines_has(const struct mem_lines *l, const struct mem_line *line)
{
	return l->generation && line->generation == l->generation;
}
