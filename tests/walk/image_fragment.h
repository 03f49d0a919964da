/* tests/walk/image_fragment.h: the stack of an image (image.h) as a fragment, and the rest of its memory. */
#pragma once

#include "bpf/wire/wire_fragment.h"
#include "jvm/target/mem.h"
#include "record/decode/fragments.h"
#include "tests/walk/image.h"

static inline int image_mem_read(const struct mem *m, uint64_t addr, void *ret, size_t len)
{
	return image_read((void *)m->image, addr, ret, (uint32_t)len);
}

static inline void image_rule_find(void *ctx, uint64_t pc, bool is_return, struct wire_native_rule *ret)
{
	if (image_native_rule(ctx, pc, is_return, ret))
		*ret = (struct wire_native_rule){.flags = WIRE_RULE_UNUSABLE};
}

/* A walk over the image as BPF does it for a sample: the innermost frame apart. */
static inline void image_walk_sampled(struct image *i, struct hs_walk *ret)
{
	i->start.split = 1;
	image_walk(i, 0, ret);
	i->start.split = 0;
}

/* What of the stack is not in the image is zero. ret has room for `bytes` behind it. */
static inline void image_fragment(struct image *i, uint32_t bytes, struct wire_fragment *ret)
{
	const struct hs_start *s = &i->start;
	uint64_t stack = s->sp < s->stack_high ? s->stack_high - s->sp : 0;

	memset(ret, 0, sizeof(*ret) + bytes);
	i->fail_at = 0;
	ret->pc = s->pc;
	ret->sp = s->sp;
	ret->fp = s->fp;
	ret->bcp = s->bcp;
	ret->method = s->method;
	ret->link = s->link;
	ret->java_thread = s->java_thread;
	ret->stack_high = s->stack_high;
	ret->length = stack < bytes ? (uint32_t)stack : bytes;
	for (uint32_t n = 0; n < WIRE_ANCHOR_WORDS; n++)
		image_read(i, s->java_thread + i->code.thread_anchor + 8 * (uint64_t)n, &ret->anchor[n], 8);
	for (uint32_t p = 0; p < i->piece_count; p++) {
		const struct image_piece *piece = &i->pieces[p];
		uint64_t low = piece->addr > s->sp ? piece->addr : s->sp, high = piece->addr + piece->size;

		if (high > s->sp + ret->length)
			high = s->sp + ret->length;
		if (low < high)
			memcpy(ret->bytes + (low - s->sp), piece->bytes + (low - piece->addr), high - low);
	}
}

/* The result of the walk in BPF, and of its chain the callers; 0: there are none. */
static inline void image_sample(const struct hs_walk *w, uint32_t stack, struct wire_run_sample *ret)
{
	ret->head = (struct wire_head){.kind = WIRE_RUN_SAMPLE, .tid = 7, .time_ns = 1};
	ret->result = w->stack.result;
	ret->via = w->via;
	ret->top = w->top;
	ret->stack = w->stack.count ? stack : 0;
}
