/*
 * When is a name the right one?
 *
 * A chain is resolved some milliseconds after its walk, and its code may have been replaced by
 * then. A compiled frame has its compile id, which is never used again: code_compiled() finds the
 * same id in the code cache, or nothing. A Method's address may be used again, after its class was
 * unloaded: BPF counts unloadings before the memory is freed (class_epoch). If the count after the
 * names were read is that of the walk, the addresses were those of the same Methods all the time;
 * if not, the chain's interpreted frames stay without names, and that is counted. Nothing that was
 * read for such a chain may be known for the next one: its Methods may be gone by now, or soon, and
 * the count does not change again when their memory is used for others.
 *
 * A compiled frame's return address must be one by the code's own tables. The first that is none
 * shows that the walk went astray before it: the chain is kept up to there, and marked as broken.
 *
 * Where there is no room for another chain, one goes that no event has named for long, with the
 * frames that no other chain has. BPF does not know: it remembers fewer chains than there
 * is room for here (65,536, the least recently used ones go), so that one that is gone here is one
 * that it sends again. If not, an event that names it has no chain, and that is counted.
 */
#include "record/decode/chains.h"

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "base/tables/store.h"
#include "bpf/wire/wire.h"
#include "bpf/wire/wire_profile.h"
#include "bpf/wire/wire_stack.h"
#include "jvm/code/code.h"
#include "log/format/event.h"
#include "log/write/writer.h"
#include "record/identity/memory.h"

#define SQUEEZES 64 /* chains that may go to make room for one */

struct node_key {
	uint32_t caller, method, bci, line;
	uint32_t frame; /* enum frame_type */
	uint32_t inferred;
};

struct node {
	struct node_key key;
	uint32_t number;
	uint32_t refs;       /* of frames that it has called, and of chains */
	struct node *caller; /* NULL: there is none */
};

struct named_method {
	uint32_t method; /* as in code_method.number */
	uint32_t pad;
};

struct chain {
	uint32_t id; /* BPF's */
	uint32_t pad;
	struct node *node;
};

/* A sample's innermost frame, with its callers. */
struct top_key {
	uint64_t code;
	uint32_t id, kind;
	uint32_t class_epoch;
	uint32_t callers; /* BPF's id; 0: there are none, and result says why */
	uint32_t result;
	uint32_t pad;
};

struct top {
	struct top_key key;
	struct node *node;
};

struct chains {
	struct log_writer *w;
	struct memory *memory; /* NULL: without bound */
	struct code *code;
	const volatile uint32_t *class_epoch;
	uint32_t epoch; /* up to which code_forget() was called */
	struct store *nodes, *methods, *by_id, *tops;
	uint32_t node_count;
	struct node_key *frames; /* of the chain at work, innermost first */
	uint32_t frame_count, frame_capacity;
	struct node_key entry; /* enterSpecial; method 0: it has not been seen yet */
	uint64_t astray, unresolved;
	int err;
};

_Static_assert((int)WIRE_WALK_COMPLETE == (int)WALK_RESULT_COMPLETE &&
		       (int)WIRE_WALK_KNOWN == (int)WALK_RESULT_ALREADY_KNOWN &&
		       (int)WIRE_WALK_NATIVE_UNUSABLE == (int)WALK_RESULT_RULE_UNUSABLE &&
		       (int)WIRE_WALK_TOO_OFTEN == (int)WALK_RESULT_ASTRAY &&
		       (int)WIRE_WALK_IN_HEAP == (int)WALK_RESULT_UNRESOLVED,
	       "walk_result of events.json follows enum wire_walk");
_Static_assert((int)WIRE_STACK_SAMPLE == (int)STACK_SOURCE_SAMPLE,
	       "stack_source of events.json follows enum wire_stack_source");

/* One reference less; it goes with the last one, and so do the callers that only it has needed. */
static void node_release(struct chains *c, struct node *n)
{
	struct node *caller;

	while (n && !--n->refs) {
		caller = n->caller;
		log_forget(c->w, EVENT_STACK, n->number);
		store_remove(c->nodes, n);
		n = caller;
	}
}

static bool forget_chain(void *ctx, void *entry)
{
	struct chains *c = ctx;

	node_release(c, ((struct chain *)entry)->node);
	if (c->memory)
		c->memory->forgotten[MEMORY_CHAIN]++;
	return true;
}

