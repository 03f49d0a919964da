/* probe/wanted.h: the USDT probes of HotSpot that spoor attaches to, and what each is good for. */
#pragma once

#include <stddef.h>

struct wanted_probe {
	const char *provider, *name;
	const char *program; /* the BPF program that it runs */
	const char *purpose; /* "contended monitors": what is missing from a log without it */
};

#define WANTED_PROBES 23

/* In the order of attaching. */
extern const struct wanted_probe wanted_probes[];
extern const size_t wanted_probe_count;
