/* bpf/wire/wire_probe.h: which handler of bpf/probes a probe's hit is for. */
#pragma once

/* Fixed-width types come from vmlinux.h in BPF and from linux/types.h in user space. */

#define ANY(provider, name, handler, purpose) WIRE_PROBE_##handler,
#define SEEN(name, handler, purpose) WIRE_PROBE_##handler,
#define STOCK SEEN
#define FUNCTION SEEN
#define MOVE SEEN
#define HOOK SEEN
#define SWITCH(name, handler, purpose, gate) WIRE_PROBE_##handler,

/* The indices of the rows, and the probes of an application's marks after them. */
enum wire_probe {
#include "bpf/wire/wire_probe.def"
	WIRE_PROBE_ROWS,
	WIRE_PROBE_mark_begin = WIRE_PROBE_ROWS,
	WIRE_PROBE_mark_end,
	WIRE_PROBE_COUNT
};

#define WIRE_PROBE_SPECS 256 /* locations at a time, each with an entry of its own */
#define WIRE_PROBE_ARGS 12

enum wire_probe_arg_type { WIRE_ARG_CONST, WIRE_ARG_REGISTER, WIRE_ARG_MEMORY };

/* One argument of a location: the layout of struct usdt_arg_spec (jvm/elf/usdt_arg.h). */
struct wire_probe_arg {
	__u64 value; /* the constant, or the offset from the register */
	__u32 type;  /* enum wire_probe_arg_type */
	__s16 at;    /* of the register in struct pt_regs */
	__u8 is_signed;
	__u8 shift; /* 64 - bits of the argument */
};

/* A location of a probe: its attachment's cookie is the index of this entry. */
struct wire_probe_spec {
	struct wire_probe_arg args[WIRE_PROBE_ARGS];
	__u64 probe; /* enum wire_probe */
	__s16 count;
};