static bool forget_top(void *ctx, void *entry)
{
	node_release(ctx, ((struct top *)entry)->node);
	return true;
}

/* Its definition is written again when it is needed. */
static bool forget_method(void *ctx, void *entry)
{
	struct chains *c = ctx;

	log_forget(c->w, EVENT_METHOD, ((struct named_method *)entry)->method + 1);
	return true;
}

static int stores_new(struct chains *c)
{
	struct store_options o = {.key_bytes = sizeof(struct node_key),
				  .entry_bytes = sizeof(struct node),
				  .budget = c->memory ? &c->memory->part[MEMORY_CHAINS] : NULL,
				  .ctx = c};
	int err = store_new(&o, &c->nodes);

	o.key_bytes = sizeof(uint32_t);
	o.entry_bytes = sizeof(struct named_method);
	o.forget = forget_method;
	if (!err)
		err = store_new(&o, &c->methods);
	o.entry_bytes = sizeof(struct chain);
	o.forget = forget_chain;
	if (!err)
		err = store_new(&o, &c->by_id);
	o.key_bytes = sizeof(struct top_key);
	o.entry_bytes = sizeof(struct top);
	o.forget = forget_top;
	return err ? err : store_new(&o, &c->tops);
}

int chains_new(struct log_writer *w, struct memory *memory, const volatile uint32_t *class_epoch,
	       struct chains **ret)
{
	struct chains *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->w = w;
	c->memory = memory;
	c->class_epoch = class_epoch;
	c->epoch = *class_epoch;
	err = stores_new(c);
	if (err) {
		chains_free(c);
		return err;
	}
	*ret = c;
	return 0;
}

void chains_free(struct chains *c)
{
	if (!c)
		return;
	store_free(c->nodes);
	store_free(c->methods);
	store_free(c->by_id);
	store_free(c->tops);
	free(c->frames);
	free(c);
}

void chains_resolve_by(struct chains *c, struct code *code)
{
	c->code = code;
	if (c->memory)
		code_bound(code, &c->memory->part[MEMORY_METHODS]);
}

int chains_error(const struct chains *c)
{
	return c->err;
}

/* An entry more. NULL: no memory, or no room, though chains and frames were let go. */
static void *entry_add(struct chains *c, struct store *s, const void *key)
{
	void *entry;
	int err = store_add(s, key, &entry);

	for (int i = 0; err == -ENOSPC && i < SQUEEZES; i++) {
		if (store_squeeze(c->tops) && store_squeeze(c->by_id))
			break;
		err = store_add(s, key, &entry);
	}
	if (err == -ENOMEM)
		c->err = err;
	return err ? NULL : entry;
}

/* --- writing ----------------------------------------------------------------------------- */

/* 0: there is no room for it. */
static uint32_t method_number(struct chains *c, const struct code_method *m, uint64_t time_ns)
{
	struct event e = {.id = EVENT_METHOD, .time_ns = time_ns};

	if (store_find(c->methods, &m->number))
		return m->number + 1;
	if (!entry_add(c, c->methods, &m->number)) {
		if (c->memory)
			c->memory->shared[MEMORY_METHOD]++;
		return 0;
	}
	e.v[METHOD_METHOD].u = m->number + 1;
	e.v[METHOD_CLASS_NAME].s = m->class_name;
	e.v[METHOD_NAME].s = m->name;
	e.v[METHOD_SIGNATURE].s = m->signature;
	e.v[METHOD_SOURCE].s = m->source;
	e.v[METHOD_HIDDEN].u = m->hidden;
	log_write(c->w, &e);
	return m->number + 1;
}

/* A frame with its callers; written when it is new. NULL: no memory, or no room. */
static struct node *node_get(struct chains *c, const struct node_key *key, struct node *caller,
			     uint64_t time_ns)
{
	struct event e = {.id = EVENT_STACK, .time_ns = time_ns};
	struct node *n = store_find(c->nodes, key);

	if (n)
		return n;
	if (caller)
		caller->refs++; /* before room is made for this one */
	n = entry_add(c, c->nodes, key);
	if (!n) {
		node_release(c, caller);
		return NULL;
	}
	n->caller = caller;
	n->number = ++c->node_count;
	e.v[STACK_STACK].u = n->number;
	e.v[STACK_CALLER].u = key->caller;
	e.v[STACK_FRAME].u = key->frame;
	e.v[STACK_METHOD].u = key->method;
	e.v[STACK_BCI].u = key->bci;
	e.v[STACK_LINE].u = key->line;
	e.v[STACK_INFERRED].u = key->inferred;
	log_write(c->w, &e);
	return n;
}

