#include "record/decode/audit_accounts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/store.h"

struct known {
	struct wire_audit_key key;
	uint64_t time_ns[2], stolen_ns[2]; /* of each half, as last read */
	bool reported;
};

struct audit_accounts {
	struct store *all; /* of struct known */
};

struct audit_accounts *audit_accounts_new(void)
{
	const struct store_options options = {.key_bytes = sizeof(struct wire_audit_key),
					      .entry_bytes = sizeof(struct known)};
	struct audit_accounts *a = calloc(1, sizeof(*a));

	if (a && store_new(&options, &a->all)) {
		free(a);
		return NULL;
	}
	return a;
}

void audit_accounts_free(struct audit_accounts *a)
{
	if (!a)
		return;
	store_free(a->all);
	free(a);
}

size_t audit_accounts_count(const struct audit_accounts *a)
{
	return store_count(a->all);
}

static struct known *find(struct audit_accounts *a, const struct wire_audit_key *key)
{
	struct known *k = store_find(a->all, key);
	void *added;

	if (k)
		return k;
	return store_add(a->all, key, &added) ? NULL : added;
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
	if (account.ended)
		store_remove(a->all, k);
	return err;
}
