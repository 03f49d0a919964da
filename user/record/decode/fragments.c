/*
 * What is decoded, and what that proves
 *
 * A fragment has the registers of an interrupted thread, its frame anchor, and its stack from sp
 * on. The walker (bpf/walk) is the same as in BPF, but reads the stack out of the fragment, and all
 * else (segment maps, headers of compiled code, Methods) out of the target, some milliseconds
 * later: as long as no code and no class has been unloaded that has not changed for what was on the
 * stack. The stack itself is never read there: it has run on.
 *
 * So both walks of a sample see the same words, by two ways: BPF's own read what was there when
 * the thread was interrupted, or took the chain from an earlier walk whose words were the same. Of
 * a chain that BPF has sent 128 bits of hash are kept, over all frames with their positions: two
 * chains are equal if these are.
 *
 * How a smaller fragment would have done is known from the deepest byte that was read: a walk does
 * the same up to its first read beyond the end, with which it fails.
 *
 * Frames of virtual threads that are in the heap may move meanwhile, and are not looked at.
 */
#include "record/decode/fragments.h"

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "base/text/units.h"
#include "bpf/walk/hotspot.bpf.h"
#include "bpf/wire/wire_fragment.h"
#include "bpf/wire/wire_kinds.h"
#include "jvm/target/mem_lines.h"
#include "log/format/event.h"
#include "log/write/writer.h"
#include "record/decode/native_chain.h"

#define SIZES 5 /* 4 to 64 KB */
#define CHAINS_MAX (1u << 18)
#define OWN_CHAINS (1u << 31) /* ids that BPF does not come to */
#define RULES 4096
#define BELOW_SP 65536 /* this is the stack, too */

_Static_assert(WIRE_FRAGMENT_MIN << (SIZES - 1) == WIRE_FRAGMENT_MAX, "all sizes");

struct chain_digest {
	uint64_t hash1, hash2;
	uint32_t count;
	uint32_t known;
};

struct known_rule {
	uint64_t key; /* a pc, with WIRE_RULE_RETURN; 0: there is none */
	struct wire_native_rule rule;
};

struct fragments {
	struct fragments_options o;
	struct hs_host host;
	struct wire_code code;
	struct hs_host_walk walk;
	const struct wire_fragment *record; /* at work */
	uint64_t deepest;                   /* bytes of its stack that were needed */
	struct mem_lines lines;
	uint64_t lines_since; /* what was read is not older */
	struct known_rule rules[RULES];
	struct chain_digest *chains; /* by BPF's id */
	uint32_t chain_capacity;
	uint32_t own_chains;
	uint64_t counts[SIZES][FRAGMENT_RESULT_COUNT], written[SIZES][FRAGMENT_RESULT_COUNT];
	struct wire_run_sample sample;
	uint64_t callers[FRAGMENT_CALLERS_MAX];
	uint32_t caller_count;
	int err;
};

/* --- memory, as the walker sees it ------------------------------------------------------- */

static int read_stack(struct fragments *f, uint64_t addr, void *to, uint32_t size)
{
	const struct wire_fragment *r = f->record;
	uint64_t at = addr - r->sp;

	if (addr < r->sp || size > r->stack_high - addr)
		return -EFAULT;
	if (at + size > f->deepest)
		f->deepest = at + size;
	if (at > r->length || size > r->length - at)
		return -EFAULT;
	memcpy(to, r->bytes + at, size);
	return 0;
}

static int read_any(void *ctx, __u64 addr, void *to, __u32 size)
{
	struct fragments *f = ctx;
	const struct wire_fragment *r = f->record;
	uint64_t low = r->sp > BELOW_SP ? r->sp - BELOW_SP : 0;
	uint64_t anchor = addr - (r->java_thread + f->code.thread_anchor);

	if (anchor < sizeof(r->anchor) && size <= sizeof(r->anchor) - anchor) {
		memcpy(to, (const char *)r->anchor + anchor, size);
		return 0;
	}
	if (addr >= low && addr < r->stack_high)
		return read_stack(f, addr, to, size);
	return mem_lines_read(&f->lines, f->o.mem, addr, to, size);
}

