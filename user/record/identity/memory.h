/* record/identity/memory.h: what a recorder may keep in memory, and what it had to give up for
 * want of it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/tables/budget.h"

struct log_writer;

enum memory_part {
	MEMORY_LOCKS,
	MEMORY_HASHES, /* by which locks are found again after their deflation */
	MEMORY_THREADS,
	MEMORY_NAMES, /* of classes, and texts */
	MEMORY_CHAINS,
	MEMORY_METHODS,
	MEMORY_CARRY, /* what a part of a log needs of those before */
	MEMORY_PART_COUNT,
};

/* The order of bounded in events.json. */
enum memory_kind {
	MEMORY_LOCK,
	MEMORY_THREAD,
	MEMORY_CLASS,
	MEMORY_STRING,
	MEMORY_CHAIN,
	MEMORY_METHOD,
	MEMORY_KIND_COUNT,
};

struct memory {
	uint64_t max; /* --max-memory */
	struct budget part[MEMORY_PART_COUNT];
	uint64_t forgotten[MEMORY_KIND_COUNT]; /* one that comes again is a new one */
	uint64_t shared[MEMORY_KIND_COUNT];    /* had to go without a number of their own */
	uint64_t reported[MEMORY_KIND_COUNT];  /* both, as the log has it */
	bool noted;
};

#define MEMORY_DEFAULT (256ull << 20)
/* What a recorder takes that keeps nothing: its program, the ring buffer, what is on its way. */
#define MEMORY_FIXED (64ull << 20)
#define MEMORY_LEAST (96ull << 20)

/* max: of the process; other: bytes of it that are spoken for (a larger ring, a flight
 * recorder). */
void memory_divide(struct memory *m, uint64_t max, uint64_t other);
uint64_t memory_given_up(const struct memory *m); /* the sum of all counts */
/* Writes the counts that have changed, and a note when they are the first. */
void memory_write(struct memory *m, struct log_writer *w, uint64_t time_ns);