/* --- resolving --------------------------------------------------------------------------- */

static void push(struct chains *c, struct node_key key)
{
	if (array_grow(&c->frames, &c->frame_capacity, c->frame_count, sizeof(*c->frames))) {
		c->err = -ENOMEM;
		return;
	}
	c->frames[c->frame_count++] = key;
}

static uint32_t frame_type(enum code_frame_type type)
{
	static const uint8_t types[] = {
		[CODE_FRAME_INTERPRETED] = FRAME_TYPE_INTERPRETED,
		[CODE_FRAME_C1] = FRAME_TYPE_C1,
		[CODE_FRAME_C2] = FRAME_TYPE_C2,
		[CODE_FRAME_INLINED] = FRAME_TYPE_INLINED,
		[CODE_FRAME_NATIVE] = FRAME_TYPE_NATIVE,
	};

	return types[type];
}

/* All frames at one address of the stack; their number, or negative errno. */
static int resolve(struct chains *c, const struct wire_frame *f,
		   struct code_frame ret[CODE_FRAMES_MAX])
{
	int err;

	if (!c->code)
		return -ESTALE;
	if (f->kind == WIRE_FRAME_INTERPRETED) {
		err = code_interpreted(c->code, f->code, f->id, ret);
		return err ? err : 1;
	}
	return code_compiled(c->code, f->code, f->id,
			     f->kind == WIRE_FRAME_COMPILED ? CODE_AT_RETURN
			     : f->kind == WIRE_FRAME_UNLOCK ? CODE_AT_UNLOCK
							    : CODE_AT_ANY,
			     ret);
}

/* Where a virtual thread begins on its carrier's stack (share/runtime/continuationEntry.hpp) is
 * enterSpecial: what is below are the carrier's own frames. The callers are in the heap, up to
 * enter, which is only called by enterSpecial. */
static bool is_entry(const struct code_method *m, const char *name)
{
	return !strcmp(m->name, name) && !strcmp(m->class_name, "jdk.internal.vm.Continuation");
}

enum frames_end {
	FRAMES_GO_ON,
	FRAMES_ASTRAY, /* the walk has gone astray here */
	FRAMES_ENTRY,  /* of a virtual thread */
	FRAMES_ENTER,  /* likewise, but for its outermost frame */
};

/* class_epoch: at the walk. */
static enum frames_end frames_add(struct chains *c, const struct wire_frame *f,
				  uint32_t class_epoch, uint64_t time_ns, bool *unresolved)
{
	struct code_frame frames[CODE_FRAMES_MAX];
	bool interpreted = f->kind == WIRE_FRAME_INTERPRETED;
	int n = interpreted && *c->class_epoch != class_epoch ? -ESTALE : resolve(c, f, frames);

	if (n == -ENOMEM)
		c->err = n;
	if (n == -ENOSPC && c->memory)
		c->memory->shared[MEMORY_METHOD]++;
	/* A Method that has become something else by now says -EPROTO too. */
	if (n < 0 && (n != -EPROTO || interpreted))
		n = 0;
	if (n < 0)
		return FRAMES_ASTRAY;
	if (n && interpreted && *c->class_epoch != class_epoch)
		n = 0;
	for (int i = 0; i < n; i++)
		push(c, (struct node_key){
				.method = method_number(c, frames[i].method, time_ns),
				.bci = frames[i].bci,
				.line = frames[i].line,
				.frame = frame_type(frames[i].type),
				.inferred = frames[i].inferred,
			});
	if (!n) {
		push(c, (struct node_key){.frame = FRAME_TYPE_UNRESOLVED});
		*unresolved = true;
	}
	if (n == 1 && is_entry(frames[0].method, "enterSpecial")) {
		c->entry = c->frames[c->frame_count - 1];
		return FRAMES_ENTRY;
	}
	return n && is_entry(frames[n - 1].method, "enter") ? FRAMES_ENTER : FRAMES_GO_ON;
}

