/* From the ring to the log's events, and what BPF is given of the JVM meanwhile. */
#include "record/session/recorder_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/text/units.h"
#include "bpf/wire/wire_profile.h"
#include "bpf/wire/wire_stack.h"
#include "jvm/code/code.h"
#include "jvm/native.h"
#include "record/decode/chains.h"
#include "record/decode/fragments.h"
#include "record/decode/native_chain.h"
#include "record/decode/translate.h"
#include "record/decode/walk_host.h"
#include "record/kernel/bpf_session.h"
#include "record/session/notes.h"

#define DRAIN_MS 100  /* how long the ring is drained at a time */
#define DRAIN_LOOK 16 /* after so many records it is looked whether they are over */

int recorder_fail(char why[RECORDER_WHY_MAX], int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, RECORDER_WHY_MAX, format, ap);
	va_end(ap);
	return err;
}

typedef int (*rule_source)(struct native *n, uint64_t pc, bool is_return,
			   struct wire_native_rule *ret);

static void ask_rule(struct recorder *r, rule_source source, uint64_t pc, bool is_return,
		     struct wire_native_rule *ret)
{
	int err;

	*ret = (struct wire_native_rule){.flags = WIRE_RULE_UNUSABLE};
	if (!r->native && native_new(r->j, &r->native))
		return;
	err = source(r->native, pc, is_return, ret);
	if (err == -ETIME || err == -ELIBBAD || err == -ECHILD)
		notes_write(r->w, NOTE_LEVEL_WARNING,
			    "the unwind tables of one of the JVM's libraries could not be parsed: "
			    "call chains that begin in it are missing");
}

/* How to get from a pc in native code to its caller. */
static void find_rule(void *ctx, uint64_t pc, bool is_return, struct wire_native_rule *ret)
{
	ask_rule(ctx, walk_native_rule, pc, is_return, ret);
}

static void find_rule_any(void *ctx, uint64_t pc, bool is_return, struct wire_native_rule *ret)
{
	ask_rule(ctx, walk_native_rule_any, pc, is_return, ret);
}

static void set_rule(void *ctx, uint64_t key, const struct wire_native_rule *rule)
{
	const struct recorder *r = ctx;

	bpf_session_set_native_rule(r->p, key, rule);
}

/* BPF asks; once for each. */
static void answer_rule(struct recorder *r, const struct wire_native *n, size_t size)
{
	const struct native_chain_options o = {find_rule, set_rule, r};

	native_chain_answer(&o, n, size);
}

int recorder_fragments_new(struct recorder *r, uint32_t bytes, bool callers)
{
	const struct fragment_ring *ring = bpf_session_fragments(r->p);
	const struct fragments_options o = {.code = fragment_ring_code(ring),
					    .mem = jvm_mem(r->j),
					    .native_rule =
						    callers ? find_rule_any : find_rule,
					    .ctx = r,
					    .code_epoch = fragment_ring_code_epoch(ring),
					    .class_epoch = fragment_ring_class_epoch(ring),
					    .bytes = bytes,
					    .callers = callers};

	return fragments_new(&o, &r->fragments);
}

/* A chain is sent before the first sample that names it, but in the other ring. */
int recorder_on_fragment(void *ctx, void *data, size_t size)
{
	struct fragment_found found;
	struct recorder *r = ctx;

	if (!fragments_knows_chain(r->fragments, data, size))
		bpf_session_consume(r->p);
	fragments_decode(r->fragments, data, size, &found);
	if (found.chain)
		translate_record(r->t, found.chain, found.chain_size);
	if (found.sample)
		translate_sample(r->t, found.sample, found.callers, found.caller_count);
	return clock_mono_ns() < r->drain_until ? 0 : -EAGAIN;
}

/*
 * A target that fires its probes as fast as its records are translated has always more of them in
 * the ring. An error ends libbpf's round after this record, and the others stay in the ring, which
 * polls readable.
 */
int recorder_on_record(void *ctx, void *data, size_t size)
{
	const struct wire_head *h = data;
	struct recorder *r = ctx;

	if (size < sizeof(struct wire_native) || h->kind != WIRE_NATIVE) {
		translate_record(r->t, data, size);
		if (r->fragments && size >= sizeof(*h) && h->kind == WIRE_STACK)
			fragments_chain(r->fragments, data, size);
		if (++r->records % DRAIN_LOOK)
			return 0;
	} else if (!bpf_session_detached(r->p)) { /* else nobody walks any more */
		answer_rule(r, data, size);
	}
	return clock_mono_ns() < r->drain_until ? 0 : -EAGAIN;
}

void recorder_drain(struct recorder *r)
{
	r->drain_until =
		bpf_session_detached(r->p) ? UINT64_MAX : clock_mono_ns() + DRAIN_MS * NS_PER_MS;
	bpf_session_consume(r->p);
	if (r->fragments)
		fragment_ring_consume(bpf_session_fragments(r->p));
}

void recorder_refresh_code(struct recorder *r)
{
	const struct code_layout *l;

	if (r->without_stacks)
		return;
	l = jvm_code_layout(r->j, &r->no_stacks);
	if (r->code || !l || jvm_code_refresh(r->j) <= 0 || code_new(jvm_mem(r->j), l, &r->code))
		return;
	if (r->chains)
		chains_resolve_by(r->chains, r->code);
	bpf_session_set_code(r->p);
}

void recorder_refresh(struct recorder *r)
{
	recorder_refresh_code(r);
	if (jvm_layout_refresh(r->j) > 0) {
		bpf_session_set_layout(r->p);
		bpf_session_set_java_threads(r->p);
	}
}
