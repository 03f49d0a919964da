/* record/kernel/programs.h: which BPF programs a recording needs. */
#pragma once

#include <stdbool.h>

#include "record/kernel/probe_table.h"

struct bpf_program;
struct spoor_bpf;

struct programs_wanted {
	enum probe_set probes;
	bool virtual_threads; /* the JVM has them, */
	bool virtual_parks;   /* and their parks are wanted */
	bool thread_ids;      /* what monitors have as their owners */
	bool sample;          /* threads have clocks */
	bool multi;           /* by uprobe_multi links */
};

/* Before the object is loaded: only what is attached will be, as each program costs its time in the
 * verifier. Returns the program of the probes. */
struct bpf_program *programs_choose(struct spoor_bpf *skel, const struct programs_wanted *w);
