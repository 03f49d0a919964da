#include "fakejvm_flood.h"

#include "fakejvm_probes.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INVENTED 0x100000000000

static long monitors(long first, long count, int64_t java_id)
{
	long fired = 0;

	for (long i = first; i < first + count; i++)
		fired += fake_fire_exit_of(java_id, INVENTED + (uintptr_t)i * 256);
	return fired;
}

static long classes(long first, long count, int64_t java_id)
{
	struct object_monitor *m;
	long fired = 0;
	char name[64];

	for (long i = first; i < first + count; i++) {
		snprintf(name, sizeof(name), "flood/of/many/classes/WithALongName%ld", i);
		m = fake_c_heap(sizeof(*m));
		m->object = fake_handle(fake_object(fake_class(name, vm.classes[CLASS_OBJECT], 0)));
		fired += fake_fire_monitor(PROBE_EXIT, java_id, m, 0);
	}
	return fired;
}

static long names(long first, long count)
{
	char name[64];

	for (long i = first; i < first + count; i++) {
		snprintf(name, sizeof(name), "FloodOfManyVMOperations%ld", i);
		fake_fire_vmop('r', name, 0);
	}
	return count;
}

struct started {
	long number;
	int64_t java_id;
};

static void *run(void *started)
{
	const struct started *s = started;
	int tid = (int)syscall(SYS_gettid);
	char name[64];

	snprintf(name, sizeof(name), "a thread of many, all with long names: %ld", s->number);
	fake_fire_thread(true, name, s->java_id, tid, false);
	fake_fire_thread(false, name, s->java_id, tid, false);
	return NULL;
}

static long threads(long first, long count, int64_t java_id)
{
	for (long i = 0; i < count; i++) {
		struct started s = {first + i, java_id + first + i};
		pthread_t thread;

		if (pthread_create(&thread, NULL, run, &s))
			return i;
		pthread_join(thread, NULL);
	}
	return count;
}

long fake_flood(const char *what, long count, int64_t java_id)
{
	static long all; /* those of the next call are others */
	long first = all;

	all += count;
	if (!strcmp(what, "monitors"))
		return monitors(first, count, java_id);
	if (!strcmp(what, "classes"))
		return classes(first, count, java_id);
	if (!strcmp(what, "names"))
		return names(first, count);
	return strcmp(what, "threads") ? -1 : threads(first, count, java_id + 1000000);
}
