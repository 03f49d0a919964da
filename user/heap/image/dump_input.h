/* heap/image/dump_input.h: the bytes of a heap dump, one after the other: also of a pipe, also
 * compressed with gzip. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The next bytes, at most room: how many; 0: the end; a negative errno. */
typedef ssize_t dump_read(void *ctx, void *to, size_t room);

struct dump_input;

/* What dump_need() can be asked for at most. */
#define DUMP_NEED_MAX 65536

/* ctx is lent until dump_input_close. 0; -ENOMEM. */
int dump_input_open(dump_read *read, void *ctx, struct dump_input **ret);
void dump_input_close(struct dump_input *in); /* accepts NULL */

/*
 * At least count bytes, lent until the next call; they stay the next ones until dump_skip. NULL:
 * there are not so many, see dump_error.
 */
const uint8_t *dump_need(struct dump_input *in, size_t count);
/* 0, or dump_error. */
int dump_skip(struct dump_input *in, uint64_t count);
/* -ENODATA: it ends here. -EBADMSG: it is compressed, and the compressed bytes are damaged. Others
 * are of reading. 0: nothing is wrong yet. */
int dump_error(const struct dump_input *in);
/* Where the next byte is, uncompressed. */
uint64_t dump_offset(const struct dump_input *in);
bool dump_is_gzip(const struct dump_input *in);

static inline uint16_t dump_u2(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t dump_u4(const uint8_t *p)
{
	uint32_t n;

	__builtin_memcpy(&n, p, sizeof(n));
	return __builtin_bswap32(n);
}

static inline uint64_t dump_u8(const uint8_t *p)
{
	uint64_t n;

	__builtin_memcpy(&n, p, sizeof(n));
	return __builtin_bswap64(n);
}
