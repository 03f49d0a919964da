#include "base/tables/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 16
#define LARGE_BYTES (4ul << 20)

int array_extend(void *array, uint32_t *capacity, uint32_t count, size_t size)
{
	uint32_t needed = *capacity;
	char *first;

	if (count >= UINT32_MAX / 4)
		return -ENOMEM;
	/* Of a large one, half must not be room that nobody needs; it grows without being copied,
	 * as its pages are moved. */
	do {
		if (needed * size >= LARGE_BYTES)
			needed += needed / 4;
		else
			needed = needed ? needed * 2 : FIRST_CAPACITY;
	} while (needed <= count);
	/* Copied, not cast: the caller's pointer is to some other type. */
	memcpy(&first, array, sizeof(first));
	first = realloc(first, needed * size);
	if (!first)
		return -ENOMEM;
	memset(first + *capacity * size, 0, (needed - *capacity) * size);
	memcpy(array, &first, sizeof(first));
	*capacity = needed;
	return 0;
}

int bytes_reserve(void *bytes, size_t *capacity, size_t needed)
{
	void *first;

	if (needed <= *capacity)
		return 0;
	memcpy(&first, bytes, sizeof(first));
	first = realloc(first, needed);
	if (!first)
		return -ENOMEM;
	memcpy(bytes, &first, sizeof(first));
	*capacity = needed;
	return 0;
}

/* A larger array stays where it is: tests would take twice as long. Whatever the size of an
 * element, arrays of up to MOVED_COUNT move, so that a pointer that is kept is found while the
 * array is small. */
#define MOVED_BYTES 4096
#define MOVED_COUNT 64
#define MOVED_BYTES_MAX 65536

/* aligned_alloc, as tests that let the nth allocation fail do not count it. */
void array_move(void *array, uint32_t capacity, size_t size)
{
	size_t bytes = capacity * size;
	void *first, *moved;

	if (!bytes || bytes > MOVED_BYTES_MAX)
		return;
	if (bytes > MOVED_BYTES && capacity > MOVED_COUNT)
		return;
	moved = aligned_alloc(16, (bytes + 15) & ~(size_t)15);
	if (!moved)
		return;
	memcpy(&first, array, sizeof(first));
	memcpy(moved, first, bytes);
	free(first);
	memcpy(array, &moved, sizeof(moved));
}
