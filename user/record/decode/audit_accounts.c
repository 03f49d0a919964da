#include "record/decode/audit_accounts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/hash_table.h"

struct known {
	struct wire_audit_key key;
	uint64_t time_ns[2], stolen_ns[2]; /* of each half, as last read */
	bool reported;
	UT_hash_handle hh;
};

struct audit_accounts {
	struct known *all;
};

struct audit_accounts *audit_accounts_new(void)
{
	return calloc(1, sizeof(struct audit_accounts));
}

void audit_accounts_free(struct audit_accounts *a)
{
	struct known *k, *next;

	if (!a)
		return;
	HASH_ITER (hh, a->all, k, next) {
		HASH_DEL(a->all, k);
		free(k);
	}
	free(a);
}

size_t audit_accounts_count(const struct audit_accounts *a)
{
	return HASH_COUNT(a->all);
}

static struct known *find(struct audit_accounts *a, const struct wire_audit_key *key)
{
	struct known *k;

	HASH_FIND(hh, a->all, key, sizeof(*key), k);
	if (k)
		return k;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->key = *key;
	HASH_ADD(hh, a->all, key, sizeof(k->key), k);
	if (!k->hh.tbl) { /* uthash leaves out what it has no memory for */
		free(k);
		return NULL;
	}
	return k;
}

int audit_accounts_add(struct audit_accounts *a, uint64_t epoch, const struct wire_audit_key *key,
		       const struct wire_audit_thread *value,
		       int (*report)(void *ctx, const struct audit_account *account), void *ctx)
{
	struct audit_account account = {.key = key, .value = value};
	struct known *k = find(a, key);
	unsigned half = epoch & 1;
	int err = 0;

	if (!k)
		return -ENOMEM;
	k->time_ns[half] = value->time_ns[half];
	k->stolen_ns[half] = value->stolen_ns[half];
	account.time_ns = k->time_ns[0] + k->time_ns[1];
	account.stolen_ns = k->stolen_ns[0] + k->stolen_ns[1];
	account.ended = value->ended && value->ended - 1 <= epoch;
	account.fresh = !k->reported;
	if (account.time_ns || account.stolen_ns) {
		k->reported = true;
		err = report(ctx, &account);
	}
	if (account.ended) {
		HASH_DEL(a->all, k);
		free(k);
	}
	return err;
}
