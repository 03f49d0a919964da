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
#define CODE "compiled code that is unloaded meanwhile (call chains)"

/* Ends come first, so that whoever is seen to begin is seen to end. */
const struct wanted_probe wanted_probes[] = {
	{"hotspot", "class__unloaded", "class_unloaded", CLASSES},
	{"hotspot", "compiled__method__unload", "compiled_method_unload", CODE},
	{"hotspot", "thread__start", "thread_start", THREADS},
	{"hotspot", "thread__stop", "thread_stop", THREADS},
	{"hotspot", "vmops__end", "vmop_end", OPERATIONS},
	{"hotspot", "vmops__begin", "vmop_begin", OPERATIONS},
	{"hotspot", "vmops__request", "vmop_request", OPERATIONS},
	{"hotspot", "gc__end", "gc_end", COLLECTIONS},
	{"hotspot", "mem__pool__gc__end", "gc_pool_end", POOLS},
	{"hotspot", "mem__pool__gc__begin", "gc_pool_begin", POOLS},
	{"hotspot", "gc__begin", "gc_begin", COLLECTIONS},
	{"hs_private", "safepoint__end", "safepoint_end", SAFEPOINTS},
	{"hs_private", "safepoint__begin", "safepoint_begin", SAFEPOINTS},
	{"hotspot", "thread__park__end", "park_end", PARKING},
	{"hotspot", "thread__park__begin", "park_begin", PARKING},
	{"hotspot", "thread__unpark", "unpark", PARKING},
	{"hotspot", "monitor__contended__entered", "monitor_contended_entered", CONTENTION},
	{"hotspot", "monitor__waited", "monitor_waited", WAITING},
	{"hotspot", "monitor__contended__exit", "monitor_contended_exit", CONTENTION},
	{"hotspot", "monitor__notify", "monitor_notify", WAITING},
	{"hotspot", "monitor__notifyAll", "monitor_notify_all", WAITING},
	{"hotspot", "monitor__wait", "monitor_wait", WAITING},
	{"hotspot", "monitor__contended__enter", "monitor_contended_enter", CONTENTION},
};

const size_t wanted_probe_count = sizeof(wanted_probes) / sizeof(*wanted_probes);

_Static_assert(sizeof(wanted_probes) / sizeof(*wanted_probes) == WANTED_PROBES,
	       "counted in wanted.h");
