/* jvm/native.c: rules for code of libc and of the vDSO. (libjvm's are tested on real JVMs.) */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arch/arch.h"
#include "base/text/units.h"
#include "jvm/jvm_state.h"
#include "jvm/native.h"
#include "tests/unit/alloc_fail.h"

/* By how much each look at the clock takes it forward, and how far it is by now. */
static uint64_t clock_step_ns, clock_ahead_ns;

int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	int err = __real_clock_gettime(clock, ret);
	uint64_t ns = (uint64_t)ret->tv_nsec + (clock_ahead_ns += clock_step_ns);

	ret->tv_sec += (time_t)(ns / NS_PER_S);
	ret->tv_nsec = (long)(ns % NS_PER_S);
	return err;
}

/* This very process, with nothing in place of libjvm. */
static struct jvm self;

static int begin(void **state)
{
	(void)state;
	memset(&self, 0, sizeof(self));
	self.pid = getpid();
	self.file = -1;
	return parser_new(&self.parser);
}

static int end(void **state)
{
	(void)state;
	parser_free(self.parser);
	return 0;
}

static struct native *make(void)
{
	struct native *n = NULL;

	assert_int_equal(native_new(&self, &n), 0);
	return n;
}

/* At its first instruction a function has nothing on the stack but what the call has put there. */
static void assert_entry(struct native *n, uint64_t pc)
{
	struct unwind_rule r;

	assert_int_equal(native_rule(n, pc, false, &r), 0);
	assert_false(r.cfa_from_fp);
	assert_false(r.fp_saved);
	assert_int_equal(r.cfa_offset, -ARCH_HERE.call_return_at);
	assert_int_equal(r.return_kept, !ARCH_HERE.call_return_at);
}

static uint64_t vdso_entry(void)
{
	/* sh_addr of .text is where the first function begins: found by the first rule there is. */
	struct native *n = make();
	uint64_t base = getauxval(AT_SYSINFO_EHDR), found = 0;
	struct unwind_rule r;

	for (uint64_t at = 0; at < 8192 && !found; at += 16)
		if (!native_rule(n, base + at, false, &r))
			found = base + at;
	native_free(n);
	return found;
}

static void libc_has_rules(void **state)
{
	struct native *n = make();

	(void)state;
	assert_entry(n, (uint64_t)(uintptr_t)getpid);
	native_free(n);
}

static void the_vdso_has_rules(void **state)
{
	struct native *n = make();
	uint64_t entry = vdso_entry();

	(void)state;
	/* Where no walk begins they are not asked for: on arm64's vDSO none was found. */
	if (!getauxval(AT_SYSINFO_EHDR) || ARCH_HERE.walks_last < ARCH_HERE.walks_first)
		skip();
	assert_int_not_equal(entry, 0);
	assert_entry(n, entry);
	native_free(n);
}

static void a_return_address_belongs_to_the_call_before_it(void **state)
{
	struct native *n = make();
	uint64_t entry = (uint64_t)(uintptr_t)getpid;
	struct unwind_rule at, before;

	(void)state;
	assert_int_equal(native_rule(n, entry, false, &at), 0);
	/* What lies before the function is another's, or nobody's. */
	if (!native_rule(n, entry, true, &before))
		assert_int_equal(native_rule(n, entry - 1, false, &at), 0);
	native_free(n);
}

/* Of a library that is none of the named ones; where there is no library, it may be asked for again. */
static void any_library_has_rules(void **state)
{
	struct native *n = make();
	struct unwind_rule named, r;

	(void)state;
	assert_int_equal(native_rule_any(n, (uint64_t)(uintptr_t)_assert_true, false, &r), 0);
	assert_false(r.cfa_from_fp || r.fp_saved);
	assert_int_equal(r.cfa_offset, -ARCH_HERE.call_return_at);
	assert_int_equal(native_rule(n, (uint64_t)(uintptr_t)getpid, false, &named), 0);
	assert_int_equal(native_rule_any(n, (uint64_t)(uintptr_t)getpid, false, &r), 0);
	assert_int_equal(r.cfa_offset, named.cfa_offset);
	assert_int_equal(native_rule_any(n, (uint64_t)(uintptr_t)&r, false, &r), -ENXIO);
	assert_int_equal(native_rule_any(n, 0, true, &r), -ENXIO);
	native_free(n);
}

static void other_code_has_none(void **state)
{
	struct native *n = make();
	struct unwind_rule r;

	(void)state;
	assert_int_equal(native_rule(n, (uint64_t)(uintptr_t)&self, false, &r), -ENOENT);
	assert_int_equal(native_rule(n, 0, false, &r), -ENOENT);
	assert_int_equal(native_rule(n, UINT64_MAX, true, &r), -ENOENT);
	native_free(n);
	native_free(NULL);
}

#define ASKED_MAX 10000

/* Until err, which each of the rules of getpid() is asked for; how many were found. */
static int rules_until(struct native *n, int err, uint64_t step_ns, uint64_t pause_ns)
{
	struct unwind_rule r;
	int found = 0, got = 0;

	clock_step_ns = step_ns;
	while (!got && found < ASKED_MAX) {
		clock_ahead_ns += pause_ns;
		got = native_rule(n, (uint64_t)(uintptr_t)getpid, false, &r);
		found += !got;
	}
	clock_step_ns = 0;
	assert_int_equal(got, err);
	return found;
}

/* None of them was late: 10,000 rules of half a second each held up a recorder for hours. */
static void all_rules_of_a_library_have_a_time(void **state)
{
	uint64_t entry = vdso_entry();
	struct native *n = make();

	(void)state;
	assert_in_range(rules_until(n, -ETIME, 20 * NS_PER_MS, 0), 5, 100);
	assert_int_equal(rules_until(n, -ENOENT, 0, 0), 0);
	if (entry)
		assert_entry(n, entry);
	native_free(n);
}

static void rules_that_are_asked_for_now_and_then_have_more(void **state)
{
	struct native *n = make();

	(void)state;
	assert_int_equal(rules_until(n, 0, NS_PER_MS, NS_PER_S), ASKED_MAX);
	native_free(n);
}

static void memory_may_run_out(void **state)
{
	(void)state;
	for (unsigned long at = 0;; at++) {
		struct native *n = NULL;
		int err;

		alloc_fail_at(at);
		err = native_new(&self, &n);
		if (!alloc_fail_off()) {
			native_free(n);
			return;
		}
		assert_true(err == -ENOMEM || !err); /* without a library's address it does */
		native_free(n);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(libc_has_rules),
		TEST(the_vdso_has_rules),
		TEST(a_return_address_belongs_to_the_call_before_it),
		TEST(any_library_has_rules),
		TEST(other_code_has_none),
		TEST(all_rules_of_a_library_have_a_time),
		TEST(rules_that_are_asked_for_now_and_then_have_more),
		TEST(memory_may_run_out),
	};

	return cmocka_run_group_tests_name("native", tests, NULL, NULL);
}
