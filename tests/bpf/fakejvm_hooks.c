/* The probes of a patched JVM (jvm-hooks/probes.h), as it fires them: 5-byte nops behind semaphores. Without
 * -DFAKE_HOOKS=VERSION there are none of them, and no spoor_hooks: a stock JVM. */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#undef _SDT_NOP
#define _SDT_NOP .nops 5

#include "fakejvm_probes.h"

#include <string.h>

#include "../../jvm-hooks/probes.h"

#ifdef FAKE_HOOKS

typedef uint64_t u;

#define SEMAPHORE(name)                                                                            \
	extern volatile unsigned short spoor_##name##_semaphore;                                   \
	volatile unsigned short spoor_##name##_semaphore __attribute__((section(".probes"), used));
SPOOR_PROBES(SEMAPHORE)

extern const int spoor_hooks __attribute__((visibility("default")));
const int spoor_hooks = FAKE_HOOKS;

/* As in HotSpot: one function per probe, its arguments are the probe's. */
#define LOCATION static __attribute__((noinline, noclone, no_icf)) void

#define HOOK1(name)                                                                                \
	LOCATION name(u a)                                                                         \
	{                                                                                          \
		STAP_PROBE1(spoor, name, a);                                                       \
	}
#define HOOK2(name)                                                                                \
	LOCATION name(u a, u b)                                                                    \
	{                                                                                          \
		STAP_PROBE2(spoor, name, a, b);                                                    \
	}
#define HOOK3(name)                                                                                \
	LOCATION name(u a, u b, u c)                                                               \
	{                                                                                          \
		STAP_PROBE3(spoor, name, a, b, c);                                                 \
	}
#define HOOK4(name)                                                                                \
	LOCATION name(u a, u b, u c, u d)                                                          \
	{                                                                                          \
		STAP_PROBE4(spoor, name, a, b, c, d);                                              \
	}
#define HOOK5(name)                                                                                \
	LOCATION name(u a, u b, u c, u d, u e)                                                     \
	{                                                                                          \
		STAP_PROBE5(spoor, name, a, b, c, d, e);                                           \
	}
#define HOOK6(name)                                                                                \
	LOCATION name(u a, u b, u c, u d, u e, u f)                                                \
	{                                                                                          \
		STAP_PROBE6(spoor, name, a, b, c, d, e, f);                                        \
	}
#define HOOK9(name)                                                                                \
	LOCATION name(u a, u b, u c, u d, u e, u f, u g, u h, u i)                                 \
	{                                                                                          \
		STAP_PROBE9(spoor, name, a, b, c, d, e, f, g, h, i);                               \
	}

HOOK3(monitor__deflate)
HOOK4(monitor__inflate)
HOOK4(monitor__entered)
HOOK9(monitor__fold)
HOOK6(monitor__exit)
HOOK2(monitor__waited)
HOOK4(monitor__notify)
HOOK4(monitor__wait)
HOOK5(monitor__enter)
HOOK4(park__end)
HOOK3(unpark)
HOOK6(park__begin)
HOOK1(gc__end)
HOOK4(gc__phase__end)
HOOK4(gc__phase__begin)
HOOK3(gc__begin)
#ifndef FAKE_HOOKS_PARTIAL /* a JVM whose patches are not complete */
HOOK9(safepoint)
#else
#define safepoint fire_nothing
static void safepoint(u a, ...)
{
	(void)a;
}
#endif

/* A function takes as many of the arguments as it has. */
typedef void fire(u, u, u, u, u, u, u, u, u);

static const struct {
	const char *name;
	fire *fire;
	volatile unsigned short *semaphore;
} hooks[] = {
#define ROW(name) {#name, (fire *)(void (*)(void))name, &spoor_##name##_semaphore},
	SPOOR_PROBES(ROW)};

#define HOOKS (sizeof(hooks) / sizeof(*hooks))

int fake_fire_hook(const char *name, const uint64_t a[FAKE_HOOK_ARGS])
{
	for (size_t i = 0; i < HOOKS; i++) {
		if (strcmp(name, hooks[i].name))
			continue;
		if (!*hooks[i].semaphore)
			return 0;
		hooks[i].fire(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]);
		return 1;
	}
	return -1;
}

int fake_semaphore(size_t i)
{
	return i < HOOKS ? *hooks[i].semaphore : -1;
}

#else

int fake_fire_hook(const char *name, const uint64_t a[FAKE_HOOK_ARGS])
{
	(void)name;
	(void)a;
	return -1;
}

int fake_semaphore(size_t i)
{
	(void)i;
	return -1;
}

#endif
