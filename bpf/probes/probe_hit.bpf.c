/* Any probe of the JVM or of a mark library is hit: runs its handler. */
#include "bpf/lib/probe.bpf.h"

KERNEL_CAST()

/* What the target's monitors have is ids of threads: virtual ones may unmount. */
const volatile __u32 may_be_unmounted = 0;

#define DECLARE(name) extern __hidden int probe_##name(struct pt_regs *ctx, __u32 spec);
#define ANY(provider, name, handler, purpose) DECLARE(handler)
#define SEEN(name, handler, purpose) DECLARE(handler)
#define STOCK SEEN
#define FUNCTION SEEN
#define MOVE SEEN
#define HOOK SEEN
#define SWITCH(name, handler, purpose, gate) DECLARE(handler)
#include "bpf/wire/wire_probe.def"
DECLARE(mark_begin)
DECLARE(mark_end)

/* condition is made of constants: the verifier does not see what is not. */
#define RUN(handler, condition)                                                                    \
	case WIRE_PROBE_##handler:                                                                 \
		if (condition)                                                                     \
			probe_##handler(ctx, spec);                                                \
		return 0;

/* A program for each way to record: handlers that it does not name are no part of what is loaded,
 * so that the verifier need not find out that they are never called. */
#define PROGRAM_BEGIN(name)                                                                        \
	SEC("usdt")                                                                                \
	int name(struct pt_regs *ctx)                                                              \
	{                                                                                          \
		__u32 spec = (__u32)bpf_get_attach_cookie(ctx);                                    \
		struct wire_probe_spec *s = bpf_map_lookup_elem(&probe_specs, &spec);              \
                                                                                                   \
		if (!s)                                                                            \
			return 0;                                                                  \
		switch (s->probe) {

#define PROGRAM_END                                                                                \
	RUN(mark_begin, 1)                                                                         \
	RUN(mark_end, 1)                                                                           \
	}                                                                                          \
	return 0;                                                                                  \
	}

#define ANY(provider, name, handler, purpose) RUN(handler, 1)
#define SEEN(name, handler, purpose)
#define STOCK SEEN
#define FUNCTION SEEN
#define MOVE(name, handler, purpose) RUN(handler, virtual_parks_too)
#define HOOK SEEN
#define SWITCH(name, handler, purpose, gate)
PROGRAM_BEGIN(probe_hit_none)
#include "bpf/wire/wire_probe.def"
PROGRAM_END

#define ANY(provider, name, handler, purpose) RUN(handler, 1)
#define SEEN(name, handler, purpose) RUN(handler, 1)
#define STOCK SEEN
#define FUNCTION(name, handler, purpose) RUN(handler, may_be_unmounted)
#define MOVE(name, handler, purpose) RUN(handler, virtual_parks_too)
#define HOOK(name, handler, purpose)
#define SWITCH(name, handler, purpose, gate)
PROGRAM_BEGIN(probe_hit_usdt)
#include "bpf/wire/wire_probe.def"
PROGRAM_END

#define ANY(provider, name, handler, purpose) RUN(handler, 1)
#define SEEN(name, handler, purpose) RUN(handler, !by_switches)
#define STOCK(name, handler, purpose)
#define FUNCTION STOCK
#define MOVE STOCK
#define HOOK(name, handler, purpose) RUN(handler, 1)
#define SWITCH(name, handler, purpose, gate) RUN(handler, 1)
PROGRAM_BEGIN(probe_hit_hooks)
#include "bpf/wire/wire_probe.def"
PROGRAM_END

/* Its being attached is all that is wanted (user/record/kernel/features/uprobe_multi.c). */
SEC("usdt")
int numbered_gate(struct pt_regs *ctx)
{
	return 0;
}
