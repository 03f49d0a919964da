#include "jvm/elf/usdt_arg.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arch/arch.h"

/* A register's name at *at, which is moved after it. */
static int parse_register(const struct arch *a, const char **at, int16_t *ret)
{
	size_t length = 0;
	int offset;

	while (isalnum((unsigned char)(*at)[length]))
		length++;
	offset = arch_register_offset(a, *at, length);
	if (offset < 0)
		return -EPROTO;
	*at += length;
	*ret = (int16_t)offset;
	return 0;
}

/* "%rbx". */
static int parse_percent(const struct arch *a, const char **at, int16_t *ret)
{
	if (**at != '%')
		return -EPROTO;
	++*at;
	return parse_register(a, at, ret);
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

static int parse_constant(const char **at, struct usdt_arg_spec *ret)
{
	int64_t value = 0;
	int err = parse_number(at, &value);

	ret->arg_type = USDT_ARG_CONST;
	ret->val_off = (uint64_t)value;
	return err;
}

/* What stands after the @: "%reg", "$const", "off(%reg)", "(%reg)". */
static int parse_location_x86(const struct arch *a, const char **at, struct usdt_arg_spec *ret)
{
	int64_t value = 0;
	int err;

	if (**at == '%') {
		ret->arg_type = USDT_ARG_REG;
		return parse_percent(a, at, &ret->reg_off);
	}
	if (**at == '$') {
		++*at;
		return parse_constant(at, ret);
	}
	ret->arg_type = USDT_ARG_REG_DEREF;
	if (**at != '(' && (err = parse_number(at, &value)))
		return err;
	ret->val_off = (uint64_t)value;
	if (**at != '(')
		return -EPROTO;
	++*at;
	err = parse_percent(a, at, &ret->reg_off);
	if (err)
		return err;
	if (**at == ',')
		return -ENOTSUP;
	if (**at != ')')
		return -EPROTO;
	++*at;
	return 0;
}

/* The rest of "[reg, off]": nothing, a number, or another register, which the BPF side cannot add.
 */
static int parse_offset(const struct arch *a, const char **at, struct usdt_arg_spec *ret)
{
	int64_t value = 0;
	int16_t other;
	int err;

	if (**at != ',')
		return 0;
	++*at;
	while (**at == ' ')
		++*at;
	if (!parse_register(a, at, &other) || !strncmp(*at, "#:", 2) || **at == ':')
		return -ENOTSUP;
	*at += **at == '#';
	err = parse_number(at, &value);
	ret->val_off = (uint64_t)value;
	return err;
}

/* "reg", "const", "[reg]", "[reg, off]". */
static int parse_location_arm64(const struct arch *a, const char **at, struct usdt_arg_spec *ret)
{
	int err;

	if (!strncmp(*at, "xzr", 3) || !strncmp(*at, "wzr", 3)) {
		ret->arg_type = USDT_ARG_CONST;
		*at += 3;
		return 0;
	}
	if (isalpha((unsigned char)**at)) {
		ret->arg_type = USDT_ARG_REG;
		return parse_register(a, at, &ret->reg_off);
	}
	if (**at != '[') {
		*at += **at == '#';
		return parse_constant(at, ret);
	}
	ret->arg_type = USDT_ARG_REG_DEREF;
	++*at;
	err = parse_register(a, at, &ret->reg_off);
	if (!err)
		err = parse_offset(a, at, ret);
	if (err)
		return err;
	if (**at != ']')
		return -EPROTO;
	++*at;
	return **at == '!' ? -ENOTSUP : 0;
}

static int parse_location(const struct arch *a, const char **at, struct usdt_arg_spec *ret)
{
	return a->arguments == ARCH_ARGUMENTS_ARM64 ? parse_location_arm64(a, at, ret)
						    : parse_location_x86(a, at, ret);
}

static int parse_one(const struct arch *a, const char **at, struct usdt_arg_spec *ret)
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
	return parse_location(a, at, ret);
}

int usdt_spec_parse_of(const struct arch *a, const char *text, struct usdt_spec *ret)
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
		err = parse_one(a, &text, &ret->args[ret->arg_cnt]);
		if (err)
			return err;
		if (*text && !isspace((unsigned char)*text))
			return -EPROTO;
		ret->arg_cnt++;
	}
}

int usdt_spec_parse(const char *text, struct usdt_spec *ret)
{
	return usdt_spec_parse_of(&ARCH_JVM, text, ret);
}
