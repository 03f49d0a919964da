#include "steal/share.h"

#include <stdlib.h>

/* The largest rests first. */
static int compare(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->rest != y->rest)
		return x->rest < y->rest ? 1 : -1;
	return (x->key > y->key) - (x->key < y->key);
}

/*
 * The method of the largest remainder: everybody gets the quotient rounded down, and the units that
 * are left go, one each, to those whose division had the largest rests; so every part is less than
 * one unit from the quotient. What nobody of them has a claim to is the others'.
 */
uint64_t share_out(uint64_t total, uint64_t whole, struct share *v, size_t count)
{
	unsigned __int128 weights = 0, given = 0, all;
	uint64_t others = 0, left;

	for (size_t i = 0; i < count; i++)
		weights += v[i].weight;
	all = weights > whole ? weights : whole;
	for (size_t i = 0; i < count; i++) {
		unsigned __int128 product = (unsigned __int128)total * v[i].weight;

		v[i].part = all ? (uint64_t)(product / all) : 0;
		v[i].rest = all ? (uint64_t)(product % all) : 0;
		given += v[i].part;
	}
	if (!all)
		return total;
	others = (uint64_t)((unsigned __int128)total * (uint64_t)(all - weights) / all);
	left = total - (uint64_t)given - others;
	if (left && count)
		qsort(v, count, sizeof(*v), compare);
	for (size_t i = 0; i < count && left && v[i].rest; i++, left--)
		v[i].part++;
	return others + left;
}
