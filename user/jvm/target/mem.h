/* jvm/target/mem.h: memory of a target, read through one small callback, so that tests can use
 * an image */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mem {
	/* All of len bytes, or -EFAULT (not mapped), -ESRCH (the process has ended). */
	int (*read)(const struct mem *m, uint64_t addr, void *ret, size_t len);
	int fd;            /* /proc/PID/mem of a process */
	const void *image; /* a test's own */
};

/* Opens a process's memory for reading: it stays bound to that address space, whatever happens to
 * the pid. */
int mem_open(pid_t pid, struct mem *ret);
void mem_close(struct mem *m);

int mem_u16(const struct mem *m, uint64_t addr, uint16_t *ret);
int mem_u32(const struct mem *m, uint64_t addr, uint32_t *ret);
int mem_u64(const struct mem *m, uint64_t addr, uint64_t *ret);
/* A number of 1, 2, 4 or 8 bytes. */
int mem_number(const struct mem *m, uint64_t addr, uint32_t bytes, uint64_t *ret);
/* A C string, cut to size - 1 bytes. */
int mem_string(const struct mem *m, uint64_t addr, char *ret, size_t size);

/* A stretch of memory read at once, to take many strings out of. */
struct mem_span {
	uint64_t start;
	size_t size;
	char *bytes;
};

/* Reads from low to at least one page after high. -E2BIG: over 16 MiB. Freed with free(ret->bytes).
 */
int mem_span_read(const struct mem *m, uint64_t low, uint64_t high, struct mem_span *ret);
/* The string at addr, lent until the span is freed; NULL: not within it, or over 1,023 bytes. */
const char *mem_span_string(const struct mem_span *s, uint64_t addr);
