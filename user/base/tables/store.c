/*
 * Keys come from the recorded process: it can choose them. So the hash has a key of its own, which
 * nobody knows who has not read this process's memory: products of 128 bits, folded, of the words
 * and two random numbers. Chains stay short whatever comes.
 *
 * The table grows by linear hashing: with each new entry one bucket is split in two, so that there
 * is never a pause in which everything is moved. Entries lie in chunks, which do not move either.
 * Only chunks and pages of buckets take memory, and each is taken from the budget.
 *
 * Where the budget refuses, the clock algorithm with two hands finds what may go. store_find marks
 * an entry as used. The first hand goes round the entries, half a round ahead of the second at
 * most, and takes the marks away; the second one stops where there is none: at an entry that has
 * not been used since the first came by. Each takes a bounded number of steps for each entry that
 * comes. The first sets out before it has to, so that the second finds its work done.
 */
#include "base/tables/store.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/tables/array.h"

#define CHUNK_BITS 7 /* entries of a chunk */
#define CHUNK (1u << CHUNK_BITS)
#define PAGE_BITS 8 /* buckets of a page */
#define PAGE (1u << PAGE_BITS)
#define SCAN_MAX 64
#define AHEAD_STEPS 8 /* of the first hand, for each entry that comes */

enum { FREE, LIVE, USED };

struct entry {
	uint32_t next;    /* 1 + index in its bucket's chain, or of the free ones; 0: the end */
	uint32_t at : 30; /* its own index */
	uint32_t state : 2;
	char user[];
};

struct store {
	struct store_options o;
	size_t stride;    /* of an entry */
	uint64_t seed[6]; /* of the table, and of two digests */
	char **chunks;
	uint32_t chunk_count, chunk_room;
	uint32_t **pages;
	uint32_t page_count, page_room;
	uint32_t level, split; /* there are 2^level + split buckets */
	uint32_t free, count;
	uint32_t hand, ahead; /* the second; by how much the first is ahead of it */
};

static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_of(const uint64_t seed[2], const void *bytes, size_t count)
{
	uint64_t h = seed[0], word;
	size_t i = 0;

	for (; i + sizeof(word) <= count; i += sizeof(word)) {
		memcpy(&word, (const char *)bytes + i, sizeof(word));
		h = fold(h ^ word, seed[1]);
	}
	if (i < count) {
		word = 0;
		memcpy(&word, (const char *)bytes + i, count - i);
		h = fold(h ^ word, seed[1]);
	}
	return h ^ h >> 32;
}

static uint64_t hash(const struct store *s, const void *key)
{
	uint32_t word;

	if (s->o.key_bytes != sizeof(word))
		return hash_of(s->seed, key, s->o.key_bytes);
	memcpy(&word, key, sizeof(word));
	return fold(s->seed[0] ^ word, s->seed[1]);
}

void store_digest(const struct store *s, const char *text, size_t length, uint64_t ret[2])
{
	for (int i = 0; i < 2; i++)
		ret[i] = fold(hash_of(s->seed + 2 + 2 * i, text, length) ^ length, s->seed[1]);
}

/* Keys are short: a call of memcmp takes as long as all the rest. */
static inline bool same_key(const void *a, const void *b, uint32_t bytes)
{
	uint64_t x, y;
	uint32_t u, v, i = 0;

	for (; i + sizeof(x) <= bytes; i += sizeof(x)) {
		memcpy(&x, (const char *)a + i, sizeof(x));
		memcpy(&y, (const char *)b + i, sizeof(y));
		if (x != y)
			return false;
	}
	if (i == bytes)
		return true;
	memcpy(&u, (const char *)a + i, sizeof(u));
	memcpy(&v, (const char *)b + i, sizeof(v));
	return u == v;
}

static struct entry *entry_at(const struct store *s, uint32_t index)
{
	return (struct entry *)(s->chunks[index >> CHUNK_BITS] + (index & (CHUNK - 1)) * s->stride);
}

static struct entry *entry_of(const void *user)
{
	return (struct entry *)((char *)(uintptr_t)user - offsetof(struct entry, user));
}

static uint32_t *bucket_at(const struct store *s, uint64_t h)
{
	uint32_t bucket = (uint32_t)h & ((1u << s->level) - 1);

	if (bucket < s->split)
		bucket = (uint32_t)h & ((2u << s->level) - 1);
	return &s->pages[bucket >> PAGE_BITS][bucket & (PAGE - 1)];
}

static int page_add(struct store *s)
{
	uint64_t bytes = PAGE * sizeof(**s->pages);
	uint32_t *page;

	if (!budget_take(s->o.budget, bytes))
		return -ENOSPC;
	page = array_grow(&s->pages, &s->page_room, s->page_count, sizeof(*s->pages))
		       ? NULL
		       : calloc(1, bytes);
	if (!page) {
		budget_give(s->o.budget, bytes);
		return -ENOMEM;
	}
	s->pages[s->page_count++] = page;
	return 0;
}

