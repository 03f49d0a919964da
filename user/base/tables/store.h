/* base/tables/store.h: entries by key, within a budget: where it ends, those that nobody uses go.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tables/budget.h"

struct store;

struct store_options {
	uint32_t key_bytes;    /* a multiple of 4; an entry begins with its key */
	uint32_t entry_bytes;  /* a multiple of 8 */
	struct budget *budget; /* lent until store_free; NULL: without bound */
	/*
	 * There is no room for another entry, and nobody has used this one for long. True: it goes,
	 * and what it owns has been freed. False: it is needed. NULL: none may go.
	 */
	bool (*forget)(void *ctx, void *entry);
	void *ctx;
};

int store_new(const struct store_options *o, struct store **ret); /* -ENOMEM */
/* What entries own is the caller's to free, with store_next. Accepts NULL. */
void store_free(struct store *s);

/* Lent until the entry goes: entries do not move. NULL: there is none. */
void *store_find(struct store *s, const void *key);
/*
 * A new entry, which has its key and is zero after it; there must be none with this key.
 * -ENOSPC: the budget is used up, and no entry was found that may go. -ENOMEM.
 */
int store_add(struct store *s, const void *key, void **ret);
void store_remove(struct store *s, void *entry);

/* Forgets one entry that may go. -ENOSPC: none was found. */
int store_squeeze(struct store *s);

/* All entries, in no order: the one after entry (NULL: the first). The entry may be removed before
 * the next one is asked for. NULL: no more. */
void *store_next(struct store *s, const void *entry);
uint32_t store_count(const struct store *s);
/* 128 bits for a key: two texts that share them are not to be expected, as nobody knows how. */
void store_digest(const struct store *s, const char *text, size_t length, uint64_t ret[2]);
