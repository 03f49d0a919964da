/* base/arch/arch_hits.h: functions that are nothing but a probe's location. */
#pragma once

typedef void arch_hit(void);

/* By the nop that they begin with. NULL: the architecture has none. */
struct arch_hits {
	arch_hit *nop; /* the shortest one */
	arch_hit *nop5, *nop10;
};

extern const struct arch_hits arch_hits;

/* The first byte of what a nop is that the kernel has set a probe to, unless it made a call of it.
 */
#if defined(__x86_64__)
#define ARCH_HITS_BREAKPOINT 0xcc /* int3 */
#elif defined(__aarch64__)
#define ARCH_HITS_BREAKPOINT 0xa0 /* brk #5, UPROBES_BRK_IMM: no kernel makes a call of a nop */
#endif
