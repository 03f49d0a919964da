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
 */
#include "probe/chains.h"

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "bpf/wire.h"
#include "bpf/wire_stack.h"
#include "jvm/code.h"
#include "log/event.h"
#include "log/writer.h"

struct node_key {
	uint32_t caller, method, bci, line;
	uint32_t frame; /* enum frame_type */
	uint32_t inferred;
};

struct node {
	struct node_key key;
	uint32_t number;
	UT_hash_handle hh;
};

struct chains {
	struct log_writer *w;
	struct code *code;
	const volatile uint32_t *class_epoch;
	uint32_t epoch; /* up to which code_forget() was called */
	struct node *nodes;
	uint32_t node_count;
	uint8_t *method_told; /* by code_method.number */
	uint32_t methods;
	uint32_t *numbers; /* by BPF's id */
	uint32_t ids;
	struct node_key *frames; /* of the chain at work, innermost first */
	uint32_t frame_count, frame_capacity;
	uint64_t astray, unresolved;
	int err;
};

_Static_assert((int)WIRE_WALK_COMPLETE == (int)WALK_RESULT_COMPLETE &&
		       (int)WIRE_WALK_KNOWN == (int)WALK_RESULT_ALREADY_KNOWN &&
		       (int)WIRE_WALK_NATIVE_UNUSABLE == (int)WALK_RESULT_RULE_UNUSABLE &&
		       (int)WIRE_WALK_COUNT == (int)WALK_RESULT_ASTRAY,
	       "walk_result of events.json follows enum wire_walk");
_Static_assert((int)WIRE_STACK_SAMPLE == (int)STACK_SOURCE_SAMPLE,
	       "stack_source of events.json follows enum wire_stack_source");

int chains_new(struct log_writer *w, const volatile uint32_t *class_epoch, struct chains **ret)
{
	struct chains *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->w = w;
	c->class_epoch = class_epoch;
	c->epoch = *class_epoch;
	*ret = c;
	return 0;
}

void chains_free(struct chains *c)
{
	struct node *n, *next;

	if (!c)
		return;
	HASH_ITER (hh, c->nodes, n, next) {
		HASH_DEL(c->nodes, n);
		free(n);
	}
	free(c->method_told);
	free(c->numbers);
	free(c->frames);
	free(c);
}

void chains_resolve_by(struct chains *c, struct code *code)
{
	c->code = code;
}

int chains_error(const struct chains *c)
{
	return c->err;
}

/* Makes room for place, with zeros in what is new. */
static bool grow(struct chains *c, void *array, uint32_t *capacity, uint32_t place, size_t size)
{
	uint32_t wanted = *capacity ? *capacity : 256;
	char *grown;

	if (place < *capacity)
		return true;
	while (wanted <= place)
		wanted *= 2;
	grown = realloc(*(void **)array, wanted * size);
	if (!grown) {
		c->err = -ENOMEM;
		return false;
	}
	memset(grown + *capacity * size, 0, (wanted - *capacity) * size);
	*(void **)array = grown;
	*capacity = wanted;
	return true;
}

/* --- writing ----------------------------------------------------------------------------- */

static uint32_t method_number(struct chains *c, const struct code_method *m, uint64_t time_ns)
{
	struct event e = {.id = EVENT_METHOD, .time_ns = time_ns};

	if (!grow(c, &c->method_told, &c->methods, m->number, sizeof(*c->method_told)))
		return 0;
	if (!c->method_told[m->number]) {
		c->method_told[m->number] = 1;
		e.v[METHOD_METHOD].u = m->number + 1;
		e.v[METHOD_CLASS_NAME].s = m->class_name;
		e.v[METHOD_NAME].s = m->name;
		e.v[METHOD_SIGNATURE].s = m->signature;
		e.v[METHOD_SOURCE].s = m->source;
		e.v[METHOD_HIDDEN].u = m->hidden;
		log_write(c->w, &e);
	}
	return m->number + 1;
}

