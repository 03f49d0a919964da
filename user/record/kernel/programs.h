/* record/kernel/programs.h: which BPF programs a recording needs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/kernel/probe_table.h"
#include "record/kernel/thread_clocks.h"

struct bpf_program;
struct spoor_bpf;

struct programs_wanted {
	enum probe_set probes;
	bool virtual_threads; /* the JVM has them, */
	bool virtual_parks;   /* and their parks are wanted */
	bool thread_ids;      /* what monitors have as their owners */
	enum sample_event sample; /* SAMPLE_AUTO: threads are not sampled */
	bool multi;           /* by uprobe_multi links */
};

/* Before the object is loaded: only what is attached will be, as each program costs its time in the
 * verifier. Returns the program of the probes. */
struct bpf_program *programs_choose(struct spoor_bpf *skel, const struct programs_wanted *w);
/* When threads are sampled. tick: of kernel_symbols_tick(), for SAMPLE_TICK, whose period is a
 * multiple of a tick. */
void programs_set_sample(struct spoor_bpf *skel, const struct thread_clocks_options *o,
			 uint64_t tick);
