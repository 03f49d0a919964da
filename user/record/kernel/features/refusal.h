/* record/kernel/features/refusal.h: why the kernel refuses bpf(2), and what /sys must say. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct refusal {
	const char *why;  /* completes "the kernel refuses it: " */
	const char *todo; /* completes "to do: " */
};

/*
 * Of the calling process, after an EPERM. What is looked at, in this order: the user namespace
 * (outside of the initial one, no capability counts for BPF), CAP_BPF and CAP_PERFMON, whether a
 * seccomp filter is there. Both texts are static.
 */
struct refusal refusal_find(void);
/* Whether the error is a refusal, and not the kernel's lack of something. A container's seccomp
 * profile may let a call that it forbids look as one that is not there: -ENOSYS. */
bool refusal_is(int err);

/* The sentence for programs that could not be loaded. */
void refusal_of_load(int err, char *why, size_t size);

/* How many CPUs the kernel can have. Negative errno, and why in words: /sys does not say, or there
 * are more than max. */
int cpus_possible(unsigned max, unsigned *ret, char *why, size_t size);
