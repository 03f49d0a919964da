/* record/kernel/kernel_try.h: asks the kernel for each thing that a recording needs, by doing it
 * once. */
#pragma once

#include <stdbool.h>

/* All int: 0, or the negative errno that the kernel gave; nothing is left behind. */

/* A BPF ring buffer. */
int kernel_try_ring(void);
/* A program at the scheduler's trace point. */
int kernel_try_sched(void);
/* A program for a probe. */
int kernel_try_kprobe(void);
/* The helper bpf_loop(), the youngest one that spoor's programs call: Linux 5.17, and older kernels
 * of distributions that have it. -EOPNOTSUPP: there is none. */
int kernel_try_loop(void);
/* The helper bpf_probe_read_kernel(). -EOPNOTSUPP: it is not to be had, as the kernel is locked
 * down for confidentiality (LOCKDOWN_BPF_READ_KERNEL). */
int kernel_try_read(void);
/* A uprobe in this process, in a function that nothing calls. */
int kernel_try_uprobe(void);
/* Whether stolen time is known per thread, in ns; *ret_name (static) names the clock. */
bool kernel_try_steal(const char *hypervisor, const char **ret_name);
