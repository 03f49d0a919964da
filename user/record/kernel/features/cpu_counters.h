/* record/kernel/features/cpu_counters.h: the counters of a BPF_MAP_TYPE_PERCPU_ARRAY of 64-bit
 * values, summed over the CPUs. */
#pragma once

#include <stdint.h>

struct bpf_map;

/*
 * ret: the sums of the map's first count values, by one system call where the kernel reads such
 * maps in batches (Linux 5.13, commit f008d732ab18), else by one for each. 0 or negative errno.
 */
int cpu_counters_read(const struct bpf_map *map, uint64_t *ret, unsigned count);
