/* record/kernel/probe_table.h: the USDT probes of HotSpot that spoor attaches to, and what each is
 * good for. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "bpf/wire/wire_probe.h"

/* Which probes report locks and waits. */
enum probe_set {
	PROBES_AUTO,  /* not chosen yet */
	PROBES_NONE,  /* the scheduler's programs do (bpf/lib/waits.bpf.h) */
	PROBES_USDT,  /* those of a stock JVM */
	PROBES_HOOKS, /* those of a patched JVM */
	/* Those of a patched JVM for monitors; of parks the scheduler's programs do. */
	PROBES_MONITORS,
};

enum probe_of { /* which JVM's probe it is */
		PROBE_OF_ANY,
		PROBE_OF_SEEN,  /* what the scheduler's programs see as well */
		PROBE_OF_STOCK, /* what a patched JVM reports better */
		/* A function: what no probe reports of virtual threads. */
		PROBE_OF_FUNCTION,
		PROBE_OF_MOVE,    /* likewise, when they unmount to park, and mount again */
		PROBE_OF_PATCHED, /* of jvm-hooks/probes.h */
};

struct probe_row {
	const char *provider, *name;
	const char *purpose; /* "contended monitors": what is missing from a log without it */
	enum probe_of of;
	const char *gate; /* of a switch: the probe after which its gate is (uprobe_multi.h) */
};

#define PROBE_COUNT ((size_t)WIRE_PROBE_ROWS)

/* In the order of attaching; by enum wire_probe. */
extern const struct probe_row probe_table[PROBE_COUNT];

/* By enum probe_set, as --probes and logs name them; NULL is the last. */
extern const char *const probe_set_names[];

/* Whether it is one of a set. */
bool probes_hooked(enum probe_set set);      /* events of monitors have numbers */
bool probes_by_switches(enum probe_set set); /* the scheduler's programs tell of parks at least */
bool probe_applies(const struct probe_row *w, enum probe_set set);
