/* record/decode/native_chain.c: whatever is in the copy of a stack, rules are told of their own pcs only. */
#include <linux/types.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/wire/wire_stack.h"
#include "record/decode/native_chain.h"
#include "tests/unit/alloc_fail.h"

#define LOW 0x700000u
#define HIGH 0x710000u
#define JAVA 0x800000u
#define SP 0x10000u
#define R WIRE_RULE_RETURN

struct told {
	uint64_t key[64];
	unsigned count, asked;
};

/* Of each pc in the library the last digit says by what its frame is found. */
static void find(void *ctx, uint64_t pc, bool is_return, struct wire_native_rule *ret)
{
	struct told *t = ctx;

	t->asked++;
	assert_true(is_return || t->asked == 1);
	*ret = (struct wire_native_rule){.flags = WIRE_RULE_UNUSABLE};
	if (pc < LOW || pc >= HIGH)
		return;
	*ret = (struct wire_native_rule){.cfa_offset = 16, .return_offset = -8};
	if (pc % 16 == 1)
		*ret = (struct wire_native_rule){
			.cfa_offset = 24, .fp_offset = -16, .return_offset = -8, .flags = WIRE_RULE_FP_SAVED};
	else if (pc % 16 == 2)
		*ret = (struct wire_native_rule){.cfa_offset = 16, .return_offset = -8, .flags = WIRE_RULE_CFA_FP};
	else if (pc % 16 == 3)
		ret->cfa_offset = -8;
}

static void found(void *ctx, uint64_t key, const struct wire_native_rule *rule)
{
	struct told *t = ctx;

	assert_true(t->count < sizeof(t->key) / sizeof(*t->key));
	assert_true(!t->count || !(rule->flags & WIRE_RULE_UNUSABLE));
	t->key[t->count++] = key;
}

/* Of a function of its own, so that the compiler does not see that it is less than the struct. */
static __attribute__((noinline)) struct wire_native *room(size_t size)
{
	struct wire_native *n = calloc(1, size);

	assert_non_null(n);
	return n;
}

/* The keys told, where the copy's words are these, in memory that ends with the record. */
static void check(uint64_t pc, uint64_t fp, const uint64_t *words, uint32_t count,
		  const uint64_t *wanted, unsigned wanted_count)
{
	size_t size = offsetof(struct wire_native, words) + count * sizeof(*words);
	struct wire_native *n = room(size);
	struct told t = {0};
	const struct native_chain_options o = {find, found, &t};

	n->pc = pc;
	n->sp = SP;
	n->fp = fp;
	n->length = count;
	memcpy(n->words, words, count * sizeof(*words));
	assert_int_equal(native_chain_answer(&o, n, size), wanted_count);
	assert_int_equal(t.count, wanted_count);
	for (unsigned i = 0; i < wanted_count; i++)
		assert_int_equal(t.key[i], wanted[i]);
	free(n);
}

#define WORDS(...) (const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8
#define KEYS WORDS

static void callers_up_to_java_code(void **state)
{
	(void)state;
	/* By sp; then fp is saved; then by that fp, to Java code. */
	check(LOW + 0x10, 1, WORDS(7, LOW + 0x21, SP + 48, 7, LOW + 0x32, 7, 7, JAVA),
	      KEYS(LOW + 0x10, LOW + 0x21 + R, LOW + 0x32 + R));
}

static void the_one_asked_for_is_always_answered(void **state)
{
	(void)state;
	check(JAVA, 1, WORDS(LOW, LOW), KEYS(JAVA));
	check(LOW + 0x40 + R, 1, WORDS(7), KEYS(LOW + 0x40 + R));
}

static void stacks_that_are_not_sound(void **state)
{
	(void)state;
	/* The frame ends where the copy does not reach; is below itself; is found by a wild fp. */
	check(LOW + 0x10, 1, WORDS(7), KEYS(LOW + 0x10));
	check(LOW + 0x13, 1, WORDS(7, LOW), KEYS(LOW + 0x13));
	check(LOW + 0x12, SP + 1, WORDS(7, LOW, LOW, LOW), KEYS(LOW + 0x12));
	check(LOW + 0x12, UINT64_MAX - 8, WORDS(7, LOW, LOW, LOW), KEYS(LOW + 0x12));
	check(LOW + 0x12, SP - 16, WORDS(7, LOW, LOW, LOW), KEYS(LOW + 0x12));
	check(LOW + 0x10, 1, WORDS(7, R | LOW), KEYS(LOW + 0x10));
	check(LOW + 0x10, 1, WORDS(7, 0), KEYS(LOW + 0x10));
}

static void a_length_beyond_the_record(void **state)
{
	struct wire_native n = {.pc = LOW + 0x10, .sp = SP, .length = WIRE_NATIVE_WORDS + 1};
	struct told t = {0};
	const struct native_chain_options o = {find, found, &t};

	(void)state;
	n.words[1] = LOW + 0x20;
	assert_int_equal(native_chain_answer(&o, &n, sizeof(n)), 1);
	n.length = 3;
	t = (struct told){0};
	assert_int_equal(native_chain_answer(&o, &n, offsetof(struct wire_native, words[2])), 1);
}

static void not_more_than_a_stack_is_deep(void **state)
{
	struct wire_native n = {.pc = LOW, .sp = SP, .length = WIRE_NATIVE_WORDS};
	struct told t = {0};
	const struct native_chain_options o = {find, found, &t};

	(void)state;
	for (unsigned i = 0; i < WIRE_NATIVE_WORDS; i++)
		n.words[i] = LOW + 0x10;
	assert_int_equal(native_chain_answer(&o, &n, sizeof(n)), 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_up_to_java_code),
		cmocka_unit_test(the_one_asked_for_is_always_answered),
		cmocka_unit_test(stacks_that_are_not_sound),
		cmocka_unit_test(a_length_beyond_the_record),
		cmocka_unit_test(not_more_than_a_stack_is_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
