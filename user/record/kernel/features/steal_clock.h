/* record/kernel/features/steal_clock.h: which steal clock BPF can read on this kernel, and where it
 * is. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct btf;

struct steal_clock {
	uint32_t clock; /* enum wire_steal_clock; for bpf/lib/steal.bpf.h, as is offset */
	int64_t offset; /* of the per-CPU record from the run queue */
	const char *name;
	const char *why; /* static, for WIRE_STEAL_NONE: what is missing */
	bool ticks;      /* it moves at ticks only */
};

/* "rq_clock", "kvm_steal_time", "xen_runstate", "rq_ticks", "cpustat", "none": as logs have it. */
const char *steal_clock_name(uint32_t clock);

/*
 * The best of what vmlinux (the kernel's BTF) has under this hypervisor
 * (steal/sources/hypervisor.h), or the one called `name` (NULL: the best). -ENOENT: there is no
 * such name. If there is none to be had: 0, with WIRE_STEAL_NONE and why.
 */
int steal_clock_find(const struct btf *vmlinux, const char *hypervisor, const char *name,
		     struct steal_clock *ret);
