/*
 * A reference is written down as soon as it is read, when most objects that may be meant have not
 * come yet. It is kept in 4 bytes all the same: as the distance from its object in units of 8
 * bytes, which has room for 16 GB in each direction; references that go further, or not by whole
 * units, are in a list of their own. So the memory for references is that of the finished graph.
 */
#include "heap/state/heap_objects.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "heap/state/heap_types.h"

#define COUNT_MAX (UINT32_MAX - 16)
#define REF_NULL 0x80000000u
#define REF_FAR 0x80000001u
#define BUCKET_OBJECTS 8 /* on average */
#define FIRST_BYTES 4096

static int reserve(void *bytes, size_t *room, size_t needed)
{
	if (needed <= *room)
		return 0;
	needed += needed / 4;
	return bytes_reserve(bytes, room, needed < FIRST_BYTES ? FIRST_BYTES : needed);
}

void heap_objects_free(struct heap_objects *o)
{
	free(o->desc);
	free(o->address);
	free(o->ref_at);
	free(o->refs);
	free(o->far);
	free(o->order);
	free(o->bucket);
	*o = (struct heap_objects){0};
}

int heap_objects_add(struct heap_objects *o, uint64_t address, uint32_t desc)
{
	size_t count = o->count + 1ul;

	if (o->count >= COUNT_MAX)
		return -EOVERFLOW;
	if (reserve(&o->desc, &o->desc_room, count * sizeof(*o->desc)) ||
	    reserve(&o->address, &o->address_room, count * sizeof(*o->address)) ||
	    reserve(&o->ref_at, &o->ref_at_room, (count + 1) * sizeof(*o->ref_at)))
		return -ENOMEM;
	o->desc[o->count] = desc;
	o->address[o->count] = address;
	o->ref_at[o->count++] = o->ref_count;
	o->ref_at[o->count] = o->ref_count;
	return 0;
}

int heap_objects_ref(struct heap_objects *o, uint64_t to)
{
	int64_t distance = (int64_t)(to - o->address[o->count - 1]);
	uint32_t ref = (uint32_t)(distance >> 3);

	if (o->ref_count >= COUNT_MAX)
		return -EOVERFLOW;
	if (reserve(&o->refs, &o->refs_room, (o->ref_count + 1ul) * sizeof(*o->refs)))
		return -ENOMEM;
	if (!to) {
		ref = REF_NULL;
	} else if (distance & 7 || (int64_t)(int32_t)ref != distance >> 3 || ref == REF_NULL ||
		   ref == REF_FAR) {
		if (reserve(&o->far, &o->far_room, (o->far_count + 1) * sizeof(*o->far)))
			return -ENOMEM;
		o->far[o->far_count++] = to;
		ref = REF_FAR;
	}
	o->refs[o->ref_count++] = ref;
	o->ref_at[o->count] = o->ref_count;
	return 0;
}

static uint32_t ordinal_at(const struct heap_objects *o, uint32_t index)
{
	return o->order ? o->order[index] : index;
}

static bool is_ordered(const struct heap_objects *o)
{
	for (uint32_t i = 1; i < o->count; i++)
		if (o->address[i] < o->address[i - 1])
			return false;
	return true;
}

/* Merges neighbouring ordered runs until one is left: a JVM writes few runs, and long ones. */
static void merge_runs(const uint64_t *address, uint32_t *from, uint32_t *to, uint32_t count,
		       uint32_t *ret_runs)
{
	uint32_t at = 0;

	*ret_runs = 0;
	while (at < count) {
		uint32_t a = at, middle, b, end;

		for (middle = at + 1; middle < count; middle++)
			if (address[from[middle]] < address[from[middle - 1]])
				break;
		for (end = middle + (middle < count); end < count; end++)
			if (address[from[end]] < address[from[end - 1]])
				break;
		for (b = middle; a < middle || b < end; at++)
			to[at] = b >= end || (a < middle && address[from[a]] <= address[from[b]])
					 ? from[a++]
					 : from[b++];
		++*ret_runs;
	}
}

static int sort(struct heap_objects *o)
{
	uint32_t *from, *to, runs = 2;

	if (is_ordered(o))
		return 0;
	from = malloc(o->count * sizeof(*from));
	to = malloc(o->count * sizeof(*to));
	if (!from || !to) {
		free(from);
		free(to);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < o->count; i++)
		from[i] = i;
	while (runs > 1) {
		uint32_t *swap = to;

		merge_runs(o->address, from, to, o->count, &runs);
		to = from;
		from = swap;
	}
	free(to);
	o->order = from;
	return 0;
}

static uint64_t bucket_of(const struct heap_objects *o, uint64_t address)
{
	return (address - o->least) >> o->bucket_bits;
}

/* Buckets of equal spans of addresses; an object is looked for in its own bucket only. */
static int fill_buckets(struct heap_objects *o)
{
	uint64_t span, least = o->count / BUCKET_OBJECTS + 2, buckets, at = 0;

	if (!o->count)
		return 0;
	o->least = o->address[ordinal_at(o, 0)];
	span = o->address[ordinal_at(o, o->count - 1)] - o->least;
	while (span >> o->bucket_bits >= least)
		o->bucket_bits++;
	buckets = (span >> o->bucket_bits) + 2;
	o->bucket = malloc(buckets * sizeof(*o->bucket));
	if (!o->bucket)
		return -ENOMEM;
	for (uint32_t i = 0; i < o->count; i++)
		while (at <= bucket_of(o, o->address[ordinal_at(o, i)]))
			o->bucket[at++] = i;
	while (at < buckets)
		o->bucket[at++] = o->count;
	return 0;
}

uint32_t heap_objects_find(const struct heap_objects *o, uint64_t address)
{
	uint32_t low, high, last;

	if (!o->count || address < o->least)
		return HEAP_NONE;
	last = ordinal_at(o, o->count - 1);
	if (address > o->address[last])
		return HEAP_NONE;
	low = o->bucket[bucket_of(o, address)];
	high = o->bucket[bucket_of(o, address) + 1];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2, at = ordinal_at(o, middle);

		if (o->address[at] == address)
			return at;
		if (o->address[at] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return HEAP_NONE;
}

int heap_objects_resolve(struct heap_objects *o)
{
	int err = sort(o);
	size_t far = 0;

	if (!err)
		err = fill_buckets(o);
	if (err)
		return err;
	for (uint32_t i = 0; i < o->count; i++)
		for (uint32_t k = o->ref_at[i]; k < o->ref_at[i + 1]; k++) {
			uint32_t ref = o->refs[k];
			uint64_t to = o->address[i] + (uint64_t)(int64_t)(int32_t)ref * 8;

			if (ref == REF_NULL) {
				o->refs[k] = HEAP_NONE;
				continue;
			}
			if (ref == REF_FAR)
				to = o->far[far++];
			o->refs[k] = heap_objects_find(o, to);
			o->unresolved += o->refs[k] == HEAP_NONE;
		}
	free(o->far);
	o->far = NULL;
	return 0;
}
