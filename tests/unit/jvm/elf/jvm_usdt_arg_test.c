/* jvm/elf/usdt_arg.c: argument strings, as Debian's libjvm 17.0.15 has them, and damaged ones. */
#if defined(__x86_64__)
#include <asm/ptrace.h>
#endif
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__aarch64__)
#include <sys/user.h>
#endif

#include <cmocka.h>

#include "base/arch/arch.h"
#include "jvm/elf/usdt_arg.h"
#include "tests/unit/alloc_fail.h"

/* Of x86-64, wherever the test runs. */
static int parse_x86(const char *text, struct usdt_spec *ret)
{
	return usdt_spec_parse_of(&arch_x86_64, text, ret);
}

static int parse_arm64(const char *text, struct usdt_spec *ret)
{
	return usdt_spec_parse_of(&arch_arm64, text, ret);
}

/* Offsets of struct pt_regs, in words. */
enum { RBP = 4, RBX = 5, R13 = 2, R9 = 8, RAX = 10, RDI = 14 };

static void reads_registers(void **state)
{
	struct usdt_spec s;

	(void)state;
	assert_int_equal(parse_x86("-8@%rbx 8@%r13 8@%rdx -4@%eax 1@%dil 2@%r9w", &s), 0);
	assert_int_equal(s.arg_cnt, 6);
	assert_int_equal(s.args[0].arg_type, USDT_ARG_REG);
	assert_int_equal(s.args[0].reg_off, RBX * 8);
	assert_true(s.args[0].arg_signed);
	assert_int_equal(s.args[0].arg_bitshift, 0);
	assert_int_equal(s.args[1].reg_off, R13 * 8);
	assert_false(s.args[1].arg_signed);
	assert_int_equal(s.args[3].reg_off, RAX * 8);
	assert_int_equal(s.args[3].arg_bitshift, 32);
	assert_int_equal(s.args[4].reg_off, RDI * 8);
	assert_int_equal(s.args[4].arg_bitshift, 56);
	assert_int_equal(s.args[5].reg_off, R9 * 8);
	assert_int_equal(s.args[5].arg_bitshift, 48);
}

static void reads_memory_and_constants(void **state)
{
	struct usdt_spec s;

	(void)state;
	assert_int_equal(parse_x86("8@%r13 -4@-60(%rbp) 8@(%rsp) 4@$-7 8@$0x10", &s), 0);
	assert_int_equal(s.arg_cnt, 5);
	assert_int_equal(s.args[1].arg_type, USDT_ARG_REG_DEREF);
	assert_int_equal((int64_t)s.args[1].val_off, -60);
	assert_int_equal(s.args[1].reg_off, RBP * 8);
	assert_int_equal((int64_t)s.args[2].val_off, 0);
	assert_int_equal(s.args[3].arg_type, USDT_ARG_CONST);
	assert_int_equal((int64_t)s.args[3].val_off, -7);
	assert_int_equal(s.args[4].val_off, 16);
}

static void an_empty_string_has_no_arguments(void **state)
{
	struct usdt_spec s;

	(void)state;
	assert_int_equal(parse_x86("", &s), 0);
	assert_int_equal(s.arg_cnt, 0);
	assert_int_equal(parse_x86("   ", &s), 0);
}

static void refuses_what_it_cannot_read(void **state)
{
	static const char *const wrong[] = {
		"8",      "8@",      "8@%",          "8@%foo",
		"3@%rax", "8@$",     "8@%rax8@%rbx", "@%rax",
		"8@4",    "8@4(",    "8@4(%rax",     "8@99999999999999999999(%rax)",
		"x@%rax", "8@%rip4", "-@%rax",     "-9223372036854775808@%rax",
		"0@%rax", "16@%rax", "-16@%rax"};
	struct usdt_spec s;

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(parse_x86(wrong[i], &s), -EPROTO);
	assert_int_equal(parse_x86("8@(%rdx,%rax,8)", &s), -ENOTSUP);
	assert_int_equal(
		parse_x86("1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1", &s),
		-ENOTSUP);
}

static void reads_registers_of_arm64(void **state)
{
	struct usdt_spec s;

	(void)state;
	assert_int_equal(parse_arm64("8@x0 -4@w19 1@w2 8@sp 8@x30 -8@x29 2@wzr", &s), 0);
	assert_int_equal(s.arg_cnt, 7);
	assert_int_equal(s.args[0].arg_type, USDT_ARG_REG);
	assert_int_equal(s.args[0].reg_off, 0);
	assert_false(s.args[0].arg_signed);
	assert_int_equal(s.args[1].reg_off, 19 * 8);
	assert_true(s.args[1].arg_signed);
	assert_int_equal(s.args[1].arg_bitshift, 32);
	assert_int_equal(s.args[2].reg_off, 2 * 8);
	assert_int_equal(s.args[2].arg_bitshift, 56);
	assert_int_equal(s.args[3].reg_off, 31 * 8);
	assert_int_equal(s.args[4].reg_off, 30 * 8);
	assert_int_equal(s.args[5].reg_off, 29 * 8);
	assert_int_equal(s.args[6].arg_type, USDT_ARG_CONST);
	assert_int_equal(s.args[6].val_off, 0);
}

