#include "fakejvm_probes.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/sdt.h>

/*
 * One function per location, never inlined: a probe has as many locations as HotSpot's has, and its
 * arguments stand in registers or on the stack as the compiler likes, which is what a reader of the
 * notes must cope with.
 */
#define LOCATION __attribute__((noinline, no_icf)) /* or two equal locations become one */

struct monitor_args {
	int64_t java_id;
	uintptr_t monitor;
	char *bytes;
	int length;
};

static struct monitor_args args_of(int64_t java_id, struct object_monitor *m)
{
	struct symbol *name = fake_object_class(*m->object)->name;

	return (struct monitor_args){java_id, (uintptr_t)m, name->body, name->length};
}

#define MONITOR_LOCATION(function, probe)                                                          \
	static LOCATION void function(const struct monitor_args *a)                                \
	{                                                                                          \
		DTRACE_PROBE4(hotspot, probe, a->java_id, a->monitor, a->bytes, a->length);        \
	}

MONITOR_LOCATION(fire_enter, monitor__contended__enter)
MONITOR_LOCATION(fire_entered, monitor__contended__entered)
MONITOR_LOCATION(fire_exit, monitor__contended__exit)
MONITOR_LOCATION(fire_waited, monitor__waited)
MONITOR_LOCATION(fire_notify, monitor__notify)
MONITOR_LOCATION(fire_notify_all, monitor__notifyAll)
MONITOR_LOCATION(fire_quick_notify, monitor__notify)
MONITOR_LOCATION(fire_quick_notify_all, monitor__notifyAll)

static LOCATION void fire_wait(const struct monitor_args *a, int64_t millis)
{
	DTRACE_PROBE5(hotspot, monitor__wait, a->java_id, a->monitor, a->bytes, a->length, millis);
}

bool fake_fire_monitor(enum fake_probe p, int64_t java_id, struct object_monitor *m, int64_t millis)
{
	static void (*const fire[])(const struct monitor_args *) = {
		[PROBE_ENTER] = fire_enter,   [PROBE_ENTERED] = fire_entered,
		[PROBE_EXIT] = fire_exit,     [PROBE_WAITED] = fire_waited,
		[PROBE_NOTIFY] = fire_notify, [PROBE_NOTIFY_ALL] = fire_notify_all,
	};
	struct monitor_args a;

	if (!vm.monitor_probes)
		return false;
	a = args_of(java_id, m);
	if (p == PROBE_WAIT)
		fire_wait(&a, millis);
	else
		fire[p](&a);
	return true;
}

bool fake_fire_exit_of(int64_t java_id, uintptr_t monitor)
{
	struct symbol *name = vm.classes[CLASS_OBJECT]->name;

	if (vm.monitor_probes)
		fire_exit(&(struct monitor_args){java_id, monitor, name->body, name->length});
	return vm.monitor_probes;
}

bool fake_fire_quick_notify(bool all, int64_t java_id, struct object_monitor *m)
{
	struct monitor_args a;

	if (!vm.monitor_probes)
		return false;
	a = args_of(java_id, m);
	if (all)
		fire_quick_notify_all(&a);
	else
		fire_quick_notify(&a);
	return true;
}

LOCATION void fake_fire_park_begin(struct parker *p, bool absolute, int64_t time)
{
	int is_absolute = absolute;

	DTRACE_PROBE3(hotspot, thread__park__begin, (uintptr_t)p, is_absolute, time);
}

LOCATION void fake_fire_park_end(struct parker *p)
{
	DTRACE_PROBE1(hotspot, thread__park__end, (uintptr_t)p);
}

LOCATION void fake_fire_sleep(bool begin, int64_t millis)
{
	if (begin)
		DTRACE_PROBE1(hotspot, thread__sleep__begin, millis);
	else
		DTRACE_PROBE1(hotspot, thread__sleep__end, 0);
}

LOCATION void fake_fire_unpark(struct parker *p)
{
	DTRACE_PROBE1(hotspot, thread__unpark, (uintptr_t)p);
}

static LOCATION void fire_thread_start(const char *name, int length, int64_t java_id, uintptr_t tid,
				       bool daemon)
{
	DTRACE_PROBE5(hotspot, thread__start, name, length, java_id, tid, daemon);
}

static LOCATION void fire_thread_stop(const char *name, int length, int64_t java_id, uintptr_t tid,
				      bool daemon)
{
	DTRACE_PROBE5(hotspot, thread__stop, name, length, java_id, tid, daemon);
}

void fake_fire_thread(bool start, const char *name, int64_t java_id, int tid, bool daemon)
{
	if (start)
		fire_thread_start(name, (int)strlen(name), java_id, (uintptr_t)tid, daemon);
	else
		fire_thread_stop(name, (int)strlen(name), java_id, (uintptr_t)tid, daemon);
}

LOCATION void fake_fire_gc_begin(bool full)
{
	DTRACE_PROBE1(hotspot, gc__begin, full);
}

static LOCATION void fire_pool_begin(const char *manager, const char *pool, const uint64_t *s)
{
	DTRACE_PROBE8(hotspot, mem__pool__gc__begin, manager, strlen(manager), pool, strlen(pool),
		      s[0], s[1], s[2], s[3]);
}

static LOCATION void fire_pool_end(const char *manager, const char *pool, const uint64_t *s)
{
	DTRACE_PROBE8(hotspot, mem__pool__gc__end, manager, strlen(manager), pool, strlen(pool),
		      s[0], s[1], s[2], s[3]);
}

void fake_fire_pool(bool begin, const char *manager, const char *pool, const uint64_t sizes[4])
{
	if (begin)
		fire_pool_begin(manager, pool, sizes);
	else
		fire_pool_end(manager, pool, sizes);
}

static LOCATION void fire_vmop_request(const char *name, int mode)
{
	DTRACE_PROBE3(hotspot, vmops__request, name, strlen(name), mode);
}

static LOCATION void fire_vmop_begin(const char *name, int mode)
{
	DTRACE_PROBE3(hotspot, vmops__begin, name, strlen(name), mode);
}

static LOCATION void fire_vmop_end(const char *name, int mode)
{
	DTRACE_PROBE3(hotspot, vmops__end, name, strlen(name), mode);
}

void fake_fire_vmop(char what, const char *name, int mode)
{
	if (what == 'r')
		fire_vmop_request(name, mode);
	else if (what == 'b')
		fire_vmop_begin(name, mode);
	else
		fire_vmop_end(name, mode);
}

LOCATION void fake_fire_class_unloaded(const char *name)
{
	int length = (int)strlen(name);

	DTRACE_PROBE4(hotspot, class__unloaded, name, length, (void *)vm.loaders, false);
}

int fake_fire_mark(const char *library, const char *name)
{
	void *loaded = dlopen(library, RTLD_NOW);
	int (*span)(const char *name);

	*(void **)&span = loaded ? dlsym(loaded, "late_span") : NULL;
	return span ? span(name) : -1;
}
