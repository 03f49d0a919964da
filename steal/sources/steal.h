/* steal/sources/steal.h: what a source of steal time reports, as plain values. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STEAL_COMM_MAX 16
/* Slot n counts thefts of 2^n ns to less than 2^(n+1); none is counted in slot 0 but 0 and 1 ns. */
#define STEAL_SLOTS 64

/*
 * All counters only grow, from a start that does not matter: what counts is the growth between two
 * samples. A CPU that is offline is not in the sample.
 */
struct steal_cpu {
	uint32_t cpu;
	uint64_t steal_ns; /* wanted by this CPU, and taken by the hypervisor */
	uint64_t busy_ns;  /* user, nice, system and interrupts; without steal_ns */
	uint64_t idle_ns;  /* idle and waiting for I/O */
};

struct steal_thread {
	/* In the caller's pid namespace; those that it cannot see have negative ones. tid 0: what
	 * the source could not distinguish, of any number of threads. */
	int32_t tid, pid;
	/* When it began, since boot, in USER_HZ as field 22 of /proc/PID/stat: with the tid it is
	 * the thread's identity. */
	uint64_t start_ticks;
	uint64_t cpu_ns;    /* see steal_source.cpu_has_steal */
	uint64_t stolen_ns; /* while it was on a CPU; 0 if the source does not know */
	/* Not in the sample before, and its counters were 0 then: it began since, or is counted
	 * only since. Else what it had before is not known, and its first sample is its base. */
	bool fresh;
	bool ended; /* this is its last sample */
	char comm[STEAL_COMM_MAX];
};

/* With the threads that have ended; sources that report each thread's end need none. */
struct steal_process {
	int32_t pid;
	uint64_t start_ticks;
	uint64_t cpu_ns;
	bool fresh;
	char comm[STEAL_COMM_MAX];
};

/* One turn on a CPU in which the hypervisor took time; cpu and victim as of that moment. */
struct steal_theft {
	uint64_t time_ns; /* CLOCK_MONOTONIC, when the victim left the CPU: the theft was before */
	uint64_t ns;
	uint32_t cpu;
	int32_t tid, pid; /* 0: the CPU was idle */
	char comm[STEAL_COMM_MAX];
};

struct steal_sample {
	uint64_t time_ns; /* CLOCK_MONOTONIC, before the first counter was read ... */
	uint64_t end_ns;  /* ... and after the last */
	uint64_t boot_ns; /* CLOCK_BOOTTIME: grows more when the machine has been suspended */
	const struct steal_cpu *cpus;
	const struct steal_thread *threads;
	const struct steal_process *processes;
	const struct steal_theft *thefts; /* since the sample before; the long ones */
	size_t cpu_count, thread_count, process_count, theft_count;
	/* From here on only sources that are exact. */
	uint64_t idle_stolen_ns;         /* while the CPUs were idle */
	uint64_t histogram[STEAL_SLOTS]; /* of all thefts, also those not in thefts */
	uint64_t thefts_lost;            /* long ones that are not in thefts, but should be */
	uint64_t threads_lost;           /* there was no room for their account */
};
