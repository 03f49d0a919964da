#include "steal/accounts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* About 15 MB of accounts; half of those that have ended go when there are more. */
#define ACCOUNTS_MAX 65536

void accounts_free(struct accounts *a)
{
	struct account *one, *next;

	HASH_CLEAR(by_pid, a->processes);
	HASH_ITER (hh, a->head, one, next) {
		HASH_DEL(a->head, one);
		free(one);
	}
}

struct account *accounts_process(const struct accounts *a, int32_t pid)
{
	struct account *one;

	HASH_FIND(by_pid, a->processes, &pid, sizeof(pid), one);
	return one;
}

struct account *accounts_find(const struct accounts *a, const struct account_key *key)
{
	struct account *one;

	HASH_FIND(hh, a->head, key, sizeof(*key), one);
	return one;
}

int accounts_set_process(struct accounts *a, struct account *process)
{
	struct account *other = accounts_process(a, process->key.pid);

	if (other == process)
		return 0;
	if (other)
		HASH_DELETE(by_pid, a->processes, other);
	HASH_ADD(by_pid, a->processes, key.pid, sizeof(process->key.pid), process);
	return process->by_pid.tbl ? 0 : -ENOMEM;
}

struct account *accounts_add(struct accounts *a, const struct account_key *key)
{
	struct account *one = calloc(1, sizeof(*one));

	if (!one)
		return NULL;
	one->key = *key;
	HASH_ADD(hh, a->head, key, sizeof(one->key), one);
	if (!one->hh.tbl) { /* uthash leaves out what it has no memory for */
		free(one);
		return NULL;
	}
	return one;
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
	a->folded.cpu_ns += one->cpu_ns;
	for (int m = 0; m < STEAL_METHOD_COUNT; m++)
		a->folded.stolen_ns[m] += one->stolen_ns[m];
	if (accounts_process(a, one->key.pid) == one)
		HASH_DELETE(by_pid, a->processes, one);
	HASH_DEL(a->head, one);
	free(one);
}

int accounts_fold(struct accounts *a, uint64_t sample)
{
	size_t count = 0, all = HASH_COUNT(a->head);
	struct account **gone, *one, *next;

	if (all <= ACCOUNTS_MAX)
		return 0;
	gone = malloc(all * sizeof(struct account *));
	if (!gone)
		return -ENOMEM;
	HASH_ITER (hh, a->head, one, next)
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
	struct account *one, *next;
	struct steal_use *u;

	HASH_ITER (hh, a->head, one, next) {
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
