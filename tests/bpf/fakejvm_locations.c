/*
 * A location for each probe of the recorder's table that any JVM has (ANY of wire_probe.def), with
 * nine arguments of 8 bytes: a family with a new probe needs nothing here. A probe whose arguments
 * stand as HotSpot has them, in fakejvm_probes.c, is named here as one with its own location.
 */
#include "fakejvm_probes.h"

#include <string.h>
#include <sys/sdt.h>

#define OWN(name) ~, OWN_LOCATION
#define OWN_class__unloaded OWN(class__unloaded)
#define OWN_thread__start OWN(thread__start)
#define OWN_thread__stop OWN(thread__stop)
#define OWN_vmops__end OWN(vmops__end)
#define OWN_vmops__begin OWN(vmops__begin)
#define OWN_vmops__request OWN(vmops__request)
#define OWN_gc__begin OWN(gc__begin)
#define OWN_mem__pool__gc__end OWN(mem__pool__gc__end)
#define OWN_mem__pool__gc__begin OWN(mem__pool__gc__begin)

/* OWN_LOCATION(provider, name) of those that are named above, LOCATION(...) of the others. */
#define SECOND(a, b, ...) b
#define CHOOSE(...) SECOND(__VA_ARGS__)
#define ANY(provider, name, program, purpose) CHOOSE(OWN_##name, LOCATION, ~)(provider, name)
#define OWN_LOCATION(provider, name)
#define SEEN(...)
#define STOCK(...)
#define FUNCTION(...)
#define MOVE(...)
#define HOOK(...)
#define SWITCH(...)

#define LOCATION(provider, name)                                                                   \
	static __attribute__((noinline, no_icf)) void location_##name(const uint64_t *a)           \
	{                                                                                          \
		DTRACE_PROBE9(provider, name, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7],      \
			      a[8]);                                                               \
	}
#include "../../bpf/wire/wire_probe.def"

bool fake_fire_location(const char *name, const uint64_t a[FAKE_HOOK_ARGS])
{
#undef LOCATION
#define LOCATION(provider, name) {#name, location_##name},
#define ANY(provider, name, program, purpose) CHOOSE(OWN_##name, LOCATION, ~)(provider, name)
#define SEEN(...)
#define STOCK(...)
#define FUNCTION(...)
#define MOVE(...)
#define HOOK(...)
#define SWITCH(...)
	static const struct {
		const char *name;
		void (*fire)(const uint64_t *a);
	} locations[] = {
#include "../../bpf/wire/wire_probe.def"
	};

	for (size_t i = 0; i < sizeof(locations) / sizeof(*locations); i++)
		if (!strcmp(name, locations[i].name)) {
			locations[i].fire(a);
			return true;
		}
	return false;
}

__attribute__((noipa)) void fake_try_spin(int n)
{
	for (volatile int i = 0; i < n; i++)
		;
}
