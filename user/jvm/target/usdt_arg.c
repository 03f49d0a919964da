#include "jvm/target/usdt_arg.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <asm/ptrace.h> /* struct pt_regs, as the kernel lays it out for user space */

#define REG(field, ...)                                                                            \
	{                                                                                          \
		offsetof(struct pt_regs, field),                                                   \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

static const struct {
	int16_t offset;
	const char *names[4]; /* 64, 32, 16, 8 bits */
} registers[] = {
	REG(rip, "rip", "eip", "", ""),          REG(rax, "rax", "eax", "ax", "al"),
	REG(rbx, "rbx", "ebx", "bx", "bl"),      REG(rcx, "rcx", "ecx", "cx", "cl"),
	REG(rdx, "rdx", "edx", "dx", "dl"),      REG(rsi, "rsi", "esi", "si", "sil"),
	REG(rdi, "rdi", "edi", "di", "dil"),     REG(rbp, "rbp", "ebp", "bp", "bpl"),
	REG(rsp, "rsp", "esp", "sp", "spl"),     REG(r8, "r8", "r8d", "r8w", "r8b"),
	REG(r9, "r9", "r9d", "r9w", "r9b"),      REG(r10, "r10", "r10d", "r10w", "r10b"),
	REG(r11, "r11", "r11d", "r11w", "r11b"), REG(r12, "r12", "r12d", "r12w", "r12b"),
	REG(r13, "r13", "r13d", "r13w", "r13b"), REG(r14, "r14", "r14d", "r14w", "r14b"),
	REG(r15, "r15", "r15d", "r15w", "r15b"),
};

static int register_offset(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(registers) / sizeof(*registers); i++)
		for (size_t k = 0; k < 4; k++)
			if (length && strlen(registers[i].names[k]) == length &&
			    !strncmp(registers[i].names[k], name, length))
				return registers[i].offset;
	return -EPROTO;
}
#else
static int register_offset(const char *name, size_t length)
{
	(void)name;
	(void)length;
	return -ENOTSUP;
}
#endif

/* "%rbx" at *at, which is moved after it. */
static int parse_register(const char **at, int16_t *ret)
{
	const char *name = *at + 1;
	size_t length = 0;
	int offset;

	if (**at != '%')
		return -EPROTO;
	while (isalnum((unsigned char)name[length]))
		length++;
	offset = register_offset(name, length);
	if (offset < 0)
		return offset;
	*at = name + length;
	*ret = (int16_t)offset;
	return 0;
}

static int parse_number(const char **at, int64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoll(*at, &end, 0);
	if (end == *at || errno)
		return -EPROTO;
	*at = end;
	return 0;
}

/* What stands after the @: "%reg", "$const", "off(%reg)", "(%reg)". */
static int parse_place(const char **at, struct usdt_arg_spec *ret)
{
	int64_t value = 0;
	int err;

	if (**at == '%') {
		ret->arg_type = USDT_ARG_REG;
		return parse_register(at, &ret->reg_off);
	}
	if (**at == '$') {
		++*at;
		ret->arg_type = USDT_ARG_CONST;
		err = parse_number(at, &value);
		ret->val_off = (uint64_t)value;
		return err;
	}
	ret->arg_type = USDT_ARG_REG_DEREF;
	if (**at != '(' && (err = parse_number(at, &value)))
		return err;
	ret->val_off = (uint64_t)value;
	if (**at != '(')
		return -EPROTO;
	++*at;
	err = parse_register(at, &ret->reg_off);
	if (err)
		return err;
	if (**at == ',')
		return -ENOTSUP;
	if (**at != ')')
		return -EPROTO;
	++*at;
	return 0;
}

static int parse_one(const char **at, struct usdt_arg_spec *ret)
{
	int64_t size;
	int err = parse_number(at, &size);

	if (err)
		return err;
	if (size < -8 || size > 8 || **at != '@')
		return -EPROTO;
	ret->arg_signed = size < 0;
	size = size < 0 ? -size : size;
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return -EPROTO;
	ret->arg_bitshift = (char)(64 - size * 8);
	++*at;
	return parse_place(at, ret);
}

int usdt_spec_parse(const char *text, struct usdt_spec *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (;;) {
		int err;

		while (isspace((unsigned char)*text))
			text++;
		if (!*text)
			return 0;
		if (ret->arg_cnt == USDT_ARGS_MAX)
			return -ENOTSUP;
		err = parse_one(&text, &ret->args[ret->arg_cnt]);
		if (err)
			return err;
		if (*text && !isspace((unsigned char)*text))
			return -EPROTO;
		ret->arg_cnt++;
	}
}
