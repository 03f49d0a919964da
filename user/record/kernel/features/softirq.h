/* record/kernel/features/softirq.h: in what context a BPF program may be that samples. */
#pragma once

#include <stdbool.h>

/*
 * NULL: they do. Else why they have threads of their own, by the kernel's own name for it, static:
 * "PREEMPT_RT" or "threadirqs" (kernel/softirq.c, invoke_softirq()). Then functions of BPF's timers
 * do not see who was interrupted.
 */
const char *softirq_threads(void);
/*
 * Does the PMU interrupt with an NMI? Then it may come while the kernel has the lock of one of the
 * maps that a sample is written to, those of a least recently used hash among them, and waits for
 * itself. On arm64 it does with the kernel's parameter irqchip.gicv3_pseudo_nmi (kernel/bpf/
 * bpf_lru_list.c, drivers/perf/arm_pmu.c).
 */
bool pmu_interrupts_by_nmi(void);
