/* record/decode/native_chain.h: BPF's walker asks for the rule at one pc in native code at a time.
 * The callers up to the Java code have rules, too, for which it need not ask then. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire_native;
struct wire_native_rule;

struct native_chain_options {
	/* As walk_native_rule(); the rule is unusable if pc is not in native code. */
	void (*find)(void *ctx, uint64_t pc, bool is_return, struct wire_native_rule *ret);
	/* key: a pc, with WIRE_RULE_RETURN. */
	void (*found)(void *ctx, uint64_t key, const struct wire_native_rule *rule);
	void *ctx;
};

/*
 * Answers a record of size bytes: found() is called for the pc that is asked for, whatever its
 * rule, and for each caller that has one. What is in the copy of the stack may be anything: a rule
 * is true of its pc wherever that pc was found. Returns how many rules were told.
 */
unsigned native_chain_answer(const struct native_chain_options *o, const struct wire_native *n,
			     size_t size);
