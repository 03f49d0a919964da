/* bpf/lib/probe.bpf.h: handlers of probes: PROBE(name, arguments), and how these are found. */
#pragma once

#include "bpf/lib/spoor.bpf.h"

#include "bpf/wire/wire_probe.h"

/*
 * All handlers of a way to record are functions of one program (bpf/probes/probe_hit.bpf.c), which
 * runs the one that the attachment's entry names: the verifier goes once through what they share (a
 * walk of the stack, a monitor, a thread that is not known yet), and not once for each of them. Of
 * the handlers that a recording does not want it sees nothing.
 *
 * libbpf's bpf_usdt_arg() reads the registers by bpf_probe_read_kernel(), which a kernel that is
 * locked down for confidentiality refuses. Here they are loaded: at a uprobe the context is what
 * the thread had when it entered the kernel, so that they are bpf_task_pt_regs(), to whose members
 * the verifier lets a program, but only by their names.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_PROBE_SPECS);
	__type(key, __u32);
	__type(value, struct wire_probe_spec);
} probe_specs __weak SEC(".maps");

static __always_inline __u64 probe_register(__u32 at)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());

	switch (at) {
#define ONE(name)                                                                                  \
	case __builtin_offsetof(struct pt_regs, name):                                             \
		return regs->name;
		USER_REGISTERS(ONE)
#undef ONE
	}
	return 0;
}

/* The n-th argument of the probe that the running thread is at; 0 if there is none, or its memory
 * cannot be read. */
SUBPROGRAM __u64 probe_arg(__u32 spec, __u32 n)
{
	struct wire_probe_spec *s = bpf_map_lookup_elem(&probe_specs, &spec);
	const struct wire_probe_arg *a;
	__u64 v;

	if (!s || n >= WIRE_PROBE_ARGS || (__s32)n >= s->count)
		return 0;
	a = &s->args[n];
	v = a->value;
	if (a->type == WIRE_ARG_REGISTER)
		v = probe_register((__u16)a->at);
	else if (a->type == WIRE_ARG_MEMORY)
		v = read_u64(probe_register((__u16)a->at) + v);
	v <<= a->shift & 63;
	return a->is_signed ? (__u64)((__s64)v >> (a->shift & 63)) : v >> (a->shift & 63);
}

#define PROBE_ARGS0() ctx, spec
#define PROBE_ARGS1(x) PROBE_ARGS0(), probe_arg(spec, 0)
#define PROBE_ARGS2(x, args...) PROBE_ARGS1(args), probe_arg(spec, 1)
#define PROBE_ARGS3(x, args...) PROBE_ARGS2(args), probe_arg(spec, 2)
#define PROBE_ARGS4(x, args...) PROBE_ARGS3(args), probe_arg(spec, 3)
#define PROBE_ARGS5(x, args...) PROBE_ARGS4(args), probe_arg(spec, 4)
#define PROBE_ARGS6(x, args...) PROBE_ARGS5(args), probe_arg(spec, 5)
#define PROBE_ARGS7(x, args...) PROBE_ARGS6(args), probe_arg(spec, 6)
#define PROBE_ARGS8(x, args...) PROBE_ARGS7(args), probe_arg(spec, 7)
#define PROBE_ARGS9(x, args...) PROBE_ARGS8(args), probe_arg(spec, 8)
#define PROBE_ARGS(args...) ___bpf_apply(PROBE_ARGS, ___bpf_narg(args))(args)

/* The handler of a row of wire_probe.def; ctx has the registers, too. Arguments that are needed
 * late are better read late, by probe_arg(spec, N): they need no room on the stack then. Hidden: to
 * the verifier a handler is static, though another file calls it. */
#define PROBE(name, args...)                                                                       \
	static __always_inline int name##_hit(struct pt_regs *ctx, __u32 spec, ##args);            \
	__hidden int probe_##name(struct pt_regs *ctx, __u32 spec)                                 \
	{                                                                                          \
		return name##_hit(PROBE_ARGS(args));                                               \
	}                                                                                          \
	static __always_inline int name##_hit(struct pt_regs *ctx, __u32 spec, ##args)
