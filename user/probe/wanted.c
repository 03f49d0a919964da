#include "probe/wanted.h"

#define CONTENTION "contended monitors"
#define WAITING "Object.wait and notify"
#define PARKING "parking (java.util.concurrent locks)"
#define COLLECTIONS "garbage collections"
#define POOLS "which collection it was"
#define OPERATIONS "VM operations"
#define SAFEPOINTS "safepoints"
#define THREADS "threads that start or end meanwhile"
#define CLASSES "classes that are unloaded meanwhile"

const struct wanted_probe wanted_probes[] = {
	{"hotspot", "monitor__contended__enter", CONTENTION, true},
	{"hotspot", "monitor__contended__entered", CONTENTION, true},
	{"hotspot", "monitor__contended__exit", CONTENTION, true},
	{"hotspot", "monitor__wait", WAITING, true},
	{"hotspot", "monitor__waited", WAITING, true},
	{"hotspot", "monitor__notify", WAITING, true},
	{"hotspot", "monitor__notifyAll", WAITING, true},
	{"hotspot", "thread__park__begin", PARKING, false},
	{"hotspot", "thread__park__end", PARKING, false},
	{"hotspot", "thread__unpark", PARKING, false},
	{"hotspot", "gc__begin", COLLECTIONS, false},
	{"hotspot", "gc__end", COLLECTIONS, false},
	{"hotspot", "mem__pool__gc__begin", POOLS, false},
	{"hotspot", "mem__pool__gc__end", POOLS, false},
	{"hotspot", "vmops__request", OPERATIONS, false},
	{"hotspot", "vmops__begin", OPERATIONS, false},
	{"hotspot", "vmops__end", OPERATIONS, false},
	{"hs_private", "safepoint__begin", SAFEPOINTS, false},
	{"hs_private", "safepoint__end", SAFEPOINTS, false},
	{"hotspot", "thread__start", THREADS, false},
	{"hotspot", "thread__stop", THREADS, false},
	{"hotspot", "class__unloaded", CLASSES, false},
};

const size_t wanted_probe_count = sizeof(wanted_probes) / sizeof(*wanted_probes);
