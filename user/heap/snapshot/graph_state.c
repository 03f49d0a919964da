/*
 * The bytes are the target's, and are believed in nothing: each number is read within them, each
 * index is compared with what has come before, and what is allocated is no more than what bytes
 * stand for.
 */
#include "heap/snapshot/graph_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "heap/replay/object_replay.h"
#include "heap/snapshot/object_origins.h"
#include "heap/state/heap_state.h"
#include "jvm-hooks/graph.h"

#define ID_BYTES 8
#define NUMBER_BITS 64
/* Ids of texts, which no class has: addresses of a JVM have 47 bits. */
#define TEXT_ID(n) (1ull << 62 | (n))
#define UNITS_MAX (1ull << 33)

struct graph_class {
	uint32_t type;
	int32_t layout; /* of HotSpot */
};

struct reader {
	const uint8_t *at, *end;
	struct heap_state *state;
	const struct object_replay *replay;
	struct object_origins *origins;
	struct graph_class *classes; /* by number - 1 */
	uint32_t class_count, class_capacity;
	uint64_t base, units, texts;
	unsigned shift;
	int err; /* the first */
};

static void fail(struct reader *in, int err)
{
	if (!in->err)
		in->err = err;
}

/* 0 after the end, or after anything that makes no sense. */
static uint64_t number(struct reader *in)
{
	uint64_t n = 0;

	for (unsigned bits = 0; bits < NUMBER_BITS && !in->err && in->at < in->end; bits += 7) {
		uint8_t byte = *in->at++;

		n |= (uint64_t)(byte & 0x7f) << bits;
		if (!(byte & 0x80))
			return n;
	}
	fail(in, -EBADMSG);
	return 0;
}

static int64_t signed_of(uint64_t n)
{
	return (int64_t)(n >> 1 ^ -(n & 1));
}

/* Of an object at so many units. */
static uint64_t address_of(struct reader *in, uint64_t unit)
{
	if (unit < in->units)
		return in->base + (unit << in->shift);
	fail(in, -EBADMSG);
	return 0;
}

/* 0: null. */
static uint64_t address(struct reader *in)
{
	uint64_t n = number(in);

	return n ? address_of(in, n - 1) : 0;
}

/* HEAP_NONE if it fails. */
static uint32_t text(struct reader *in)
{
	uint64_t bytes = number(in), id = TEXT_ID(in->texts++);

	if (!in->err && bytes > (uint64_t)(in->end - in->at))
		fail(in, -EBADMSG);
	if (in->err)
		return HEAP_NONE;
	fail(in, heap_types_text_add(&in->state->types, id, in->at, (uint32_t)bytes));
	in->at += bytes;
	return in->err ? HEAP_NONE : heap_types_text_find(&in->state->types, id);
}

static void refer(struct reader *in, uint64_t to)
{
	if (!in->err)
		fail(in, heap_objects_ref(&in->state->objects, to));
}

static void field(struct reader *in)
{
	uint32_t name = text(in);

	if (!in->err)
		fail(in, heap_types_field(&in->state->types, name, HEAP_REFERENCE));
}

static void fields(struct reader *in, uint32_t type)
{
	struct heap_types *t = &in->state->types;

	t->all[type].statics = t->field_count;
	while (number(in) == 1 && !in->err) {
		field(in);
		refer(in, address(in));
	}
	t->all[type].static_count = t->field_count - t->all[type].statics;
	t->all[type].fields = t->field_count;
	while (number(in) == 1 && !in->err)
		field(in);
	t->all[type].field_count = t->field_count - t->all[type].fields;
	t->all[type].defined = true;
}

/* The kind of object that a class has, as HotSpot's layout has it. */
static enum heap_kind kind_of(int32_t layout)
{
	if (layout >= 0)
		return HEAP_INSTANCE;
	return (uint32_t)layout >> 30 == 3 ? HEAP_PRIMITIVE_ARRAY : HEAP_OBJECT_ARRAY;
}