/* The number of a frame with its callers; written when it is new. */
static uint32_t node_number(struct chains *c, const struct node_key *key, uint64_t time_ns)
{
	struct event e = {.id = EVENT_STACK, .time_ns = time_ns};
	struct node *n;

	HASH_FIND(hh, c->nodes, key, sizeof(*key), n);
	if (n)
		return n->number;
	n = calloc(1, sizeof(*n));
	if (!n)
		goto nomem;
	n->key = *key;
	HASH_ADD(hh, c->nodes, key, sizeof(n->key), n);
	if (!n->hh.tbl) {
		free(n);
		goto nomem;
	}
	n->number = ++c->node_count;
	e.v[STACK_STACK].u = n->number;
	e.v[STACK_CALLER].u = key->caller;
	e.v[STACK_FRAME].u = key->frame;
	e.v[STACK_METHOD].u = key->method;
	e.v[STACK_BCI].u = key->bci;
	e.v[STACK_LINE].u = key->line;
	e.v[STACK_INFERRED].u = key->inferred;
	log_write(c->w, &e);
	return n->number;
nomem:
	c->err = -ENOMEM;
	return 0;
}

/* --- resolving --------------------------------------------------------------------------- */

static void push(struct chains *c, struct node_key key)
{
	if (grow(c, &c->frames, &c->frame_capacity, c->frame_count, sizeof(*c->frames)))
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

/* All frames at one place of the stack; their number, or negative errno. */
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

/* False: the walk has gone astray here. */
static bool frames_add(struct chains *c, const struct wire_stack *r, const struct wire_frame *f,
		       bool *unresolved)
{
	struct code_frame frames[CODE_FRAMES_MAX];
	bool interpreted = f->kind == WIRE_FRAME_INTERPRETED;
	int n = interpreted && *c->class_epoch != r->class_epoch ? -ESTALE : resolve(c, f, frames);

	if (n == -ENOMEM)
		c->err = n;
	/* A Method that has become something else by now says -EPROTO too. */
	if (n < 0 && (n != -EPROTO || interpreted))
		n = 0;
	if (n < 0)
		return false;
	if (n && interpreted && *c->class_epoch != r->class_epoch)
		n = 0;
	for (int i = 0; i < n; i++)
		push(c, (struct node_key){
				.method = method_number(c, frames[i].method, r->head.time_ns),
				.bci = frames[i].bci,
				.line = frames[i].line,
				.frame = frame_type(frames[i].type),
				.inferred = frames[i].inferred,
			});
	if (!n) {
		push(c, (struct node_key){.frame = FRAME_TYPE_UNRESOLVED});
		*unresolved = true;
	}
	return true;
}

static uint32_t base_frame(const struct wire_stack *r)
{
	switch (r->result) {
	case WIRE_WALK_COMPLETE:
	case WIRE_WALK_NO_JAVA_FRAMES:
		return FRAME_TYPE_UNKNOWN;
	case WIRE_WALK_CUT:
		return FRAME_TYPE_CUT;
	default:
		return FRAME_TYPE_BROKEN;
	}
}

bool chains_add(struct chains *c, const struct wire_stack *r, size_t size)
{
	uint32_t base, number = 0, epoch = *c->class_epoch;
	bool unresolved = false;

	if (size < offsetof(struct wire_stack, frames) || r->count > WIRE_FRAMES_MAX ||
	    (size - offsetof(struct wire_stack, frames)) / sizeof(*r->frames) < r->count)
		return false;
	if (!grow(c, &c->numbers, &c->ids, r->id, sizeof(*c->numbers)))
		return true;
	if (epoch != c->epoch && c->code)
		code_forget(c->code);
	c->epoch = epoch;
	base = base_frame(r);
	c->frame_count = 0;
	for (uint32_t i = 0; i < r->count; i++) {
		if (frames_add(c, r, &r->frames[i], &unresolved))
			continue;
		c->astray++;
		base = FRAME_TYPE_BROKEN;
		break;
	}
	if (*c->class_epoch != r->class_epoch && c->code)
		code_forget(c->code);
	c->unresolved += unresolved;
	if (base != FRAME_TYPE_UNKNOWN)
		number = node_number(c, &(struct node_key){.frame = base}, r->head.time_ns);
	for (uint32_t i = c->frame_count; i--;) {
		c->frames[i].caller = number;
		number = node_number(c, &c->frames[i], r->head.time_ns);
	}
	c->numbers[r->id] = c->err ? 0 : number;
	return true;
}

uint32_t chains_number(const struct chains *c, uint32_t id)
{
	return id < c->ids ? c->numbers[id] : 0;
}

uint64_t chains_astray(const struct chains *c)
{
	return c->astray;
}

uint64_t chains_unresolved(const struct chains *c)
{
	return c->unresolved;
}
