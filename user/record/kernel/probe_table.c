#include "record/kernel/probe_table.h"

#include <stddef.h>
#include <string.h>

#include "jvm-hooks/probes.h"
#include "jvm/elf/usdt.h"

#define CONTENTION "contended monitors"
#define WAITING "Object.wait and notify"
#define PARKING "parking (java.util.concurrent locks)"
#define COLLECTIONS "garbage collections"
#define POOLS "which collection it was"
#define OPERATIONS "VM operations"
#define SAFEPOINTS "safepoints"
#define THREADS "threads that start or end meanwhile"
#define SLEEPING "Thread.sleep, distinguished from other blocking"
#define CLASSES "classes that are unloaded meanwhile"
#define CODE "compiled code that is unloaded meanwhile (call chains)"
#define INFLATION "monitors that come and go"
#define STORMS "storms of releases of a monitor"
#define VIRTUAL "ends of contentions and waits of virtual threads that unmount"
#define VIRTUAL_PARKING "parking of virtual threads that unmount"
#define PHASES "phases of garbage collections"

#define ANY(provider, name, handler, purpose) {#provider, #name, purpose, PROBE_OF_ANY, NULL},
#define SEEN(name, handler, purpose) {"hotspot", name, purpose, PROBE_OF_SEEN, NULL},
#define STOCK(name, handler, purpose) {"hotspot", name, purpose, PROBE_OF_STOCK, NULL},
#define FUNCTION(name, handler, purpose) {USDT_FUNCTIONS, name, purpose, PROBE_OF_FUNCTION, NULL},
#define MOVE(name, handler, purpose) {USDT_FUNCTIONS, name, purpose, PROBE_OF_MOVE, NULL},
#define HOOK(name, handler, purpose) {SPOOR_PROVIDER, name, purpose, PROBE_OF_PATCHED, NULL},
#define SWITCH(name, handler, purpose, gate)                                                       \
	{SPOOR_PROVIDER, name, purpose, PROBE_OF_PATCHED, gate},

const struct probe_row probe_table[PROBE_COUNT] = {
#include "bpf/wire/wire_probe.def"
};

#define ONE(name) +1
#define NONE(...)
#define COUNT(...) +1
#define ANY NONE
#define SEEN NONE
#define STOCK NONE
#define FUNCTION NONE
#define MOVE NONE
#define HOOK COUNT
#define SWITCH COUNT
enum {
	HOOK_COUNT = 0
#include "bpf/wire/wire_probe.def"
};
_Static_assert(HOOK_COUNT == SPOOR_PROBES(ONE), "all that a patched JVM has");

const char *const probe_set_names[] = {
	[PROBES_AUTO] = "auto",   [PROBES_NONE] = "none",    [PROBES_USDT] = "usdt",
	[PROBES_HOOKS] = "hooks", [PROBES_MONITORS] = "monitors", [PROBES_MONITORS + 1] = NULL,
};

bool probes_hooked(enum probe_set set)
{
	return set == PROBES_HOOKS || set == PROBES_MONITORS;
}

bool probes_by_switches(enum probe_set set)
{
	return set == PROBES_NONE || set == PROBES_MONITORS;
}

bool probe_applies(const struct probe_row *w, enum probe_set set)
{
	switch (w->of) {
	case PROBE_OF_ANY:
		return true;
	case PROBE_OF_SEEN:
		return !probes_by_switches(set);
	case PROBE_OF_STOCK:
	case PROBE_OF_FUNCTION:
		return set == PROBES_USDT;
	case PROBE_OF_MOVE:
		return !probes_hooked(set);
	case PROBE_OF_PATCHED:
		return set == PROBES_HOOKS ||
		       (set == PROBES_MONITORS && strcmp(w->purpose, PARKING) != 0);
	}
	return false;
}
