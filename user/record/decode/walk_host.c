#include "record/decode/walk_host.h"

#include <errno.h>
#include <linux/types.h>

#include "bpf/wire/wire_stack.h"
#include "jvm/jvm.h"
#include "jvm/layout/code_layout.h"
#include "jvm/native.h"

_Static_assert(WIRE_CODE_HEAPS == CODE_HEAPS_MAX, "the same heaps");

#define COPY(type, name, from) ret->name = (type)l->from;

void walk_code_fill(const struct jvm *j, struct wire_code *ret)
{
	const struct code_layout *l = jvm_code_layout(j, NULL);
	uint64_t low, high, bias;

	if (!l)
		return;
	for (uint32_t i = 0; i < l->heap_count; i++)
		ret->heaps[i] =
			(struct wire_code_heap){l->heaps[i].low, l->heaps[i].high,
						l->heaps[i].segmap, l->heaps[i].segment_shift};
	WIRE_CODE_FIELDS(COPY)
	jvm_libjvm_text(j, &low, &high, &bias);
	ret->libjvm_low = low;
	ret->libjvm_high = high;
	__atomic_store_n(&ret->ready, 1, __ATOMIC_RELEASE);
}

static int rule_fill(int err, const struct unwind_rule *rule, struct wire_native_rule *ret)
{
	struct unwind_rule u = err ? (struct unwind_rule){0} : *rule;

	*ret = (struct wire_native_rule){.flags = WIRE_RULE_UNUSABLE};
	if (err || u.fp_offset != (int16_t)u.fp_offset ||
	    u.return_offset != (int16_t)u.return_offset)
		return err;
	ret->cfa_offset = u.cfa_offset;
	ret->fp_offset = (int16_t)u.fp_offset;
	ret->return_offset = (int16_t)u.return_offset;
	ret->flags = (u.cfa_from_fp ? WIRE_RULE_CFA_FP : 0) |
		     (u.fp_saved ? WIRE_RULE_FP_SAVED : 0) | (u.return_kept ? WIRE_RULE_KEPT : 0);
	return 0;
}

int walk_native_rule(struct native *n, uint64_t pc, bool is_return, struct wire_native_rule *ret)
{
	struct unwind_rule u;

	return rule_fill(native_rule(n, pc, is_return, &u), &u, ret);
}

int walk_native_rule_any(struct native *n, uint64_t pc, bool is_return,
			 struct wire_native_rule *ret)
{
	struct unwind_rule u;
	int err = rule_fill(native_rule_any(n, pc, is_return, &u), &u, ret);

	if (err == -ENXIO)
		ret->flags |= WIRE_RULE_ASKED;
	return err;
}
