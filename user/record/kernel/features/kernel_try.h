/* record/kernel/features/kernel_try.h: asks the kernel for each thing that a recording needs, by
 * doing it once. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
/* A clock of a CPU, as event=cpu-clock and sampler.h may need it. */
int kernel_try_clock(void);
/* Whether such clocks are for CAP_SYS_ADMIN only: CAP_PERFMON is not enough if
 * kernel.perf_event_paranoid is more than 2, by a patch that Debian's and Ubuntu's kernels have
 * (tried on Debian's 6.12 and 7.3). */
bool kernel_clock_is_for_admin(void);
/* What a hit of a uprobe costs a thread here, without what is done at it, by the instruction where
 * the probe is. */
struct probe_cost {
	uint32_t nop1_ns;  /* the shortest nop: of 1 byte; of 4 on arm64 */
	uint32_t nop5_ns;  /* of 5 bytes; 0: the architecture has none */
	uint32_t nop10_ns; /* of 10 bytes; 0: likewise, or the kernel sets no probe there */
	bool nop5_call, nop10_call; /* the kernel replaces it by a call: 6.18, 7.3 */
};
/* -EOPNOTSUPP: not measured, as uprobes are perf events here. *ret is set on success only. */
int kernel_try_cost(struct probe_cost *ret);
/* Which nop of USDT_SITE_NOPS a probe is best set to: its offset. The one that the kernel makes a
 * call of; if there is none the first, as kernels before 6.18 step over others out of line. */
uint32_t kernel_try_nops(void);