/* The type of a class, and the number that it has in the graph. HEAP_NONE if it fails. */
static uint32_t new_class(struct reader *in, uint64_t id)
{
	struct heap_types *t = &in->state->types;
	uint32_t type = HEAP_NONE;

	if (!id)
		fail(in, -EBADMSG);
	if (!in->err)
		fail(in, heap_types_add(t, id, &type));
	if (!in->err && t->all[type].defined)
		fail(in, -EBADMSG); /* a class is there twice */
	if (!in->err)
		fail(in, array_grow(&in->classes, &in->class_capacity, in->class_count,
				    sizeof(*in->classes)));
	return in->err ? HEAP_NONE : type;
}

static void class_name(struct reader *in, uint32_t type, int32_t layout)
{
	struct heap_types *t = &in->state->types;
	uint32_t name = text(in);

	if (in->err)
		return;
	fail(in, heap_types_name(t, type, name));
	if (t->all[type].kind != kind_of(layout))
		fail(in, -EBADMSG);
	in->classes[in->class_count++] = (struct graph_class){type, layout};
}

static void one_class(struct reader *in)
{
	uint64_t id = address(in), units = number(in), refs[4]; /* as heap_graph.c has them */
	uint32_t type = new_class(in, id), super = HEAP_NONE;
	int32_t layout;

	for (int i = 0; i < 4; i++)
		refs[i] = address(in);
	layout = (int32_t)signed_of(number(in));
	if (units >= UNITS_MAX)
		fail(in, -EBADMSG);
	if (!in->err && refs[0])
		fail(in, heap_types_add(&in->state->types, refs[0], &super));
	if (in->err)
		return;
	in->state->types.all[type].super_id = refs[0];
	in->state->types.all[type].super = super;
	in->state->types.all[type].loader_id = refs[1];
	class_name(in, type, layout);
	if (!in->err)
		fail(in, heap_state_class_described(in->state, type, units << in->shift));
	for (int i = 0; i < 4; i++)
		refer(in, refs[i]);
	if (!in->err)
		fields(in, type);
}

/* In units. */
static uint64_t size_of(const struct reader *in, int32_t layout, uint64_t length)
{
	uint64_t bytes = (uint32_t)layout & ~7u;

	if (layout < 0)
		bytes = ((uint32_t)layout >> 16 & 0xff) + (length << (layout & 7));
	return (bytes + (1ull << in->shift) - 1) >> in->shift;
}

/* What the object at *last refers to; 0: null. */
static uint64_t reference(struct reader *in, uint64_t *last)
{
	uint64_t n = number(in);

	if (!n)
		return 0;
	*last += (uint64_t)signed_of(n - 1);
	return address_of(in, *last);
}

static void elements(struct reader *in, uint64_t at, uint64_t count)
{
	while (count && !in->err) {
		uint64_t to = reference(in, &at), more = to ? 0 : number(in);

		count--;
		if (to)
			refer(in, to);
		if (more > count)
			fail(in, -EBADMSG);
		else
			count -= more;
	}
}

static void lay_out(struct reader *in, uint32_t type)
{
	int err;

	if (in->err || in->state->types.all[type].laid_out)
		return;
	err = heap_types_lay_out(&in->state->types, type);
	fail(in, err == -ENOENT || err == -ELOOP ? -EBADMSG : err);
}

static void add_object(struct reader *in, const struct graph_class *c, uint64_t unit,
		       uint64_t length)
{
	struct heap_desc d = {.type = c->type, .length = (uint32_t)length, .of_class = HEAP_NONE};
	uint64_t at = address_of(in, unit);

	d.bytes = size_of(in, c->layout, length) << in->shift;
	if (!in->err)
		fail(in, object_origins_at(in->origins, at, d.bytes, &d.origin));
	if (!in->err)
		fail(in, heap_state_described(in->state, at, d));
}

