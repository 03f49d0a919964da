/* record/decode/walk_host.h: what the walker of stacks (bpf/walk) is told of a JVM, in BPF and on
 * the host. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct jvm;
struct native;
struct wire_code;
struct wire_native_rule;

/* Fills in what is known of the JVM's code, but not of chunks, and says last that it is ready. The
 * layout must be known (jvm_code_layout). BPF may be reading it. */
void walk_code_fill(const struct jvm *j, struct wire_code *ret);

/* The rule at a pc in native code; unusable if there is none, and then why, as native_rule(). */
int walk_native_rule(struct native *n, uint64_t pc, bool is_return, struct wire_native_rule *ret);
/* The same in any library: of native_rule_any(). Where that does not know the pc's library yet, the
 * rule is asked for again (WIRE_RULE_ASKED). */
int walk_native_rule_any(struct native *n, uint64_t pc, bool is_return,
			 struct wire_native_rule *ret);
