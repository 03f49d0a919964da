#include "log/read/prefix_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#define STEPS (PREFIX_SPAN / PREFIX_STEP)

_Static_assert(PREFIX_SPAN > BLOCK_PAYLOAD_MAX + BLOCK_HEADER_BYTES + 2 * PREFIX_STEP,
	       "the sums around a whole block are there");

struct prefix_sums {
	uint64_t work;  /* bytes that a checksum was taken of */
	uint64_t begin; /* the sums are of the bytes from here on */
	uint64_t end;   /* up to where they have been taken: begin + a multiple of PREFIX_STEP */
	uint32_t sums[STEPS]; /* of the last steps, by their number modulo STEPS */
};

int prefix_sums_new(uint64_t begin, struct prefix_sums **ret)
{
	struct prefix_sums *p = malloc(sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->work = 0;
	prefix_sums_restart(p, begin);
	*ret = p;
	return 0;
}

void prefix_sums_free(struct prefix_sums *p)
{
	free(p);
}

void prefix_sums_restart(struct prefix_sums *p, uint64_t begin)
{
	p->begin = p->end = begin;
	p->sums[0] = 0;
}

static uint32_t *sum_at(struct prefix_sums *p, uint64_t step)
{
	return &p->sums[step % STEPS];
}

/* As far as whole steps go. bytes[0] is at this offset. */
static void sums_extend(struct prefix_sums *p, const uint8_t *bytes, uint64_t offset, uint64_t to)
{
	uint64_t step = (p->end - p->begin) / PREFIX_STEP;
	uint32_t sum = *sum_at(p, step);

	for (; p->end + PREFIX_STEP <= to; p->end += PREFIX_STEP) {
		sum = (uint32_t)crc32(sum, bytes + (p->end - offset), PREFIX_STEP);
		*sum_at(p, ++step) = sum;
		p->work += PREFIX_STEP;
	}
}

/*
 * The stretch is what is before the first whole step in it, and the rest. With shift(c, n) for what
 * n more bytes make of a CRC, that of two stretches is shift(first, n) ^ second, and shift() is
 * linear: so the stretch's is shift(before, n) ^ shift(sum up to that step, n) ^ sum up to the end.
 */
bool prefix_sums_check(struct prefix_sums *p, const uint8_t *bytes, uint64_t offset,
		       const struct block *b)
{
	uint64_t from = offset + BLOCK_CRC_FROM, to = offset + BLOCK_HEADER_BYTES + b->length;
	uint64_t first, last;
	uint32_t before, all;

	if (p->end < offset) /* what is between has passed unseen */
		prefix_sums_restart(p, offset);
	sums_extend(p, bytes, offset, to);
	first = (from - p->begin + PREFIX_STEP - 1) / PREFIX_STEP;
	last = (to - p->begin) / PREFIX_STEP;
	p->work += last < first ? to - from : 2ul * PREFIX_STEP;
	if (last < first)
		return crc32(0, bytes + BLOCK_CRC_FROM, (uInt)(to - from)) == block_crc(bytes);
	before = (uint32_t)crc32(0, bytes + BLOCK_CRC_FROM,
				 (uInt)(p->begin + first * PREFIX_STEP - from));
	all = (uint32_t)crc32(*sum_at(p, last), bytes + (p->begin + last * PREFIX_STEP - offset),
			      (uInt)(to - p->begin - last * PREFIX_STEP));
	return (uint32_t)crc32_combine(before ^ *sum_at(p, first), all,
				       (z_off_t)(to - p->begin - first * PREFIX_STEP)) ==
	       block_crc(bytes);
}

uint64_t prefix_sums_work(const struct prefix_sums *p)
{
	return p->work;
}
