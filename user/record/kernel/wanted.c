#include "record/kernel/wanted.h"

#include "jvm-hooks/probes.h"

#define CONTENTION "contended monitors"
#define WAITING "Object.wait and notify"
#define PARKING "parking (java.util.concurrent locks)"
#define COLLECTIONS "garbage collections"
#define POOLS "which collection it was"
#define OPERATIONS "VM operations"
#define SAFEPOINTS "safepoints"
#define THREADS "threads that start or end meanwhile"
#define SLEEPING "Thread.sleep, told from other blocking"
#define CLASSES "classes that are unloaded meanwhile"
#define CODE "compiled code that is unloaded meanwhile (call chains)"
#define INFLATION "monitors that come and go"
#define STORMS "storms of releases of a monitor"
#define PHASES "phases of garbage collections"

#define ANY(provider, name, program, purpose)                                                      \
	{                                                                                          \
		provider, name, program, purpose, WANTED_ANY, NULL                                 \
	}
#define STOCK(name, program, purpose)                                                              \
	{                                                                                          \
		"hotspot", name, program, purpose, WANTED_STOCK, NULL                              \
	}
#define HOOK(name, program, purpose)                                                               \
	{                                                                                          \
		SPOOR_PROVIDER, name, program, purpose, WANTED_PATCHED, NULL                       \
	}
#define SWITCH(name, program, purpose, gate)                                                       \
	{                                                                                          \
		SPOOR_PROVIDER, name, program, purpose, WANTED_PATCHED, gate                       \
	}

/* Ends come first, so that whoever is seen to begin is seen to end. */
const struct wanted_probe wanted_probes[] = {
	ANY("hotspot", "class__unloaded", "class_unloaded", CLASSES),
	ANY("hotspot", "compiled__method__unload", "compiled_method_unload", CODE),
	ANY("hotspot", "thread__start", "thread_start", THREADS),
	ANY("hotspot", "thread__stop", "thread_stop", THREADS),
	ANY("hotspot", "thread__sleep__end", "thread_sleep_end", SLEEPING),
	ANY("hotspot", "thread__sleep__begin", "thread_sleep_begin", SLEEPING),
	ANY("hotspot", "vmops__end", "vmop_end", OPERATIONS),
	ANY("hotspot", "vmops__begin", "vmop_begin", OPERATIONS),
	ANY("hotspot", "vmops__request", "vmop_request", OPERATIONS),
	ANY("hotspot", "gc__end", "gc_end", COLLECTIONS),
	ANY("hotspot", "mem__pool__gc__end", "gc_pool_end", POOLS),
	ANY("hotspot", "mem__pool__gc__begin", "gc_pool_begin", POOLS),
	ANY("hotspot", "gc__begin", "gc_begin", COLLECTIONS),
	ANY("hs_private", "safepoint__end", "safepoint_end", SAFEPOINTS),
	ANY("hs_private", "safepoint__begin", "safepoint_begin", SAFEPOINTS),
	STOCK("thread__park__end", "park_end", PARKING),
	STOCK("thread__park__begin", "park_begin", PARKING),
	STOCK("thread__unpark", "unpark", PARKING),
	STOCK("monitor__contended__entered", "monitor_contended_entered", CONTENTION),
	STOCK("monitor__waited", "monitor_waited", WAITING),
	STOCK("monitor__contended__exit", "monitor_contended_exit", CONTENTION),
	STOCK("monitor__notify", "monitor_notify", WAITING),
	STOCK("monitor__notifyAll", "monitor_notify_all", WAITING),
	STOCK("monitor__wait", "monitor_wait", WAITING),
	STOCK("monitor__contended__enter", "monitor_contended_enter", CONTENTION),
	HOOK("safepoint", "exact_safepoint", SAFEPOINTS),
	HOOK("gc__end", "exact_gc_end", COLLECTIONS),
	HOOK("gc__phase__end", "exact_phase_end", PHASES),
	HOOK("gc__phase__begin", "exact_phase_begin", PHASES),
	HOOK("gc__begin", "exact_gc_begin", COLLECTIONS),
	HOOK("monitor__deflate", "exact_monitor_deflate", INFLATION),
	HOOK("monitor__inflate", "exact_monitor_inflate", INFLATION),
	HOOK("monitor__entered", "exact_monitor_entered", CONTENTION),
	HOOK("monitor__fold", "exact_monitor_fold", STORMS),
	HOOK("monitor__exit", "exact_monitor_exit", CONTENTION),
	HOOK("monitor__waited", "exact_monitor_waited", WAITING),
	HOOK("monitor__notify", "exact_monitor_notify", WAITING),
	HOOK("monitor__wait", "exact_monitor_wait", WAITING),
	HOOK("park__end", "exact_park_end", PARKING),
	HOOK("unpark", "exact_unpark", PARKING),
	SWITCH("monitor__enter", "exact_monitor_enter", CONTENTION, "monitor__deflate"),
	SWITCH("park__begin", "exact_park_begin", PARKING, "gc__end"),
};

const size_t wanted_probe_count = sizeof(wanted_probes) / sizeof(*wanted_probes);

#define ONE(name) +1
_Static_assert(sizeof(wanted_probes) / sizeof(*wanted_probes) == WANTED_PROBES,
	       "counted in wanted.h");
_Static_assert(WANTED_PROBES == 25 + SPOOR_PROBES(ONE), "all that a patched JVM has");

bool wanted_on(const struct wanted_probe *w, bool patched)
{
	return w->of == WANTED_ANY || (w->of == WANTED_PATCHED) == patched;
}
