/* record/kernel/thread_clocks.h: runs a BPF program in each thread of a process at a period of its
 * time on the CPUs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct bpf_program;
struct thread_clocks;

struct thread_clocks_options {
	pid_t pid;
	uint64_t period_ns;
	bool jitter; /* each clock has a period that is a little different */
};

/*
 * A clock is armed by the kernel's scheduler, and runs only while its thread does. Threads that
 * begin later have one of their own from their first instruction. Negative errno of
 * perf_event_open(2); -EMFILE: there are more threads than descriptors. period_ns 0: *ret is NULL.
 */
int thread_clocks_open(const struct bpf_program *program, const struct thread_clocks_options *o,
		       struct thread_clocks **ret);
/* Accepts NULL. */
void thread_clocks_close(struct thread_clocks *c);