static void reads_memory_and_constants_of_arm64(void **state)
{
	struct usdt_spec s;

	(void)state;
	assert_int_equal(
		parse_arm64("-4@[sp, 12] 8@[x29,-16] 8@[x19] 4@-7 8@0x10 1@1 4@[x1, #8]", &s), 0);
	assert_int_equal(s.arg_cnt, 7);
	assert_int_equal(s.args[0].arg_type, USDT_ARG_REG_DEREF);
	assert_int_equal(s.args[0].reg_off, 31 * 8);
	assert_int_equal(s.args[0].val_off, 12);
	assert_true(s.args[0].arg_signed);
	assert_int_equal(s.args[1].reg_off, 29 * 8);
	assert_int_equal((int64_t)s.args[1].val_off, -16);
	assert_int_equal(s.args[2].reg_off, 19 * 8);
	assert_int_equal(s.args[2].val_off, 0);
	assert_int_equal(s.args[3].arg_type, USDT_ARG_CONST);
	assert_int_equal((int64_t)s.args[3].val_off, -7);
	assert_int_equal(s.args[4].val_off, 16);
	assert_int_equal(s.args[5].arg_type, USDT_ARG_CONST);
	assert_int_equal(s.args[6].val_off, 8);
	assert_int_equal(parse_arm64(arch_arm64.call_arguments, &s), 0);
	assert_int_equal(s.arg_cnt, 2);
	assert_int_equal(parse_arm64(arch_arm64.call_bool, &s), 0);
}

static void refuses_what_it_cannot_read_of_arm64(void **state)
{
	static const char *const wrong[] = {
		"8@",        "8@x31",     "8@x",        "8@%rax", "8@[",    "8@[sp",
		"8@[sp, 8",  "8@[sp,]",   "8@[sp, 8)",  "8@[8]",  "8@q0",   "8@x0,8",
		"8@[x0], 8", "8@x0y",     "3@x0",       "16@x0",  "8@xzr0", "8@(%rsp)",
		"8@[sp 8]",  "8@[sp,,8]", "8@[sp, x33]"};
	static const char *const unreadable[] = {"8@[x0, x1]",          "8@[x0, x1, lsl 3]",
						 "8@[x0, w1, sxtw 3]",  "8@[x0, 8]!",
						 "8@[x0, #:lo12:name]", "8@[x0, :lo12:name]"};
	struct usdt_spec s;

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(parse_arm64(wrong[i], &s), -EPROTO);
	for (unsigned i = 0; i < sizeof(unreadable) / sizeof(*unreadable); i++)
		assert_int_equal(parse_arm64(unreadable[i], &s), -ENOTSUP);
}

/* The tables give offsets as numbers, so that each can be read on any machine. */
static void offsets_are_those_of_the_kernel(void **state)
{
	struct usdt_spec s;

	(void)state;
	assert_int_equal(usdt_spec_parse("", &s), 0);
#if defined(__x86_64__)
#define IS(name)                                                                                   \
	assert_int_equal(arch_register_offset(&arch_x86_64, #name, strlen(#name)),                 \
			 offsetof(struct pt_regs, name))
	IS(r15), IS(r14), IS(r13), IS(r12), IS(rbp), IS(rbx), IS(r11), IS(r10), IS(r9), IS(r8);
	IS(rax), IS(rcx), IS(rdx), IS(rsi), IS(rdi), IS(rip), IS(rsp);
	assert_int_equal(arch_register_offset(&arch_x86_64, "sil", 3),
			 offsetof(struct pt_regs, rsi));
#elif defined(__aarch64__)
	assert_int_equal(arch_register_offset(&arch_arm64, "x30", 3),
			 offsetof(struct user_regs_struct, regs[30]));
	assert_int_equal(arch_register_offset(&arch_arm64, "sp", 2),
			 offsetof(struct user_regs_struct, sp));
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_registers),
		cmocka_unit_test(reads_memory_and_constants),
		cmocka_unit_test(an_empty_string_has_no_arguments),
		cmocka_unit_test(refuses_what_it_cannot_read),
		cmocka_unit_test(reads_registers_of_arm64),
		cmocka_unit_test(reads_memory_and_constants_of_arm64),
		cmocka_unit_test(refuses_what_it_cannot_read_of_arm64),
		cmocka_unit_test(offsets_are_those_of_the_kernel),
	};

	return cmocka_run_group_tests_name("usdt_arg", tests, NULL, NULL);
}
