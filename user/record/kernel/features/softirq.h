/* record/kernel/features/softirq.h: do soft interrupts run in the thread that was interrupted? */
#pragma once

/*
 * NULL: they do. Else why they have threads of their own, by the kernel's own name for it, static:
 * "PREEMPT_RT" or "threadirqs" (kernel/softirq.c, invoke_softirq()). Then functions of BPF's timers
 * do not see who was interrupted.
 */
const char *softirq_threads(void);