static int rule_find(void *ctx, __u64 pc, int is_return, struct wire_native_rule *ret)
{
	struct fragments *f = ctx;
	uint64_t key = pc | (is_return ? WIRE_RULE_RETURN : 0);
	struct known_rule *known = &f->rules[(key * 0x9e3779b97f4a7c15ull >> 32) % RULES];

	if (known->key != key || !key || known->rule.flags & WIRE_RULE_ASKED) {
		f->o.native_rule(f->o.ctx, pc, is_return, &known->rule);
		known->key = key;
	}
	*ret = known->rule;
	return 0;
}

int fragments_new(const struct fragments_options *o, struct fragments **ret)
{
	struct fragments *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->o = *o;
	f->host = (struct hs_host){
		.code = &f->code, .read = read_any, .native_rule = rule_find, .ctx = f};
	f->walk.host = &f->host;
	*ret = f;
	return 0;
}

void fragments_free(struct fragments *f)
{
	if (!f)
		return;
	free(f->chains);
	free(f);
}

int fragments_error(const struct fragments *f)
{
	return f->err;
}

/* --- what BPF has found ------------------------------------------------------------------ */

void fragments_chain(struct fragments *f, const struct wire_stack *r, size_t size)
{
	static const size_t head = offsetof(struct wire_stack, frames);
	struct hs_walk *w = &f->walk.walk;
	int err;

	if (size < head || r->count > WIRE_FRAMES_MAX ||
	    (size - head) / sizeof(*r->frames) < r->count || r->id >= CHAINS_MAX)
		return;
	err = array_grow(&f->chains, &f->chain_capacity, r->id, sizeof(*f->chains));
	if (err) {
		f->err = err;
		return;
	}
	w->stack.count = 0;
	w->hash1 = 0;
	w->hash2 = 0;
	for (uint32_t i = 0; i < r->count; i++)
		hs_push(w, r->frames[i].code, r->frames[i].id, r->frames[i].kind);
	f->chains[r->id] = (struct chain_digest){w->hash1, w->hash2, r->count, 1};
}

static const struct chain_digest *chain_find(const struct fragments *f, uint32_t id)
{
	return id < f->chain_capacity && f->chains[id].known ? &f->chains[id] : NULL;
}

static bool is_sound(const void *record, size_t size)
{
	const struct wire_fragment *r = record;

	return size >= sizeof(*r) && r->length <= size - sizeof(*r);
}

bool fragments_knows_chain(const struct fragments *f, const void *record, size_t size)
{
	const struct wire_fragment *r = record;

	return !is_sound(record, size) || !r->sample.stack || r->sample.stack >= CHAINS_MAX ||
	       chain_find(f, r->sample.stack);
}

/* --- decoding ---------------------------------------------------------------------------- */

static void decode(struct fragments *f, const struct wire_fragment *r)
{
	const struct hs_start start = {.pc = r->pc,
				       .sp = r->sp,
				       .fp = r->fp,
				       .bcp = r->bcp,
				       .method = r->method,
				       .link = r->link,
				       .java_thread = r->java_thread,
				       .stack_high = r->stack_high,
				       .split = 1};

	/* What was read before this sample was taken may have been something else then. */
	if (r->sample.head.time_ns >= f->lines_since || f->lines.count > MEM_LINES_MAX / 2) {
		mem_lines_forget(&f->lines);
		f->lines_since = clock_mono_ns();
	}
	f->record = r;
	f->deepest = 0;
	hs_walk_host(&f->walk, &start);
	f->record = NULL;
}

static bool is_whole(uint32_t result)
{
	return result == WIRE_WALK_COMPLETE || result == WIRE_WALK_CUT;
}

/* Nothing can be compared. */
static bool is_none(uint32_t result)
{
	return result == WIRE_WALK_NO_JAVA_FRAMES || result == WIRE_WALK_NO_JAVA_THREAD ||
	       result == WIRE_WALK_IN_HEAP;
}

