/* log/format/unpack.h: a strict msgpack decoder over bytes in memory. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Not msgpack-c's decoder: that one allocates what an array's length promises before it has seen an
 * element, and a heap zone per object. This one allocates nothing and looks at every byte once.
 */
enum unpack_type {
	UNPACK_NIL,
	UNPACK_BOOL,
	UNPACK_UINT,
	UNPACK_INT, /* negative ones only */
	UNPACK_REAL,
	UNPACK_STR,
	UNPACK_BIN,
	UNPACK_EXT,
	UNPACK_ARRAY, /* its elements follow */
	UNPACK_MAP,   /* its keys and values follow */
	UNPACK_TYPE_COUNT,
};

struct unpack {
	const uint8_t *at;
	const uint8_t *end;
};

struct unpack_value {
	enum unpack_type type;
	uint32_t count; /* bytes at data, elements, or pairs */
	union {
		uint64_t u;
		int64_t i;
		double d;
		const char *data;
	};
};

/* All: 0, or -EBADMSG where the bytes end or are of another type; u is then of no more use. */
int unpack_value(struct unpack *u, struct unpack_value *ret);
int unpack_uint(struct unpack *u, uint64_t *ret);
/* Any integer, in 64 bits two's complement. */
int unpack_signed(struct unpack *u, uint64_t *ret);
int unpack_bool(struct unpack *u, uint64_t *ret);
int unpack_array(struct unpack *u, uint32_t *ret_count);
/* The next value with all that is in it. */
int unpack_skip(struct unpack *u);