/* *next: where the next object is if it does not say otherwise. */
static void one_object(struct reader *in, uint64_t head, uint64_t *next)
{
	uint64_t unit = *next, length = 0, last;
	struct graph_class c;

	if (!(head >> 1) || head >> 1 > in->class_count) {
		fail(in, -EBADMSG);
		return;
	}
	c = in->classes[(head >> 1) - 1];
	if (head & 1)
		unit += (uint64_t)signed_of(number(in));
	if (kind_of(c.layout) != HEAP_INSTANCE)
		length = number(in);
	if (length > INT32_MAX)
		fail(in, -EBADMSG);
	lay_out(in, c.type);
	if (!in->err)
		add_object(in, &c, unit, length);
	*next = unit + size_of(in, c.layout, length);
	last = unit;
	if (kind_of(c.layout) == HEAP_OBJECT_ARRAY)
		elements(in, unit, length);
	else if (kind_of(c.layout) == HEAP_INSTANCE)
		for (uint32_t i = 0; !in->err && i < in->state->types.all[c.type].ref_count; i++)
			refer(in, reference(in, &last));
}

static void one_root(struct reader *in, uint64_t kind)
{
	static const uint8_t kinds[SPOOR_ROOT_COUNT] = {
		[SPOOR_ROOT_JNI_GLOBAL] = HEAP_ROOT_JNI_GLOBAL,
		[SPOOR_ROOT_JNI_LOCAL] = HEAP_ROOT_JNI_LOCAL,
		[SPOOR_ROOT_FRAME] = HEAP_ROOT_JAVA_FRAME,
		[SPOOR_ROOT_NATIVE] = HEAP_ROOT_NATIVE_STACK,
		[SPOOR_ROOT_SYSTEM_CLASS] = HEAP_ROOT_STICKY_CLASS,
		[SPOOR_ROOT_THREAD] = HEAP_ROOT_THREAD,
		[SPOOR_ROOT_VM] = HEAP_ROOT_VM,
		[SPOOR_ROOT_CODE] = HEAP_ROOT_CODE,
		[SPOOR_ROOT_LOADER] = HEAP_ROOT_LOADER,
	};
	struct heap_root r = {.frame = HEAP_NONE};

	if (kind >= SPOOR_ROOT_COUNT) {
		fail(in, -EBADMSG);
		return;
	}
	r.kind = kinds[kind];
	r.address = address(in);
	if (spoor_graph_root_has_thread((unsigned)kind))
		r.thread = (uint32_t)number(in);
	if (spoor_graph_root_has_frame((unsigned)kind))
		r.frame = (uint32_t)number(in);
	if (!in->err)
		fail(in, heap_state_root(in->state, r));
}

static void read_all(struct reader *in)
{
	uint64_t n, next = 0, classes;

	if (number(in) != SPOOR_GRAPH_VERSION)
		fail(in, -EBADMSG);
	number(in); /* the collection, which is known */
	while ((n = number(in)) == 1 && !in->err)
		one_class(in);
	if (n)
		fail(in, -EBADMSG);
	classes = in->state->object_count;
	while ((n = number(in)) && !in->err)
		one_object(in, n, &next);
	while ((n = number(in)) && !in->err)
		one_root(in, n);
	if (number(in) != in->state->object_count - classes || in->at != in->end)
		fail(in, -EBADMSG);
}

int graph_state_make(const struct object_replay *r, const struct replay_state_options *o,
		     struct heap_state *ret)
{
	const struct object_sums *sums = object_replay_sums(r);
	struct reader in = {.state = ret, .replay = r, .base = object_replay_base(r)};
	size_t bytes;
	int err = heap_state_init(ret, ID_BYTES, true);

	if (err)
		return err;
	in.shift = sums->heap_shift;
	in.units = sums->heap_bytes >> in.shift;
	in.at = object_replay_graph(r, &bytes);
	if (!in.at)
		return -ENOENT;
	in.end = in.at + bytes;
	ret->is_log = ret->has_graph = true;
	in.err = object_origins_new(r, o, ret, &in.origins);
	if (!in.err)
		read_all(&in);
	if (!in.err)
		in.err = heap_state_finish(ret);
	object_origins_free(in.origins);
	free(in.classes);
	return in.err;
}