static enum fragment_result compare(const struct fragments *f, const struct wire_run_sample *s)
{
	static const struct chain_digest none;
	const struct hs_walk *w = &f->walk.walk;
	const struct chain_digest *d = s->stack ? chain_find(f, s->stack) : &none;
	bool same;

	/* Without an id the chain has no frames, or could not be sent. */
	if (!d || (!s->stack && w->stack.count))
		return FRAGMENT_RESULT_NOT_COMPARED;
	same = s->result == w->stack.result && s->top.code == w->top.code &&
	       (!w->top.code || (s->top.id == w->top.id && s->top.kind == w->top.kind)) &&
	       d->count == w->stack.count && d->hash1 == w->hash1 && d->hash2 == w->hash2;
	return same ? FRAGMENT_RESULT_EQUAL : FRAGMENT_RESULT_DIFFERENT;
}

static bool is_stale(const struct fragments *f, const struct wire_fragment *r)
{
	return *f->o.code_epoch != r->code_epoch || *f->o.class_epoch != r->sample.class_epoch ||
	       f->lines.gone;
}

static enum fragment_result result_of(struct fragments *f, const struct wire_fragment *r)
{
	const struct wire_run_sample *s = &r->sample;
	uint32_t found;

	if (r->unread)
		return FRAGMENT_RESULT_UNREAD;
	/* Compiler threads have a JavaThread, and no Java frames. */
	if (is_none(s->result) || s->compiling)
		return FRAGMENT_RESULT_NOT_COMPARED;
	f->code = *f->o.code;
	f->code.chunk.ready = 0;
	if (!f->code.ready)
		return FRAGMENT_RESULT_BOTH_FAILED;
	decode(f, r);
	found = f->walk.walk.stack.result;
	if (is_stale(f, r))
		return FRAGMENT_RESULT_STALE;
	if (is_whole(found))
		return is_whole(s->result) ? compare(f, s) : FRAGMENT_RESULT_FALLBACK;
	if (found == WIRE_WALK_IN_HEAP || (is_none(found) && !is_whole(s->result)))
		return FRAGMENT_RESULT_NOT_COMPARED;
	if (!is_whole(s->result))
		return FRAGMENT_RESULT_BOTH_FAILED;
	return f->deepest > r->length ? FRAGMENT_RESULT_INCOMPLETE : FRAGMENT_RESULT_FAILED;
}

/* The same if no more than so many bytes had been copied. */
static enum fragment_result result_within(const struct fragments *f, enum fragment_result result,
					  uint64_t bytes)
{
	if (f->deepest <= bytes)
		return result;
	switch (result) {
	case FRAGMENT_RESULT_EQUAL:
	case FRAGMENT_RESULT_DIFFERENT:
	case FRAGMENT_RESULT_FAILED:
		return FRAGMENT_RESULT_INCOMPLETE;
	case FRAGMENT_RESULT_FALLBACK:
		return FRAGMENT_RESULT_BOTH_FAILED;
	default:
		return result;
	}
}

static uint32_t size_at(unsigned i)
{
	return (uint32_t)WIRE_FRAGMENT_MIN << i;
}

static void count(struct fragments *f, enum fragment_result result)
{
	for (unsigned i = 0; i < SIZES && size_at(i) <= f->o.bytes; i++)
		f->counts[i][result_within(f, result, size_at(i))]++;
}

/* The sample gets the chain that its walk in BPF has not found. */
static void give_chain(struct fragments *f, struct fragment_found *ret)
{
	struct wire_run_sample *s = &f->sample;
	struct hs_walk *w = &f->walk.walk;

	s->via = WIRE_VIA_FRAGMENT;
	s->result = w->stack.result;
	s->top = w->top;
	s->stack = 0;
	if (!w->stack.count)
		return;
	s->stack = OWN_CHAINS | f->own_chains++;
	w->stack.head = (struct wire_head){
		.kind = WIRE_STACK, .tid = s->head.tid, .time_ns = s->head.time_ns};
	w->stack.id = s->stack;
	w->stack.class_epoch = s->class_epoch;
	ret->chain = &w->stack;
	ret->chain_size = offsetof(struct wire_stack, frames) +
			  w->stack.count * sizeof(struct wire_frame);
}

