/* record/kernel/wanted.h: the USDT probes of HotSpot that spoor attaches to, and what each is
 * good for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum wanted_of { /* which JVM's probe it is */
		 WANTED_ANY,
		 WANTED_STOCK,   /* what a patched JVM tells better */
		 WANTED_PATCHED, /* of jvm-hooks/probes.h */
};

struct wanted_probe {
	const char *provider, *name;
	const char *program; /* the BPF program that it runs */
	const char *purpose; /* "contended monitors": what is missing from a log without it */
	enum wanted_of of;
	const char *gate; /* of a switch: the probe behind which its gate is (uprobe_multi.h) */
};

#define WANTED_PROBES 42

/* In the order of attaching. */
extern const struct wanted_probe wanted_probes[];
extern const size_t wanted_probe_count;

/* Whether it is used on a JVM whose hooks are used, or on one without. */
bool wanted_on(const struct wanted_probe *w, bool patched);
