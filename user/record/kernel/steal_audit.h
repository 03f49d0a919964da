/* record/kernel/steal_audit.h: steal time of every thread of the machine, from a BPF program at
 * each switch. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct steal_source;

struct audit_options {
	pid_t pid;            /* whose threads are reported; 0: all */
	uint64_t theft_ns;    /* thefts of at least this are reported one by one */
	const char *clock;    /* one of steal_clock_name(); NULL: the best there is */
	unsigned threads_max; /* that may have an account at the same time; 0: as it thinks fit */
};

#define AUDIT_WHY_MAX 512

/*
 * Loads, attaches, and begins to count. Threads are known from when they first leave a CPU, by
 * their numbers in the caller's pid namespace (those it cannot see: the negative number in the
 * initial one); what could not be charged to any thread is that of tid 0.
 *
 * -EPERM, -EACCES: needs CAP_BPF and CAP_PERFMON. -ESRCH: no such process. -ENOTSUP: the kernel
 * reports no steal, or not by clock. -EINVAL: no such clock. why says it in the user's terms.
 */
int audit_open(const struct audit_options *o, struct steal_source **ret, char why[AUDIT_WHY_MAX]);