int store_new(const struct store_options *o, struct store **ret)
{
	struct store *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->o = *o;
	s->stride = sizeof(struct entry) + o->entry_bytes;
	if (getrandom(s->seed, sizeof(s->seed), 0) != sizeof(s->seed)) {
		free(s);
		return -EIO;
	}
	for (int i = 1; i < 6; i += 2)
		s->seed[i] |= 1;
	s->level = PAGE_BITS;
	err = page_add(s);
	if (err) {
		store_free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

void store_free(struct store *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->chunk_count; i++)
		free(s->chunks[i]);
	for (uint32_t i = 0; i < s->page_count; i++)
		free(s->pages[i]);
	budget_give(s->o.budget, (uint64_t)s->chunk_count * CHUNK * s->stride +
					 (uint64_t)s->page_count * PAGE * sizeof(**s->pages));
	free(s->chunks);
	free(s->pages);
	free(s);
}

void *store_find(struct store *s, const void *key)
{
	uint32_t index = *bucket_at(s, hash(s, key));

	while (index) {
		struct entry *e = entry_at(s, index - 1);

		if (same_key(e->user, key, s->o.key_bytes)) {
			e->state = USED;
			return e->user;
		}
		index = e->next;
	}
	return NULL;
}

/* One bucket more, for each that there is. Without memory for it the chains get longer. */
static void split(struct store *s)
{
	uint32_t old = s->split, new = (1u << s->level) + old, index, keep = 0, *to;
	uint32_t *from = &s->pages[old >> PAGE_BITS][old & (PAGE - 1)];

	if (new >> PAGE_BITS >= s->page_count && page_add(s))
		return;
	to = &s->pages[new >> PAGE_BITS][new &(PAGE - 1)];
	*to = 0;
	index = *from;
	if (++s->split == 1u << s->level) {
		s->level++;
		s->split = 0;
	}
	while (index) {
		struct entry *e = entry_at(s, index - 1);
		uint32_t next = e->next;
		uint32_t *head = bucket_at(s, hash(s, e->user)) == to ? to : &keep;

		e->next = *head;
		*head = index;
		index = next;
	}
	*from = keep;
}

static int chunk_add(struct store *s)
{
	uint64_t bytes = CHUNK * s->stride;
	char *chunk;

	if (!budget_take(s->o.budget, bytes))
		return -ENOSPC;
	chunk = array_grow(&s->chunks, &s->chunk_room, s->chunk_count, sizeof(*s->chunks))
			? NULL
			: calloc(1, bytes);
	if (!chunk) {
		budget_give(s->o.budget, bytes);
		return -ENOMEM;
	}
	s->chunks[s->chunk_count] = chunk;
	for (uint32_t i = CHUNK; i--;) {
		uint32_t at = s->chunk_count * CHUNK + i;
		struct entry *e = (struct entry *)(chunk + i * s->stride);

		e->at = at & ((1u << 30) - 1);
		e->next = s->free;
		s->free = at + 1;
	}
	s->chunk_count++;
	return 0;
}

/* The first hand goes on. */
static void look_ahead(struct store *s)
{
	const struct budget *b = s->o.budget;
	uint32_t all = s->chunk_count * CHUNK;

	if (!s->o.forget || !b || b->used < b->max - b->max / 4)
		return;
	for (int i = 0; i < AHEAD_STEPS && s->ahead < all / 2; i++) {
		uint64_t at = (uint64_t)s->hand + s->ahead++;
		struct entry *e = entry_at(s, (uint32_t)(at % all));

		if (e->state == USED)
			e->state = LIVE;
	}
}

int store_squeeze(struct store *s)
{
	uint32_t all = s->chunk_count * CHUNK;

	for (int i = 0; i < SCAN_MAX && all && s->o.forget; i++) {
		struct entry *e = entry_at(s, s->hand);

		s->hand = s->hand + 1 == all ? 0 : s->hand + 1;
		s->ahead -= s->ahead != 0;
		if (e->state == USED) {
			e->state = LIVE;
		} else if (e->state == LIVE && s->o.forget(s->o.ctx, e->user)) {
			store_remove(s, e->user);
			return 0;
		}
	}
	return -ENOSPC;
}

int store_add(struct store *s, const void *key, void **ret)
{
	struct entry *e;
	uint32_t *head;
	int err = s->free ? 0 : chunk_add(s);

	look_ahead(s);
	if (err == -ENOSPC)
		err = store_squeeze(s);
	if (err)
		return err;
	if (s->count >= (1u << s->level) + s->split)
		split(s);
	e = entry_at(s, s->free - 1);
	s->free = e->next;
	head = bucket_at(s, hash(s, key));
	e->next = *head;
	e->state = LIVE; /* the second hand comes here in a whole round */
	*head = (uint32_t)e->at + 1;
	memset(e->user, 0, s->o.entry_bytes);
	memcpy(e->user, key, s->o.key_bytes);
	s->count++;
	*ret = e->user;
	return 0;
}

void store_remove(struct store *s, void *user)
{
	struct entry *e = entry_of(user);
	uint32_t *link = bucket_at(s, hash(s, user));

	while (*link != (uint32_t)e->at + 1)
		link = &entry_at(s, *link - 1)->next;
	*link = e->next;
	e->state = FREE;
	e->next = s->free;
	s->free = (uint32_t)e->at + 1;
	s->count--;
}

void *store_next(struct store *s, const void *user)
{
	uint32_t all = s->chunk_count * CHUNK;

	for (uint32_t i = user ? entry_of(user)->at + 1 : 0; i < all; i++)
		if (entry_at(s, i)->state != FREE)
			return entry_at(s, i)->user;
	return NULL;
}

uint32_t store_count(const struct store *s)
{
	return s->count;
}
