/* record/kernel/probe_table.h: the USDT probes of HotSpot that spoor attaches to, and what each is
 * good for. */
#pragma once

#include <stdbool.h>

/* Which probes tell of locks and waits. */
enum probe_set {
	PROBES_AUTO,  /* not chosen yet */
	PROBES_NONE,  /* the scheduler tells (bpf/lib/waits.bpf.h) */
	PROBES_USDT,  /* those of a stock JVM */
	PROBES_HOOKS, /* those of a patched JVM */
};

enum probe_of { /* which JVM's probe it is */
		PROBE_OF_ANY,
		PROBE_OF_TOLD,  /* what the scheduler tells as well */
		PROBE_OF_STOCK, /* what a patched JVM tells better */
		/* A function: what no probe tells of virtual threads. */
		PROBE_OF_FUNCTION,
		PROBE_OF_PATCHED, /* of jvm-hooks/probes.h */
};

struct probe_row {
	const char *provider, *name;
	const char *program; /* the BPF program that it runs */
	const char *purpose; /* "contended monitors": what is missing from a log without it */
	enum probe_of of;
	const char *gate; /* of a switch: the probe after which its gate is (uprobe_multi.h) */
};

enum {
	PROBE_COUNT = 0
#define PROBE_ONE(...) +1
#define ANY PROBE_ONE
#define TOLD PROBE_ONE
#define STOCK PROBE_ONE
#define FUNCTION PROBE_ONE
#define HOOK PROBE_ONE
#define SWITCH PROBE_ONE
#include "record/kernel/probe_table.def"
#undef PROBE_ONE
};

/* In the order of attaching. */
extern const struct probe_row probe_table[PROBE_COUNT];

/* Whether it is one of a set. */
bool probe_applies(const struct probe_row *w, enum probe_set set);
