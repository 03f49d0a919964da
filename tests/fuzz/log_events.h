/* tests/fuzz/log_events.h: changes the events of uncompressed blocks as events: numbers, order, repetition; so that
 * what is changed is still a log. */
#pragma once

#include "log_mutate.h"

#define ITEMS_MAX 512
#define NUMBER_ROOM 9

struct items {
	size_t at[ITEMS_MAX + 1]; /* where each begins; at[count] is the end of the last */
	unsigned count;
};

static uint64_t dice_roll(uint64_t *dice)
{
	*dice ^= *dice << 13;
	*dice ^= *dice >> 7;
	*dice ^= *dice << 17;
	return *dice;
}

/* Bytes of the msgpack value at p, of n; 0: it is cut, or nested deeper than events are. */
static size_t value_size(const uint8_t *p, size_t n, int depth)
{
	static const uint8_t fixed[32] = {1, 0, 1, 1, 0, 0, 0, 0, 0, 0,
					  5, 9, 2, 3, 5, 9, 2, 3, 5, 9};
	size_t size = 1, count, add;

	if (!n || depth > 2)
		return 0;
	if (*p < 0x80 || *p >= 0xe0)
		return 1;
	if (*p >= 0xa0 && *p < 0xc0)
		return (size_t)(*p & 31) + 1 <= n ? (size_t)(*p & 31) + 1 : 0;
	if (*p == 0xd9 && n > 1)
		return (size_t)p[1] + 2 <= n ? (size_t)p[1] + 2 : 0;
	if (*p == 0xda && n > 2)
		return ((size_t)p[1] << 8 | p[2]) + 3 <= n ? ((size_t)p[1] << 8 | p[2]) + 3 : 0;
	if (*p >= 0xc0 && *p < 0xe0 && *p != 0xdc)
		return fixed[*p - 0xc0] <= n ? fixed[*p - 0xc0] : 0;
	if (*p < 0x90 || (*p == 0xdc && n < 3))
		return 0;
	count = *p == 0xdc ? (size_t)p[1] << 8 | p[2] : *p & 15;
	size = *p == 0xdc ? 3 : 1;
	while (count--) {
		add = value_size(p + size, n - size, depth + 1);
		if (!add)
			return 0;
		size += add;
	}
	return size;
}

/* The values that follow each other from from to to. */
static void items_find(const uint8_t *data, size_t from, size_t to, struct items *ret)
{
	size_t n;

	ret->count = 0;
	while (ret->count < ITEMS_MAX && (n = value_size(data + from, to - from, 0))) {
		ret->at[ret->count++] = from;
		from += n;
	}
	ret->at[ret->count] = from;
}

static bool is_number(uint8_t c)
{
	return c < 0x80 || c >= 0xe0 || (c >= 0xcc && c <= 0xd3);
}

/* A number that has been a limit to somebody. */
static size_t number_put(uint64_t *dice, uint8_t out[NUMBER_ROOM])
{
	static const uint64_t liked[] = {0,           1,          2,          3,
					 127,         255,        65535,      65536,
					 1000000,     0x7fffffff, 0x80000000, 0xffffffff,
					 0x100000000, 1000000000, 1ull << 53, 1ull << 62,
					 INT64_MAX,   1ull << 63, UINT64_MAX, UINT64_MAX - 1};
	uint64_t r = dice_roll(dice), n = liked[r % (sizeof(liked) / sizeof(*liked))];

	if (r >> 32 & 1)
		n = r >> 40 & 15;
	if ((r >> 33 & 7) == 7)
		n = dice_roll(dice) >> (r >> 50 & 63);
	if (n < 128) {
		out[0] = (uint8_t)n;
		return 1;
	}
	out[0] = (r >> 34 & 3) ? 0xcf : 0xd3;
	for (int i = 0; i < 8; i++)
		out[1 + i] = (uint8_t)(n >> (56 - 8 * i));
	return NUMBER_ROOM;
}

