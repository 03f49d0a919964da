/* base/tables/array.h: arrays that grow by one element at a time. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Under AddressSanitizer an array moves each time an element is added, not only when its room is
 * used up: a pointer into an array that is kept over such a call is reported by the first test that
 * comes by, and does not wait for a log of the wrong length. */
#if defined(__SANITIZE_ADDRESS__)
#define ARRAYS_MOVE 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARRAYS_MOVE 1
#endif
#endif
#ifndef ARRAYS_MOVE
#define ARRAYS_MOVE 0
#endif
void array_move(void *array, uint32_t capacity, size_t size);

/*
 * Makes room for the element with the index count, of size bytes, and for all before it; what is
 * new is zero. array is the address of the pointer to the first. 0 or -ENOMEM, and then nothing has
 * changed. Pointers into the array are void.
 */
int array_extend(void *array, uint32_t *capacity, uint32_t count, size_t size);

static inline int array_grow(void *array, uint32_t *capacity, uint32_t count, size_t size)
{
	if (count >= *capacity)
		return array_extend(array, capacity, count, size);
	if (ARRAYS_MOVE)
		array_move(array, *capacity, size);
	return 0;
}

/* Room for so many bytes in all; what was there stays, what is new is not set. bytes is the address
 * of the pointer to the first. 0 or -ENOMEM, and then nothing has changed. */
int bytes_reserve(void *bytes, size_t *capacity, size_t needed);
