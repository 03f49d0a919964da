/* jvm/target/usdt_arg.c: argument strings, as Debian's libjvm 17.0.15 has them, and damaged ones. */
#include <asm/ptrace.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "jvm/target/usdt_arg.h"
#include "tests/unit/alloc_fail.h"

static void reads_registers(void **state)
{
	struct usdt_spec s;

	(void)state;
	assert_int_equal(usdt_spec_parse("-8@%rbx 8@%r13 8@%rdx -4@%eax 1@%dil 2@%r9w", &s), 0);
	assert_int_equal(s.arg_cnt, 6);
	assert_int_equal(s.args[0].arg_type, USDT_ARG_REG);
	assert_int_equal(s.args[0].reg_off, offsetof(struct pt_regs, rbx));
	assert_true(s.args[0].arg_signed);
	assert_int_equal(s.args[0].arg_bitshift, 0);
	assert_int_equal(s.args[1].reg_off, offsetof(struct pt_regs, r13));
	assert_false(s.args[1].arg_signed);
	assert_int_equal(s.args[3].reg_off, offsetof(struct pt_regs, rax));
	assert_int_equal(s.args[3].arg_bitshift, 32);
	assert_int_equal(s.args[4].reg_off, offsetof(struct pt_regs, rdi));
	assert_int_equal(s.args[4].arg_bitshift, 56);
	assert_int_equal(s.args[5].reg_off, offsetof(struct pt_regs, r9));
	assert_int_equal(s.args[5].arg_bitshift, 48);
}

static void reads_memory_and_constants(void **state)
{
	struct usdt_spec s;

	(void)state;
	assert_int_equal(usdt_spec_parse("8@%r13 -4@-60(%rbp) 8@(%rsp) 4@$-7 8@$0x10", &s), 0);
	assert_int_equal(s.arg_cnt, 5);
	assert_int_equal(s.args[1].arg_type, USDT_ARG_REG_DEREF);
	assert_int_equal((int64_t)s.args[1].val_off, -60);
	assert_int_equal(s.args[1].reg_off, offsetof(struct pt_regs, rbp));
	assert_int_equal((int64_t)s.args[2].val_off, 0);
	assert_int_equal(s.args[3].arg_type, USDT_ARG_CONST);
	assert_int_equal((int64_t)s.args[3].val_off, -7);
	assert_int_equal(s.args[4].val_off, 16);
}

static void an_empty_string_has_no_arguments(void **state)
{
	struct usdt_spec s;

	(void)state;
	assert_int_equal(usdt_spec_parse("", &s), 0);
	assert_int_equal(s.arg_cnt, 0);
	assert_int_equal(usdt_spec_parse("   ", &s), 0);
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
		assert_int_equal(usdt_spec_parse(wrong[i], &s), -EPROTO);
	assert_int_equal(usdt_spec_parse("8@(%rdx,%rax,8)", &s), -ENOTSUP);
	assert_int_equal(
		usdt_spec_parse("1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1",
				&s),
		-ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_registers),
		cmocka_unit_test(reads_memory_and_constants),
		cmocka_unit_test(an_empty_string_has_no_arguments),
		cmocka_unit_test(refuses_what_it_cannot_read),
	};

	return cmocka_run_group_tests_name("usdt_arg", tests, NULL, NULL);
}
