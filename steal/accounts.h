/* steal/accounts.h: the threads and processes of an audit, each with its counters; for audit.c. */
#pragma once

#include "steal/guard.h"
#include "steal/use.h"

/* A thread's identity; of a process tid is 0. */
struct account_key {
	int32_t tid, pid;
	uint64_t start_ticks;
};

struct account {
	struct account_key key; /* first, as the store wants it */
	char comm[STEAL_COMM_MAX];
	struct guard cpu, stolen;
	uint64_t sample; /* the last that it was in */
	bool ended;
	uint64_t step_cpu_ns, step_stolen_ns, step_share_ns; /* in this interval */
	uint64_t cpu_ns, stolen_ns[STEAL_METHOD_COUNT];      /* since the audit began */
	/* Of a process: what its threads' counters add up to, those that have ended included, and
	 * the most that its own counter had beyond that. */
	uint64_t known_ns;
	int64_t rest_ns;
	bool is_new; /* in no sample before */
};

struct store;

struct accounts {
	struct store *all;       /* of struct account; they do not move */
	struct store *processes; /* of them, the last one of each number */
	struct steal_use folded; /* the sums of accounts that are gone */
};

int accounts_init(struct accounts *a); /* all zero before; -ENOMEM */
void accounts_free(struct accounts *a);
/* The one after `one`, in no order; NULL: the first, or no more. */
struct account *accounts_next(const struct accounts *a, const struct account *one);
struct account *accounts_find(const struct accounts *a, const struct account_key *key);
/* The process that has the number now; NULL: none is known. */
struct account *accounts_process(const struct accounts *a, int32_t pid);
/* From now on this one has it. -ENOMEM. */
int accounts_set_process(struct accounts *a, struct account *process);
/* A new one; NULL: no memory. */
struct account *accounts_add(struct accounts *a, const struct account_key *key);
/* Drops the least used of those that were not in the sample, when there are too many: a machine
 * starts threads for years. */
int accounts_fold(struct accounts *a, uint64_t sample);
/* Adds what has been collected since the audit began. -ENOMEM. */
int accounts_total(const struct accounts *a, struct use_list *to);
