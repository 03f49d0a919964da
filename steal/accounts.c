#include "steal/accounts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/store.h"

/* About 14 MB of accounts; half of those that have ended go when there are more. */
#define ACCOUNTS_MAX 65536

/* The process that has a number now. */
struct process_account {
	int32_t pid, pad;
	struct account *account;
};

int accounts_init(struct accounts *a)
{
	const struct store_options all = {.key_bytes = sizeof(struct account_key),
					  .entry_bytes = sizeof(struct account)};
	const struct store_options processes = {.key_bytes = sizeof(int32_t),
						.entry_bytes = sizeof(struct process_account)};
	int err = store_new(&all, &a->all);

	return err ? err : store_new(&processes, &a->processes);
}

void accounts_free(struct accounts *a)
{
	store_free(a->processes);
	store_free(a->all);
}

struct account *accounts_next(const struct accounts *a, const struct account *one)
{
	return store_next(a->all, one);
}

struct account *accounts_process(const struct accounts *a, int32_t pid)
{
	const struct process_account *p = store_find(a->processes, &pid);

	return p ? p->account : NULL;
}

struct account *accounts_find(const struct accounts *a, const struct account_key *key)
{
	return store_find(a->all, key);
}

int accounts_set_process(struct accounts *a, struct account *process)
{
	struct process_account *p = store_find(a->processes, &process->key.pid);
	void *added;
	int err;

	if (!p) {
		err = store_add(a->processes, &process->key.pid, &added);
		if (err)
			return err;
		p = added;
	}
	p->account = process;
	return 0;
}

struct account *accounts_add(struct accounts *a, const struct account_key *key)
{
	void *one;

	return store_add(a->all, key, &one) ? NULL : one;
}

static int compare_use(const void *a, const void *b)
{
	const struct account *x = *(struct account *const *)a, *y = *(struct account *const *)b;
	uint64_t of_x = x->cpu_ns + x->stolen_ns[STEAL_EXACT];
	uint64_t of_y = y->cpu_ns + y->stolen_ns[STEAL_EXACT];

	return (of_x > of_y) - (of_x < of_y);
}

static void fold(struct accounts *a, struct account *one)
{
	struct process_account *p;

	a->folded.cpu_ns += one->cpu_ns;
	for (int m = 0; m < STEAL_METHOD_COUNT; m++)
		a->folded.stolen_ns[m] += one->stolen_ns[m];
	p = store_find(a->processes, &one->key.pid);
	if (p && p->account == one)
		store_remove(a->processes, p);
	store_remove(a->all, one);
}

int accounts_fold(struct accounts *a, uint64_t sample)
{
	size_t count = 0, all = store_count(a->all);
	struct account **gone, *one;

	if (all <= ACCOUNTS_MAX)
		return 0;
	gone = malloc(all * sizeof(struct account *));
	if (!gone)
		return -ENOMEM;
	for (one = accounts_next(a, NULL); one; one = accounts_next(a, one))
		if (one->ended || one->sample + 2 < sample)
			gone[count++] = one;
	if (count)
		qsort(gone, count, sizeof(struct account *), compare_use);
	for (size_t i = 0; i < count / 2; i++)
		fold(a, gone[i]);
	free(gone);
	return 0;
}

int accounts_total(const struct accounts *a, struct use_list *to)
{
	const struct account *one;
	struct steal_use *u;

	for (one = accounts_next(a, NULL); one; one = accounts_next(a, one)) {
		if (!one->cpu_ns && !one->stolen_ns[0] && !one->stolen_ns[1])
			continue;
		u = use_list_add(to);
		if (!u)
			return -ENOMEM;
		u->tid = one->key.tid;
		u->pid = one->key.pid;
		u->start_ticks = one->key.start_ticks;
		u->cpu_ns = one->cpu_ns;
		memcpy(u->stolen_ns, one->stolen_ns, sizeof(u->stolen_ns));
		memcpy(u->comm, one->comm, sizeof(u->comm));
	}
	if (!a->folded.cpu_ns && !a->folded.stolen_ns[0] && !a->folded.stolen_ns[1])
		return 0;
	u = use_list_add(to);
	if (!u)
		return -ENOMEM;
	*u = a->folded;
	u->tid = STEAL_TID_FOLDED;
	return 0;
}
