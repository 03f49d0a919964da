#include "record/decode/native_chain.h"

#include <linux/types.h>

#include "bpf/wire/wire_stack.h"

#define CALLERS_MAX 40

/* A word of the stack; false: it has not been copied. */
static bool word_at(const struct native_stack *s, uint64_t addr, uint64_t *ret)
{
	uint64_t at = addr - s->sp;

	if (addr < s->sp || at % 8 || at / 8 >= s->count)
		return false;
	*ret = s->words[at / 8];
	return true;
}

unsigned native_chain_walk(const struct native_chain_options *o, const struct native_stack *s)
{
	uint64_t key = s->key, sp = s->sp, fp = s->fp;
	struct wire_native_rule rule;
	unsigned told = 0;

	while (told < CALLERS_MAX) {
		uint64_t pc = key & ~WIRE_RULE_RETURN, cfa;

		o->find(o->ctx, pc, pc != key, &rule);
		if (told && rule.flags & WIRE_RULE_UNUSABLE)
			break;
		o->found(o->ctx, key, &rule);
		told++;
		cfa = rule.flags & WIRE_RULE_CFA_FP ? fp : sp;
		cfa += (uint64_t)(int64_t)rule.cfa_offset;
		/* A return address in a register is the walker's to follow: it has the register. */
		if (rule.flags & (WIRE_RULE_UNUSABLE | WIRE_RULE_KEPT) || cfa <= sp ||
		    (rule.flags & WIRE_RULE_FP_SAVED &&
		     !word_at(s, cfa + (uint64_t)(int64_t)rule.fp_offset, &fp)) ||
		    !word_at(s, cfa + (uint64_t)(int64_t)rule.return_offset, &pc) || !pc ||
		    pc & WIRE_RULE_RETURN)
			break;
		key = pc | WIRE_RULE_RETURN;
		sp = cfa;
	}
	return told;
}

unsigned native_chain_answer(const struct native_chain_options *o, const struct wire_native *n,
			     size_t size)
{
	uint64_t most = (size - offsetof(struct wire_native, words)) / 8;
	struct native_stack s = {.key = n->pc,
				 .sp = n->sp,
				 .fp = n->fp,
				 .words = (const uint64_t *)n->words,
				 .count = n->length};

	if (n->length > WIRE_NATIVE_WORDS || n->length > most)
		s.count = 0;
	return native_chain_walk(o, &s);
}
