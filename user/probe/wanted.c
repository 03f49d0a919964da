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

/* Ends come first, so that whoever is seen to begin is seen to end. */
const struct wanted_probe wanted_probes[] = {
	{"hotspot", "class__unloaded", "class_unloaded", CLASSES, false},
	{"hotspot", "thread__start", "thread_start", THREADS, false},
	{"hotspot", "thread__stop", "thread_stop", THREADS, false},
	{"hotspot", "vmops__end", "vmop_end", OPERATIONS, false},
	{"hotspot", "vmops__begin", "vmop_begin", OPERATIONS, false},
	{"hotspot", "vmops__request", "vmop_request", OPERATIONS, false},
	{"hotspot", "gc__end", "gc_end", COLLECTIONS, false},
	{"hotspot", "mem__pool__gc__end", "gc_pool_end", POOLS, false},
	{"hotspot", "mem__pool__gc__begin", "gc_pool_begin", POOLS, false},
	{"hotspot", "gc__begin", "gc_begin", COLLECTIONS, false},
	{"hs_private", "safepoint__end", "safepoint_end", SAFEPOINTS, false},
	{"hs_private", "safepoint__begin", "safepoint_begin", SAFEPOINTS, false},
	{"hotspot", "thread__park__end", "park_end", PARKING, false},
	{"hotspot", "thread__park__begin", "park_begin", PARKING, false},
	{"hotspot", "thread__unpark", "unpark", PARKING, false},
	{"hotspot", "monitor__contended__entered", "monitor_contended_entered", CONTENTION, true},
	{"hotspot", "monitor__waited", "monitor_waited", WAITING, true},
	{"hotspot", "monitor__contended__exit", "monitor_contended_exit", CONTENTION, true},
	{"hotspot", "monitor__notify", "monitor_notify", WAITING, true},
	{"hotspot", "monitor__notifyAll", "monitor_notify_all", WAITING, true},
	{"hotspot", "monitor__wait", "monitor_wait", WAITING, true},
	{"hotspot", "monitor__contended__enter", "monitor_contended_enter", CONTENTION, true},
};

const size_t wanted_probe_count = sizeof(wanted_probes) / sizeof(*wanted_probes);

_Static_assert(sizeof(wanted_probes) / sizeof(*wanted_probes) == WANTED_PROBES,
	       "counted in wanted.h");
