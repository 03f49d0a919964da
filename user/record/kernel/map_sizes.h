/* record/kernel/map_sizes.h: how large the maps of a recorder are in the kernel. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct spoor_bpf;

#define MAP_THREADS_MAX 32768 /* THREAD_SLOTS of bpf/lib/spoor.bpf.h */
#define MAP_THREADS_MIN 1024

struct map_sizes {
	pid_t pid;             /* of the target */
	uint64_t buffer_bytes; /* of the ring buffer; rounded up to a power of two of pages */
	uint32_t max_threads; /* 0: four times what it has now, 4096 at least. Rounded up to a power
				* of two */
	unsigned cpus;
	bool by_switches, virtual_threads, virtual_parks, thread_ids;
	bool samples;            /* of threads that run: they are anywhere in the code */
	bool timers;             /* of CPUs, for these */
	uint32_t fragment_bytes; /* 0: there are none */
};

/*
 * To be called before the programs are loaded. At MAP_THREADS_MAX the maps take about 100 MB of the
 * kernel's memory; less threads take in proportion less, the ring buffer apart. What finds no room
 * is counted as lost, and reported. 0 or a negative errno of libbpf's.
 */
int map_sizes_set(struct spoor_bpf *skel, const struct map_sizes *s);
