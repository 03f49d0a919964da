/* heap/code/class_bytes.h: numbers of a file that may end anywhere, the high byte first. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Beyond the end all is zero, and the reader has failed. */
struct class_bytes {
	const uint8_t *at, *end;
	bool failed;
};

static inline const uint8_t *class_bytes_take(struct class_bytes *r, size_t count)
{
	const uint8_t *at = r->at;

	if (r->failed || (size_t)(r->end - r->at) < count) {
		r->failed = true;
		return NULL;
	}
	r->at += count;
	return at;
}

static inline uint32_t class_bytes_number(struct class_bytes *r, unsigned bytes)
{
	const uint8_t *at = class_bytes_take(r, bytes);
	uint32_t n = 0;

	for (unsigned i = 0; at && i < bytes; i++)
		n = n << 8 | at[i];
	return n;
}