/* --- native callers ---------------------------------------------------------------------- */

static void caller_rule(void *ctx, uint64_t pc, bool is_return, struct wire_native_rule *ret)
{
	rule_find(ctx, pc, is_return, ret);
}

static void caller_add(struct fragments *f, uint64_t pc)
{
	if (f->caller_count < FRAGMENT_CALLERS_MAX)
		f->callers[f->caller_count++] = pc;
}

/* A return address may be the first of the next function. */
static void caller_found(void *ctx, uint64_t key, const struct wire_native_rule *rule)
{
	(void)rule;
	caller_add(ctx, key & WIRE_RULE_RETURN ? (key & ~WIRE_RULE_RETURN) - 1 : key);
}

/* Those of what was interrupted in the kernel; the interrupt and the sampling are before it. */
static void find_in_kernel(struct fragments *f, const struct wire_fragment *r)
{
	bool found = false;

	for (uint32_t i = 0; i < r->kernel_count && i < WIRE_KERNEL_FRAMES; i++) {
		if (found)
			caller_add(f, r->kernel[i] - 1);
		found |= r->kernel[i] == r->sample.pc;
	}
}

/* Of native code the first one found is what was interrupted. */
static void find_callers(struct fragments *f, const struct wire_fragment *r,
			 struct fragment_found *ret)
{
	const struct native_chain_options o = {caller_rule, caller_found, f};
	const struct native_stack s = {.key = r->pc & ~WIRE_RULE_RETURN,
				       .sp = r->sp,
				       .fp = r->fp,
				       .words = (const uint64_t *)(const void *)r->bytes,
				       .count = r->length / 8};
	uint32_t mode = r->sample.mode, own;

	f->caller_count = 0;
	if (!f->o.callers || mode == WIRE_MODE_JAVA || mode == WIRE_MODE_UNKNOWN)
		return;
	find_in_kernel(f, r);
	if (!r->unread)
		native_chain_walk(&o, &s);
	own = mode == WIRE_MODE_KERNEL ? 0 : 1;
	if (f->caller_count <= own)
		return;
	ret->callers = f->callers + own;
	ret->caller_count = f->caller_count - own;
}

void fragments_decode(struct fragments *f, const void *record, size_t size,
		      struct fragment_found *ret)
{
	const struct wire_fragment *r = record;
	bool sound = is_sound(record, size);
	enum fragment_result result;

	f->deepest = 0;
	result = sound ? result_of(f, r) : FRAGMENT_RESULT_UNREAD;
	count(f, result);
	*ret = (struct fragment_found){.result = result};
	if (!sound || !r->own)
		return;
	f->sample = r->sample;
	ret->sample = &f->sample;
	find_callers(f, r, ret);
	if (result == FRAGMENT_RESULT_FALLBACK)
		give_chain(f, ret);
}

void fragments_write(struct fragments *f, uint64_t lost, struct log_writer *w)
{
	for (unsigned i = 0; i < SIZES && size_at(i) <= f->o.bytes; i++) {
		f->counts[i][FRAGMENT_RESULT_LOST] = lost;
		for (unsigned k = 0; k < FRAGMENT_RESULT_COUNT; k++) {
			struct event e = {.id = EVENT_FRAGMENT_STATS, .time_ns = clock_mono_ns()};

			if (f->counts[i][k] == f->written[i][k])
				continue;
			f->written[i][k] = f->counts[i][k];
			e.v[FRAGMENT_STATS_BYTES].u = size_at(i);
			e.v[FRAGMENT_STATS_RESULT].u = k;
			e.v[FRAGMENT_STATS_COUNT].u = f->counts[i][k];
			log_write(w, &e);
		}
	}
}
