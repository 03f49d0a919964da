/* steal/sources/source.h: where samples of steal time come from: /proc, a scheduler probe, a file.
 */
#pragma once

#include <sys/types.h>

#include "steal/sources/steal.h"

struct steal_source_ops;

/* What a source is; plain values, that stay as they are until steal_source_free. */
struct steal_source {
	const char *name;       /* "proc", "sched"; of a recorded one, what it was then */
	const char *clock;      /* "/proc/stat", "rq_clock", "kvm_steal_time", ...: whose steal */
	uint64_t resolution_ns; /* of steal_cpu: 1, or a tick */
	uint64_t cpu_resolution_ns; /* of steal_thread.cpu_ns */
	bool exact;                 /* it knows what was stolen from each thread */
	bool cpu_has_steal;         /* cpu_ns of threads and processes includes stolen time */
	uint64_t wall_ns;           /* CLOCK_REALTIME less CLOCK_MONOTONIC; set by the library */
	const struct steal_source_ops *ops;
};

/*
 * The state of now; lent until the next call. 1: *ret is a sample; 0: there will be no more (the
 * process has ended, or the file). Or negative errno: -EBADMSG from a damaged file.
 */
int steal_source_sample(struct steal_source *s, const struct steal_sample **ret);
void steal_source_free(struct steal_source *s);
/* More about the last error ("line 7: ..."), or "". */
const char *steal_source_why(const struct steal_source *s);

/* From /proc, without privilege. pid 0: all processes. -ESRCH: there is no such process. */
int steal_source_proc(pid_t pid, struct steal_source **ret);
/* The same of another folder than /proc. */
int steal_source_proc_at(const char *root, pid_t pid, struct steal_source **ret);

/*
 * Reads back what steal/sources/recording.h has written: number n (from 0) of the sources in it.
 * -ENODEV: it has not so many. -EPROTO: it is no recording, or of a newer spoor. pid as above.
 */
int steal_source_recorded(const char *path, unsigned n, pid_t pid, struct steal_source **ret);

/*
 * The push interface: a source that is fed by somebody who knows more than /proc (a BPF program).
 * For each steal_source_sample, collect() pushes a whole sample: each CPU once, each thread that
 * has an account once (and once more, with ended set, after its end; an account may be dropped
 * then), and the thefts since the last time.
 *
 * What is pushed must be charged up to now, and agree: the growth of steal_ns over the CPUs is the
 * growth of stolen_ns over the threads plus that of idle_stolen_ns (of all threads of the machine:
 * pid only chooses which are pushed).
 */
struct steal_sink;

void steal_push_cpu(struct steal_sink *to, const struct steal_cpu *cpu);
void steal_push_thread(struct steal_sink *to, const struct steal_thread *thread);
void steal_push_process(struct steal_sink *to, const struct steal_process *process);
void steal_push_theft(struct steal_sink *to, const struct steal_theft *theft);
/* Those counters of a sample that are single values; they replace what was pushed before. */
void steal_push_idle_stolen(struct steal_sink *to, uint64_t ns);
void steal_push_histogram(struct steal_sink *to, const uint64_t counts[STEAL_SLOTS]);
void steal_push_lost(struct steal_sink *to, uint64_t thefts, uint64_t threads);

struct steal_feed {
	/* 1: a sample has been pushed; 0: no more; negative errno. Times are set before it is
	 * called; a push that fails makes the sample fail. */
	int (*collect)(void *ctx, struct steal_sink *to);
	void (*free)(void *ctx); /* by steal_source_free; may be NULL */
	void *ctx;
};

/* name, clock (lent for good), resolutions, exact and cpu_has_steal are taken from what; ops is
 * not. -ENOMEM: feed.ctx is still the caller's. */
int steal_source_sched(const struct steal_source *what, const struct steal_feed *feed,
		       struct steal_source **ret);

/* Whether this kernel's CPU time of threads includes what was stolen from them (it does without
 * CONFIG_PARAVIRT_TIME_ACCOUNTING). *how: static, where that is known from; "assumed" if it is not.
 */
bool steal_kernel_cpu_has_steal(const char **how);
