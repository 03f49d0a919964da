/* tests/unit/alloc_fail.h: makes the nth allocation fail; ld --wrap sends all calls here. */
#pragma once

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* To be included by exactly one file of a test program: every unit test is one file. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);

/* Threads of what is tested allocate, too. */
static struct alloc_fail {
	atomic_bool on;
	atomic_ulong left;  /* allocations that still succeed */
	atomic_bool failed; /* one has failed since alloc_fail_at */
} alloc_fail_own, *alloc_fail = &alloc_fail_own;

/* Counts, and makes fail, those of this process and of all its later children together. */
static inline bool alloc_fail_share(void)
{
	void *shared = mmap(NULL, sizeof(*alloc_fail), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared != MAP_FAILED)
		alloc_fail = shared;
	return shared != MAP_FAILED;
}

/* Of the allocations from now on, number n fails (from 0), and only that one. */
static inline void alloc_fail_at(unsigned long n)
{
	alloc_fail->left = n;
	alloc_fail->failed = false;
	alloc_fail->on = true;
}

/* Nothing fails any more. True if something has: false means that n was past the last allocation.
 */
static inline bool alloc_fail_off(void)
{
	alloc_fail->on = false;
	return alloc_fail->failed;
}

static inline bool alloc_fail_now(void)
{
	if (!alloc_fail->on || alloc_fail->failed)
		return false;
	if (alloc_fail->left--)
		return false;
	alloc_fail->failed = true;
	errno = ENOMEM; /* as malloc does it */
	return true;
}

void *__wrap_malloc(size_t size)
{
	return alloc_fail_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return alloc_fail_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return alloc_fail_now() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
	return alloc_fail_now() ? NULL : __real_strdup(text);
}
