/* record/decode/audit_accounts.h: threads' counters as of a cut, from what BPF has in two
 * halves. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/wire/wire_steal.h"

struct audit_accounts;

/* A thread as of the end of an epoch; key and value are those that were given. */
struct audit_account {
	const struct wire_audit_key *key;
	const struct wire_audit_thread *value;
	uint64_t time_ns, stolen_ns; /* since it has been counted */
	bool fresh;                  /* reported for the first time */
	bool ended;                  /* reported for the last time */
};

struct audit_accounts *audit_accounts_new(void);
void audit_accounts_free(struct audit_accounts *a); /* accepts NULL */

/*
 * Takes what BPF has of a thread after epoch has been ended on all CPUs: of the two halves of value
 * the one of that epoch is final, the other is what was read one epoch before (and may be growing
 * now). Every thread is to be added in every epoch, until it has ended. report is called for a
 * thread that has any time; its result is returned. -ENOMEM.
 */
int audit_accounts_add(struct audit_accounts *a, uint64_t epoch, const struct wire_audit_key *key,
		       const struct wire_audit_thread *value,
		       int (*report)(void *ctx, const struct audit_account *account), void *ctx);
/* How many threads are known. */
size_t audit_accounts_count(const struct audit_accounts *a);
