/* record/kernel/wanted.h: the USDT probes of HotSpot that spoor attaches to, and what each is
 * good for. */
#pragma once

#include <stdbool.h>

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

enum {
	WANTED_PROBES = 0
#define WANTED_ONE(...) +1
#define ANY WANTED_ONE
#define STOCK WANTED_ONE
#define HOOK WANTED_ONE
#define SWITCH WANTED_ONE
#include "record/kernel/wanted.def"
#undef WANTED_ONE
};

/* In the order of attaching. */
extern const struct wanted_probe wanted_probes[WANTED_PROBES];

/* Whether it is used on a JVM whose hooks are used, or on one without. */
bool wanted_on(const struct wanted_probe *w, bool patched);
