#include "record/kernel/wanted.h"

#include <stddef.h>

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

#define ANY(provider, name, program, purpose) {provider, name, program, purpose, WANTED_ANY, NULL},
#define STOCK(name, program, purpose) {"hotspot", name, program, purpose, WANTED_STOCK, NULL},
#define HOOK(name, program, purpose) {SPOOR_PROVIDER, name, program, purpose, WANTED_PATCHED, NULL},
#define SWITCH(name, program, purpose, gate)                                                       \
	{SPOOR_PROVIDER, name, program, purpose, WANTED_PATCHED, gate},

const struct wanted_probe wanted_probes[WANTED_PROBES] = {
#include "record/kernel/wanted.def"
};

#define ONE(name) +1
#define NONE(...)
#define COUNT(...) +1
#define ANY NONE
#define STOCK NONE
#define HOOK COUNT
#define SWITCH COUNT
enum {
	HOOKS_WANTED = 0
#include "record/kernel/wanted.def"
};
_Static_assert(HOOKS_WANTED == SPOOR_PROBES(ONE), "all that a patched JVM has");

bool wanted_on(const struct wanted_probe *w, bool patched)
{
	return w->of == WANTED_ANY || (w->of == WANTED_PATCHED) == patched;
}