/* Puts another number in the place of one of the event's: a liked one, or one of another event. */
static size_t number_change(uint8_t *data, size_t size, size_t max, const struct items *all,
			    uint64_t *dice)
{
	unsigned i = (unsigned)(dice_roll(dice) % all->count),
		 k = (unsigned)(dice_roll(dice) % all->count);
	struct items mine, other;
	uint8_t number[NUMBER_ROOM];
	size_t n;

	items_find(data, all->at[i] + (data[all->at[i]] == 0xdc ? 3 : 1), all->at[i + 1], &mine);
	items_find(data, all->at[k] + (data[all->at[k]] == 0xdc ? 3 : 1), all->at[k + 1], &other);
	if (!mine.count)
		return size;
	i = (unsigned)(dice_roll(dice) % mine.count);
	if (!is_number(data[mine.at[i]]))
		return size;
	n = number_put(dice, number);
	if (other.count && dice_roll(dice) % 3 == 0) {
		/* The same column, more often than not: a time for a time, a lock for a lock. */
		k = i < other.count && dice_roll(dice) % 4
			    ? i
			    : (unsigned)(dice_roll(dice) % other.count);
		n = other.at[k + 1] - other.at[k];
		if (!is_number(data[other.at[k]]) || n > sizeof(number))
			return size;
		memcpy(number, data + other.at[k], n);
	}
	return bytes_splice(data, size, max, mine.at[i], mine.at[i + 1], number, n);
}

/* An event twice, elsewhere, or no more. The first value is the block's base. */
static size_t event_change(uint8_t *data, size_t size, size_t max, const struct items *all,
			   uint64_t *dice)
{
	unsigned i = 1 + (unsigned)(dice_roll(dice) % (all->count - 1));
	unsigned k = 1 + (unsigned)(dice_roll(dice) % (all->count - 1));
	size_t n = all->at[i + 1] - all->at[i], before = size;
	unsigned how = dice_roll(dice) % 4;
	uint8_t *copy = malloc(n);

	ENSURE(copy);
	memcpy(copy, data + all->at[i], n);
	if (how)
		size = bytes_splice(data, size, max, all->at[k], all->at[k], copy, n);
	if (!how || (how > 1 && size != before))
		size = bytes_splice(data, size, max, all->at[i] + (how && k <= i ? n : 0),
				    all->at[i + 1] + (how && k <= i ? n : 0), copy, 0);
	free(copy);
	return size;
}

/* A few changes in one block; its number of events is made right, blocks_seal() does the rest. */
static size_t events_mutate(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	uint64_t dice = (uint64_t)seed * 0x9e3779b97f4a7c15ull + 1;
	size_t at[BLOCKS_MAX + 1], begin;
	unsigned count = blocks_find(data, size, at), i,
		 changes = 1 + (unsigned)(dice_roll(&dice) % 4), events;
	struct items all;

	if (!count)
		return size;
	i = (unsigned)(dice_roll(&dice) % count);
	begin = at[i] + BLOCK_HEADER_BYTES;
	while (changes--) {
		blocks_find(data, size, at);
		if (begin >= at[i + 1] || (data[at[i] + 20] != BLOCK_KIND_EVENTS &&
					   data[at[i] + 20] != BLOCK_KIND_PACKED))
			return size;
		if (data[at[i] + 20] == BLOCK_KIND_PACKED) {
			if (begin == at[i] + BLOCK_HEADER_BYTES)
				begin += PREAMBLE_BYTES;
			if (begin >= at[i + 1] || data[begin - 4])
				return size;
		}
		items_find(data, begin, at[i + 1], &all);
		if (all.count < 2)
			return size;
		size = dice_roll(&dice) % 3 ? number_change(data, size, max, &all, &dice)
					    : event_change(data, size, max, &all, &dice);
	}
	blocks_find(data, size, at);
	items_find(data, begin, at[i + 1], &all);
	events = all.count ? all.count - 1 : 0;
	memcpy(data + at[i] + 16, &events, sizeof(events));
	return size;
}

/* skip: bytes in front that are no log. */
__attribute__((unused)) static size_t log_events_mutate(uint8_t *data, size_t size, size_t max,
							unsigned seed, size_t skip)
{
	if (seed % 4 == 0 || size <= skip)
		return log_mutate(data, size, max, seed / 4, skip);
	size = skip + events_mutate(data + skip, size - skip, max - skip, seed / 4);
	blocks_seal(data + skip, size - skip);
	return size;
}
