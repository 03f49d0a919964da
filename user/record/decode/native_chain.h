/* record/decode/native_chain.h: BPF's walker asks for the rule at one pc in native code at a time.
 * The callers up to the Java code have rules, too, for which it need not ask then. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire_native;
struct wire_native_rule;

/* Where a thread is, and a copy of its stack from sp on: words of it. */
struct native_stack {
	uint64_t key, sp, fp; /* key: a pc, with WIRE_RULE_RETURN if it is a return address */
	const uint64_t *words;
	size_t count;
};

struct native_chain_options {
	/* As walk_native_rule(); the rule is unusable if pc is not in native code. */
	void (*find)(void *ctx, uint64_t pc, bool is_return, struct wire_native_rule *ret);
	/* key: a pc, with WIRE_RULE_RETURN. */
	void (*found)(void *ctx, uint64_t key, const struct wire_native_rule *rule);
	void *ctx;
};

/*
 * found() is called for the pc, whatever its rule, and for each caller that has one. What is in the
 * copy of the stack may be anything: it is followed at most CALLERS_MAX times. Returns how many
 * there were.
 */
unsigned native_chain_walk(const struct native_chain_options *o, const struct native_stack *s);
/*
 * Answers a record of size bytes: as native_chain_walk(). A rule is true of its pc wherever
 * that pc was found. Returns how many rules were told.
 */
unsigned native_chain_answer(const struct native_chain_options *o, const struct wire_native *n,
			     size_t size);
