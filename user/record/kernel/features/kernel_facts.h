/* record/kernel/features/kernel_facts.h: what the kernel's BTF says that the programs need to know.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/wire/wire_kernel.h"
#include "record/kernel/features/steal_clock.h"

struct kernel_facts {
	bool switch_has_state; /* sched_switch passes prev_state */
	bool sched_entry;      /* there is a tracepoint at the begin of the scheduler (6.15) */
	/* WIRE_STEAL_NONE if there is none but such as move at ticks only: these would be wrong
	 * about turns, which are shorter. */
	struct steal_clock steal;
	const char *throttle_clock; /* as logs have it; static */
	enum wire_reads reads;
};

/* Without BTF: as on a kernel that has nothing of it. The kernel is looked at once by a process, in
 * which one thread at a time may call this. */
void kernel_facts_read(struct kernel_facts *ret);
