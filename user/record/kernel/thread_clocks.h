/* record/kernel/thread_clocks.h: runs a BPF program in each thread of a process at a period of its
 * time on the CPUs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct bpf_program;
struct thread_clocks;

/* What makes a sample due. */
enum sample_event {
	SAMPLE_AUTO,	  /* chosen before thread_clocks_open() */
	SAMPLE_TIMER,	  /* a timer of each CPU, bpf/lib/cpu_timer.bpf.h */
	SAMPLE_CPU_CLOCK, /* a perf event of each thread */
	SAMPLE_TICK,	  /* the kernel's own ticks */
	SAMPLE_CYCLES,	  /* a perf event of each thread, by the PMU */
	SAMPLE_EVENT_COUNT
};

extern const char *const sample_event_names[SAMPLE_EVENT_COUNT];

struct thread_clock_programs {
	const struct bpf_program *timer, *clock, *tick; /* the one that is used is loaded */
	uint32_t *timers_on;				/* lent */
};

/* What is asked for by --sample. */
struct sample_request {
	uint64_t period_ns;	 /* running threads are sampled at it; 0: they are not */
	bool jitter, symbols;	 /* by chance more or less; with names of functions */
	enum sample_event event; /* SAMPLE_AUTO: the recorder chooses; SAMPLE_TICK: with */
	uint64_t tick;		 /* that of native_symbols_tick() */
};

struct thread_clocks_options {
	pid_t pid;
	uint64_t period_ns;
	bool jitter;	/* the period differs by chance: each time, or for each thread */
	unsigned cpus;	/* that there can be */
	enum sample_event event;
};

/* Of the clocks, on average; with jitter a timer has from half of it to one and a half. */
uint64_t thread_clocks_period_ns(const struct thread_clocks_options *o);

/*
 * A clock is armed by the kernel's scheduler, and runs only while its thread does. Threads that
 * begin later have one of their own from their first instruction. Negative errno of
 * perf_event_open(2) or bpf(2); -EMFILE: there are more threads than descriptors. period_ns 0: *ret
 * is NULL.
 *
 * With timers, the calling thread goes to each CPU that it may run on, so that each has a switch,
 * and returns to those that it was allowed to run on.
 */
int thread_clocks_open(const struct thread_clock_programs *programs,
		       const struct thread_clocks_options *o, struct thread_clocks **ret);
/* Accepts NULL. */
void thread_clocks_close(struct thread_clocks *c);
