/* tests/fuzz/fuzz.h: what the targets for logs share. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
/* Not there when the target is linked with a plain main() that only goes through the corpus. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/* Of the sanitizers' run time, as <sanitizer/allocator_interface.h> of clang has it; not there without them. */
__attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
								    void (*on_free)(const volatile void *));
__attribute__((weak)) size_t __sanitizer_get_allocated_size(const volatile void *p);

#define ENSURE(condition) ((condition) ? (void)0 : abort())

/* Bytes that are allocated now, and at most since fuzz_memory_begin; and the largest piece. */
static struct {
	size_t now, peak, largest;
	int installed, on;
} fuzz_memory;

/* They are called by other threads, too; and must not be instrumented, for they are called early. */
__attribute__((unused)) static void fuzz_on_malloc(const volatile void *p, size_t size)
{
	size_t now;

	(void)p;
	if (!__atomic_load_n(&fuzz_memory.on, __ATOMIC_RELAXED))
		return;
	now = __atomic_add_fetch(&fuzz_memory.now, size, __ATOMIC_RELAXED);
	if (now < SIZE_MAX / 2 && now > fuzz_memory.peak)
		fuzz_memory.peak = now;
	if (size > fuzz_memory.largest)
		fuzz_memory.largest = size;
}

__attribute__((unused)) static void fuzz_on_free(const volatile void *p)
{
	if (p && __atomic_load_n(&fuzz_memory.on, __ATOMIC_RELAXED))
		__atomic_sub_fetch(&fuzz_memory.now, __sanitizer_get_allocated_size(p), __ATOMIC_RELAXED);
}

__attribute__((unused)) static void fuzz_memory_begin(void)
{
	if (!fuzz_memory.installed++ && __sanitizer_install_malloc_and_free_hooks)
		ENSURE(__sanitizer_install_malloc_and_free_hooks(fuzz_on_malloc, fuzz_on_free));
	fuzz_memory.now = fuzz_memory.peak = fuzz_memory.largest = 0;
	__atomic_store_n(&fuzz_memory.on, 1, __ATOMIC_RELAXED);
}

/* Meanwhile no piece was larger than the first, and never more than the second in use. */
__attribute__((unused)) static void fuzz_memory_end(size_t largest, size_t peak)
{
	__atomic_store_n(&fuzz_memory.on, 0, __ATOMIC_RELAXED);
	if (fuzz_memory.largest > largest || fuzz_memory.peak > peak) {
		fprintf(stderr, "a piece of %zu bytes, %zu in all; allowed are %zu and %zu\n", fuzz_memory.largest,
			fuzz_memory.peak, largest, peak);
		abort();
	}
}