/* A chain that was read in the heap has not the frame that is always on the carrier's stack. */
static void entry_add_frame(struct chains *c)
{
	uint32_t method = c->entry.method - 1;

	if (c->entry.method && store_find(c->methods, &method))
		push(c, c->entry);
}

static uint32_t base_frame(uint32_t result)
{
	switch (result) {
	case WIRE_WALK_COMPLETE:
	case WIRE_WALK_NO_JAVA_FRAMES:
		return FRAME_TYPE_UNKNOWN;
	case WIRE_WALK_CUT:
		return FRAME_TYPE_CUT;
	case WIRE_WALK_IN_HEAP:
		return FRAME_TYPE_IN_HEAP;
	default:
		return FRAME_TYPE_BROKEN;
	}
}

/* What is in the place of callers that are missing, with one reference; NULL: none are, or there is
 * no room. */
static struct node *base_add(struct chains *c, uint32_t base, uint64_t time_ns)
{
	struct node *n = NULL;

	if (base != FRAME_TYPE_UNKNOWN)
		n = node_get(c, &(struct node_key){.frame = base}, NULL, time_ns);
	if (n)
		n->refs++;
	return n;
}

/* Frames on top of n, whose reference it takes; the innermost one, with one reference. NULL: there
 * is none, or no room for all of them. */
static struct node *nodes_add(struct chains *c, struct node *n, uint64_t time_ns)
{
	struct node *caller;

	for (uint32_t i = c->frame_count; i--;) {
		caller = n;
		c->frames[i].caller = caller ? caller->number : 0;
		n = node_get(c, &c->frames[i], caller, time_ns);
		if (n)
			n->refs++;
		node_release(c, caller);
		if (!n)
			return NULL;
	}
	return n;
}

static struct node *chain_nodes(struct chains *c, uint32_t base, uint64_t time_ns)
{
	struct node *n = base_add(c, base, time_ns);

	return n || base == FRAME_TYPE_UNKNOWN ? nodes_add(c, n, time_ns) : NULL;
}

static void chain_keep(struct chains *c, uint32_t id, struct node *n)
{
	struct chain *known = n ? store_find(c->by_id, &id) : NULL;

	if (n && !known)
		known = entry_add(c, c->by_id, &id);
	if (!known) {
		if (c->memory)
			c->memory->shared[MEMORY_CHAIN]++;
		node_release(c, n);
		return;
	}
	node_release(c, known->node);
	known->node = n;
}

/* With a reference more, before room is made for names; NULL: there are none, or they are not known
 * any more. */
static struct node *rest_of(struct chains *c, const struct wire_stack *r)
{
	const struct chain *rest = r->rest ? store_find(c->by_id, &r->rest) : NULL;

	if (rest)
		rest->node->refs++;
	else if (r->rest && c->memory)
		c->memory->shared[MEMORY_CHAIN]++;
	return rest ? rest->node : NULL;
}

bool chains_add(struct chains *c, const struct wire_stack *r, size_t size)
{
	uint32_t base, epoch = *c->class_epoch;
	enum frames_end end = FRAMES_GO_ON;
	bool unresolved = false;
	struct node *rest;

	if (size < offsetof(struct wire_stack, frames) || r->count > WIRE_FRAMES_MAX ||
	    (size - offsetof(struct wire_stack, frames)) / sizeof(*r->frames) < r->count)
		return false;
	if (epoch != c->epoch && c->code)
		code_forget(c->code);
	c->epoch = epoch;
	rest = rest_of(c, r);
	base = r->rest && !rest ? (uint32_t)FRAME_TYPE_BROKEN : base_frame(r->result);
	c->frame_count = 0;
	for (uint32_t i = 0; i < r->count && (end == FRAMES_GO_ON || end == FRAMES_ENTER); i++)
		end = frames_add(c, &r->frames[i], r->class_epoch, r->head.time_ns, &unresolved);
	if (end == FRAMES_ASTRAY) {
		c->astray++;
		base = FRAME_TYPE_BROKEN;
	} else if (end == FRAMES_ENTRY) {
		base = FRAME_TYPE_UNKNOWN;
	}
	if (rest && (end == FRAMES_ASTRAY || end == FRAMES_ENTRY)) {
		node_release(c, rest);
		rest = NULL;
	}
	if (end == FRAMES_ENTER && r->result == WIRE_WALK_COMPLETE && !rest)
		entry_add_frame(c);
	if (*c->class_epoch != r->class_epoch && c->code)
		code_forget(c->code);
	c->unresolved += unresolved;
	if (c->err)
		node_release(c, rest);
	else if (rest)
		chain_keep(c, r->id, nodes_add(c, rest, r->head.time_ns));
	else if (c->frame_count || base != FRAME_TYPE_UNKNOWN)
		chain_keep(c, r->id, chain_nodes(c, base, r->head.time_ns));
	return true;
}

