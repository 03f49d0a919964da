/* record/kernel/map_sizes.h: how large the maps of a recorder are in the kernel. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct spoor_bpf;

#define MAP_THREADS_MAX 32768 /* THREAD_SLOTS of bpf/lib/spoor.bpf.h */
#define MAP_THREADS_MIN 1024

struct map_sizes {
	uint64_t buffer_bytes; /* of the ring buffer: a power of two of pages */
	uint32_t max_threads;  /* of the target; 0: MAP_THREADS_MAX. Rounded up to a power of two */
	unsigned cpus;
	bool by_switches, virtual_threads, virtual_parks;
	uint32_t fragment_bytes; /* 0: there are none */
};

/*
 * To be called before the programs are loaded. At MAP_THREADS_MAX the maps take about 100 MB of the
 * kernel's memory; less threads take in proportion less, the ring buffer apart. What finds no room
 * is counted as lost, and reported. 0 or a negative errno of libbpf's.
 */
int map_sizes_set(struct spoor_bpf *skel, const struct map_sizes *s);
