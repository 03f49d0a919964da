/* tests/bpf/fakejvm_probes.h: the locations where HotSpot fires its probes, with its arguments and its
 * tests of flags. */
#pragma once

#include "fakejvm.h"

enum fake_probe {
	PROBE_ENTER,
	PROBE_ENTERED,
	PROBE_EXIT,
	PROBE_WAIT,
	PROBE_WAITED,
	PROBE_NOTIFY,
	PROBE_NOTIFY_ALL,
};

/* A monitor probe; true if it was fired: DTraceMonitorProbes is tested at run time, as in
 * HotSpot 17. */
bool fake_fire_monitor(enum fake_probe p, int64_t java_id, struct object_monitor *m,
		       int64_t millis);
/* The exit of a monitor at any address. */
bool fake_fire_exit_of(int64_t java_id, uintptr_t monitor);
/* The second location of notify and notifyAll: ObjectSynchronizer::quick_notify. */
bool fake_fire_quick_notify(bool all, int64_t java_id, struct object_monitor *m);
void fake_fire_park_begin(struct parker *p, bool absolute, int64_t time);
void fake_fire_park_end(struct parker *p);
void fake_fire_sleep(bool begin, int64_t millis);
void fake_fire_unpark(struct parker *p);
void fake_fire_thread(bool start, const char *name, int64_t java_id, int tid, bool daemon);
void fake_fire_gc_begin(bool full);
void fake_fire_pool(bool begin, const char *manager, const char *pool, const uint64_t sizes[4]);
void fake_fire_vmop(char what, const char *name, int mode);
void fake_fire_class_unloaded(const char *name);
/* A span, by the probes of tests/bpf/late_marks.c, which is loaded if it is not yet. 1: fired; 0: nobody is attached;
 * -1: it cannot be loaded. */
int fake_fire_mark(const char *library, const char *name);

#define FAKE_HOOK_ARGS 9
/* A probe of a patched JVM, by its name in jvm-hooks/probes.h. 1: fired; 0: nobody is attached; -1: it has none
 * of that name. */
int fake_fire_hook(const char *name, const uint64_t a[FAKE_HOOK_ARGS]);
/* How many are attached to the i-th of SPOOR_PROBES; -1: there are no more. */
int fake_semaphore(size_t i);
/* A probe that has no location of HotSpot's own form, by its name in wire_probe.def; whether there
 * is one. */
bool fake_fire_location(const char *name, const uint64_t a[FAKE_HOOK_ARGS]);
/* By the name of HotSpot's function in which a thread spins for a monitor. */
void fake_try_spin(int n) __asm__("_ZN13ObjectMonitor7TrySpinEP10JavaThread");