/* A sample's: a frame on top of the callers, of which nothing is missing without a base. */
static struct node *top_nodes(struct chains *c, const struct top_key *key,
			      const struct chain *callers, uint64_t time_ns)
{
	struct wire_frame f = {.code = key->code, .id = key->id, .kind = key->kind};
	struct node *n = callers ? callers->node : NULL;
	enum frames_end end;
	bool unresolved = false;

	if (n)
		n->refs++; /* before room is made for names */
	if (*c->class_epoch != c->epoch && c->code)
		code_forget(c->code);
	c->epoch = *c->class_epoch;
	c->frame_count = 0;
	end = frames_add(c, &f, key->class_epoch, time_ns, &unresolved);
	if (*c->class_epoch != key->class_epoch && c->code)
		code_forget(c->code);
	c->unresolved += unresolved;
	c->astray += end == FRAMES_ASTRAY;
	if (n)
		return nodes_add(c, n, time_ns);
	return chain_nodes(
		c, end == FRAMES_ASTRAY ? (uint32_t)FRAME_TYPE_BROKEN : base_frame(key->result),
		time_ns);
}

uint32_t chains_sampled(struct chains *c, const struct wire_run_sample *r)
{
	const struct chain *callers = r->stack ? store_find(c->by_id, &r->stack) : NULL;
	struct top_key key = {.code = r->top.code,
			      .id = r->top.id,
			      .kind = r->top.kind,
			      .class_epoch = r->class_epoch,
			      .callers = r->stack,
			      .result = r->stack ? 0 : r->result};
	struct node *n;
	struct top *t;

	if (!r->top.code || (r->stack && !callers))
		return chains_number(c, r->stack);
	t = store_find(c->tops, &key);
	if (t)
		return t->node->number;
	n = top_nodes(c, &key, callers, r->head.time_ns);
	if (!n)
		return 0;
	t = entry_add(c, c->tops, &key);
	if (!t) {
		node_release(c, n);
		return 0;
	}
	t->node = n;
	return n->number;
}

uint32_t chains_compiling(struct chains *c, const struct wire_run_sample *r)
{
	struct code_frame frame;
	int err;

	if (!r->compiling || !c->code)
		return 0;
	if (*c->class_epoch != c->epoch)
		code_forget(c->code);
	c->epoch = *c->class_epoch;
	if (c->epoch != r->class_epoch)
		return 0;
	err = code_interpreted(c->code, r->compiling, 0, &frame);
	if (err == -ENOMEM)
		c->err = err;
	if (*c->class_epoch != r->class_epoch) {
		code_forget(c->code);
		return 0;
	}
	return err ? 0 : method_number(c, frame.method, r->head.time_ns);
}

uint32_t chains_number(const struct chains *c, uint32_t id)
{
	const struct chain *known = id ? store_find(c->by_id, &id) : NULL;

	if (id && !known && c->memory && c->memory->forgotten[MEMORY_CHAIN])
		c->memory->shared[MEMORY_CHAIN]++;
	return known ? known->node->number : 0;
}

void chains_count(struct chains *c)
{
	if (c->memory && c->code)
		c->memory->forgotten[MEMORY_METHOD] = code_forgotten(c->code);
}

uint64_t chains_bad_return_pc(const struct chains *c)
{
	return c->astray;
}

uint64_t chains_unresolved(const struct chains *c)
{
	return c->unresolved;
}
