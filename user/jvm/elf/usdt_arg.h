/* jvm/elf/usdt_arg.h: argument descriptions of USDT probes ("-4@%eax", "-4@w0"), as the BPF
 * side wants them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arch;

#define USDT_ARGS_MAX 12

/* The layout of struct wire_probe_spec (bpf/wire/wire_probe.h): the BPF side reads it. */
enum usdt_arg_type { USDT_ARG_CONST, USDT_ARG_REG, USDT_ARG_REG_DEREF };

struct usdt_arg_spec {
	uint64_t val_off;  /* the constant, or the offset from the register */
	uint32_t arg_type; /* enum usdt_arg_type */
	int16_t reg_off;   /* of the register in struct pt_regs */
	bool arg_signed;
	char arg_bitshift; /* 64 - bits of the argument */
};

struct usdt_spec {
	struct usdt_arg_spec args[USDT_ARGS_MAX];
	uint64_t usdt_cookie;
	int16_t arg_cnt;
};

/*
 * Reads the argument string of a note, e.g. "-8@%rbx 8@%r13 8@-56(%rbp) 1@$1" of x86-64, "-8@x1
 * 8@[sp, 56] 1@1" of arm64. -EPROTO: it is not one; -ENOTSUP: a form that the BPF side cannot read
 * (an index, an address that is not in a register). ret is then undefined.
 */
int usdt_spec_parse_of(const struct arch *a, const char *text, struct usdt_spec *ret);
/* Of the architecture that this is compiled for. */
int usdt_spec_parse(const char *text, struct usdt_spec *ret);
