/* Roots, classes and objects: what is in a record of the heap. */
#include <errno.h>

#include "heap/image/hprof_parser.h"

enum part {
	PART_ROOT_JNI_GLOBAL = 0x01,
	PART_ROOT_JNI_LOCAL,
	PART_ROOT_JAVA_FRAME,
	PART_ROOT_NATIVE_STACK,
	PART_ROOT_STICKY_CLASS,
	PART_ROOT_THREAD_BLOCK,
	PART_ROOT_MONITOR,
	PART_ROOT_THREAD,
	PART_CLASS = 0x20,
	PART_INSTANCE,
	PART_OBJECT_ARRAY,
	PART_PRIMITIVE_ARRAY,
	PART_RECORD_END = 0x2c, /* of a record that goes on to the end, see next_record */
	PART_ROOT_UNKNOWN = 0xff,
};

#define ELEMENTS_AT_ONCE 4096

/* After the object's id: ids, and numbers of four bytes; where the thread and the frame are. */
static const struct {
	uint8_t ids, numbers, thread, frame; /* which of the numbers, from 1 on; 0: none */
} root_shapes[HEAP_ROOT_KIND_COUNT] = {
	[HEAP_ROOT_JNI_GLOBAL] = {1, 0, 0, 0},   [HEAP_ROOT_JNI_LOCAL] = {0, 2, 1, 2},
	[HEAP_ROOT_JAVA_FRAME] = {0, 2, 1, 2},   [HEAP_ROOT_NATIVE_STACK] = {0, 1, 1, 0},
	[HEAP_ROOT_THREAD_BLOCK] = {0, 1, 1, 0}, [HEAP_ROOT_THREAD] = {0, 2, 1, 0},
};
_Static_assert(HEAP_ROOT_JNI_GLOBAL == (int)PART_ROOT_JNI_GLOBAL, "numbers are those of .hprof");
_Static_assert(HEAP_ROOT_THREAD == (int)PART_ROOT_THREAD, "numbers are those of .hprof");

static int read_root(struct hprof_parser *p, unsigned part)
{
	unsigned kind = part == PART_ROOT_UNKNOWN ? HEAP_ROOT_UNKNOWN : part;
	size_t ids = 1u + root_shapes[kind].ids, at = 1 + ids * p->id_bytes;
	size_t bytes = at + 4u * root_shapes[kind].numbers;
	struct heap_root root = {.kind = (uint8_t)kind, .frame = HEAP_NONE};
	int err = 0;
	const uint8_t *b = hprof_need(p, bytes, &err);

	if (!b)
		return err;
	root.address = hprof_id(p, b + 1);
	if (root_shapes[kind].thread)
		root.thread = dump_u4(b + at + 4u * (root_shapes[kind].thread - 1u));
	if (root_shapes[kind].frame)
		root.frame = dump_u4(b + at + 4u * (root_shapes[kind].frame - 1u));
	err = heap_state_root(p->state, root);
	return err ? err : hprof_skip(p, bytes);
}

/* One value of a static field or of the pool of constants; *ret is the reference that it is. */
static int read_value(struct hprof_parser *p, unsigned value, uint64_t *ret)
{
	unsigned bytes = heap_value_bytes(value, p->id_bytes);
	int err = 0;
	const uint8_t *b;

	if (!bytes)
		return hprof_damage(p, "there is no kind of value with this number");
	b = hprof_need(p, bytes, &err);
	if (!b)
		return err;
	*ret = value == HEAP_REFERENCE ? hprof_id(p, b) : 0;
	return hprof_skip(p, bytes);
}

static int read_number(struct hprof_parser *p, unsigned bytes, uint64_t *ret)
{
	int err = 0;
	const uint8_t *b = hprof_need(p, bytes, &err);

	if (!b)
		return err;
	*ret = bytes == 1 ? b[0] : bytes == 2 ? dump_u2(b) : bytes == 4 ? dump_u4(b) : dump_u8(b);
	return hprof_skip(p, bytes);
}

static int ref(struct hprof_parser *p, uint64_t to)
{
	return p->state->with_objects ? heap_objects_ref(&p->state->objects, to) : 0;
}

static int read_constants(struct hprof_parser *p)
{
	uint64_t count, index, value = 0, to;
	int err = read_number(p, 2, &count);

	for (uint64_t i = 0; !err && i < count; i++) {
		err = read_number(p, 2, &index);
		if (!err)
			err = read_number(p, 1, &value);
		if (!err)
			err = read_value(p, (unsigned)value, &to);
	}
	return err;
}

static int field(struct hprof_parser *p, uint64_t *ret_value)
{
	struct heap_types *t = &p->state->types;
	uint64_t name;
	int err = read_number(p, p->id_bytes, &name);

	if (!err)
		err = read_number(p, 1, ret_value);
	if (!err && !heap_value_bytes((unsigned)*ret_value, p->id_bytes))
		err = hprof_damage(p, "there is no kind of field with this number");
	if (err)
		return err;
	return heap_types_field(t, heap_types_text_find(t, name), (uint8_t)*ret_value);
}

static int read_statics(struct hprof_parser *p, uint32_t type)
{
	struct heap_types *t = &p->state->types;
	uint64_t count, value = 0, to;
	int err = read_number(p, 2, &count);

	t->all[type].statics = t->field_count;
	for (uint64_t i = 0; !err && i < count; i++) {
		err = field(p, &value);
		if (!err)
			err = read_value(p, (unsigned)value, &to);
		if (!err && value == HEAP_REFERENCE)
			err = ref(p, to);
	}
	t->all[type].static_count = t->field_count - t->all[type].statics;
	return err;
}

static int read_fields(struct hprof_parser *p, uint32_t type)
{
	struct heap_types *t = &p->state->types;
	uint64_t count, value = 0;
	int err = read_number(p, 2, &count);

	t->all[type].fields = t->field_count;
	for (uint64_t i = 0; !err && i < count; i++)
		err = field(p, &value);
	t->all[type].field_count = t->field_count - t->all[type].fields;
	return err;
}

/* Who a class refers to, apart from its static fields; heap_graph.h has the same order. */
static int class_refs(struct hprof_parser *p, const uint64_t *ids)
{
	int err = 0;

	for (unsigned i = 0; !err && i < 4; i++)
		err = ref(p, ids[i]);
	return err;
}

static int class_type(struct hprof_parser *p, uint64_t id, uint32_t *ret)
{
	struct heap_types *t = &p->state->types;

	for (unsigned v = HEAP_BOOLEAN; v < HEAP_VALUE_COUNT; v++)
		if (t->all[heap_types_array(v)].id == id && id) {
			*ret = heap_types_array(v);
			return 0;
		}
	return heap_types_add(t, id, ret);
}

static int read_class(struct hprof_parser *p)
{
	struct heap_types *t = &p->state->types;
	size_t bytes = 1 + 7 * p->id_bytes + 8;
	uint64_t ids[4] = {0}; /* superclass, loader, signers, protection domain */
	uint32_t type, super = HEAP_NONE;
	int err = 0;
	const uint8_t *b = hprof_need(p, bytes, &err);

	if (!b)
		return err;
	for (unsigned i = 0; i < 4; i++)
		ids[i] = hprof_id(p, b + 5 + (i + 1) * p->id_bytes);
	err = class_type(p, hprof_id(p, b + 1), &type);
	if (!err && ids[0])
		err = heap_types_add(t, ids[0], &super);
	if (err)
		return err;
	if (t->all[type].class_bytes)
		return hprof_damage(p, "a class is there twice");
	t->all[type].class_bytes = 1; /* until the sizes are known */
	t->all[type].super_id = ids[0];
	t->all[type].super = super;
	t->all[type].loader_id = ids[1];
	err = hprof_skip(p, bytes);
	if (!err)
		err = heap_state_class(p->state, type);
	if (!err)
		err = class_refs(p, ids);
	if (!err)
		err = read_constants(p);
	if (!err)
		err = read_statics(p, type);
	if (!err)
		err = read_fields(p, type);
	t->all[type].defined = !err;
	return err;
}

/* The references in an instance's fields, bytes of which are left in the record. */
static int read_refs(struct hprof_parser *p, uint32_t type, uint32_t bytes)
{
	const struct heap_type *t = &p->state->types.all[type];
	const uint8_t *b;
	int err = 0;

	if (bytes > DUMP_NEED_MAX)
		return hprof_damage(p, "an instance is larger than any class makes it");
	b = hprof_need(p, bytes, &err);
	for (uint32_t i = 0; b && !err && i < t->ref_count; i++)
		err = heap_objects_ref(&p->state->objects,
				       hprof_id(p, b + p->state->types.refs[t->refs + i].at));
	return err;
}

static int instance_type(struct hprof_parser *p, uint64_t id)
{
	struct heap_types *t = &p->state->types;
	int err;

	if (p->class_id == id && id)
		return 0;
	p->class_id = 0;
	err = heap_types_add(t, id, &p->class_type);
	if (!err && t->all[p->class_type].kind != HEAP_INSTANCE)
		err = hprof_damage(p, "an instance has the class of an array");
	if (!err && !t->all[p->class_type].laid_out)
		err = heap_types_lay_out(t, p->class_type);
	if (err == -ELOOP)
		return hprof_damage(p, "a class is its own superclass");
	if (!err)
		p->class_id = id;
	return err;
}

static int read_instance(struct hprof_parser *p)
{
	size_t head = 1 + 2 * p->id_bytes + 8;
	const struct heap_type *t;
	uint64_t address;
	uint32_t bytes;
	int err = 0, known;
	const uint8_t *b = hprof_need(p, head, &err);

	if (!b)
		return err;
	address = hprof_id(p, b + 1);
	bytes = dump_u4(b + head - 4);
	known = instance_type(p, hprof_id(p, b + 5 + p->id_bytes));
	if (known && known != -ENOENT)
		return known;
	err = hprof_skip(p, head);
	if (!err && bytes > p->left)
		err = hprof_damage(p, "an instance is longer than the record that it is in");
	if (!err)
		err = heap_state_object(p->state, address, p->class_type, 0);
	t = &p->state->types.all[p->class_type];
	if (!err && known)
		p->state->without_class++;
	else if (!err && t->body_bytes != bytes)
		p->result->bad_instances++;
	else if (!err && p->state->with_objects)
		err = read_refs(p, p->class_type, bytes);
	return err ? err : hprof_skip(p, bytes);
}

static int read_elements(struct hprof_parser *p, uint32_t count)
{
	int err = 0;

	while (!err && count) {
		uint32_t some = count < ELEMENTS_AT_ONCE ? count : ELEMENTS_AT_ONCE;
		const uint8_t *b = hprof_need(p, some * p->id_bytes, &err);

		for (uint32_t i = 0; b && !err && i < some; i++) {
			uint64_t to = hprof_id(p, b + i * p->id_bytes);

			if (to)
				err = heap_objects_ref(&p->state->objects, to);
		}
		if (!err)
			err = hprof_skip(p, some * p->id_bytes);
		count -= some;
	}
	return err;
}

static int read_object_array(struct hprof_parser *p)
{
	size_t head = 1 + 2 * p->id_bytes + 8;
	uint64_t address;
	uint32_t type, count;
	int err = 0;
	const uint8_t *b = hprof_need(p, head, &err);

	if (!b)
		return err;
	address = hprof_id(p, b + 1);
	count = dump_u4(b + 5 + p->id_bytes);
	err = heap_types_add(&p->state->types, hprof_id(p, b + 9 + p->id_bytes), &type);
	if (err)
		return err;
	if (p->state->types.all[type].kind != HEAP_OBJECT_ARRAY) {
		/* A class that nothing has named may be anything. */
		if (p->state->types.all[type].name != HEAP_NONE)
			return hprof_damage(p, "an array has the class of an instance");
		p->state->types.all[type].kind = HEAP_OBJECT_ARRAY;
		p->state->types.all[type].element = HEAP_REFERENCE;
	}
	err = hprof_skip(p, head);
	if (!err && (uint64_t)count * p->id_bytes > p->left)
		err = hprof_damage(p, "an array is longer than the record that it is in");
	if (!err)
		err = heap_state_object(p->state, address, type, count);
	if (err)
		return err;
	return p->state->with_objects ? read_elements(p, count)
				      : hprof_skip(p, (uint64_t)count * p->id_bytes);
}

static int read_primitive_array(struct hprof_parser *p)
{
	size_t head = 1 + p->id_bytes + 9;
	uint64_t address, bytes;
	unsigned element;
	uint32_t count;
	int err = 0;
	const uint8_t *b = hprof_need(p, head, &err);

	if (!b)
		return err;
	address = hprof_id(p, b + 1);
	count = dump_u4(b + head - 5);
	element = b[head - 1];
	bytes = (uint64_t)count * heap_value_bytes(element, 0);
	if (!heap_value_bytes(element, 0))
		return hprof_damage(p, "there is no kind of array with this number");
	err = hprof_skip(p, head);
	if (!err && bytes > p->left)
		err = hprof_damage(p, "an array is longer than the record that it is in");
	if (!err)
		err = heap_state_object(p->state, address, heap_types_array(element), count);
	return err ? err : hprof_skip(p, bytes);
}

static int read_part(struct hprof_parser *p, unsigned part)
{
	if ((part && part <= PART_ROOT_THREAD) || part == PART_ROOT_UNKNOWN)
		return read_root(p, part);
	switch (part) {
	case PART_CLASS:
		return read_class(p);
	case PART_INSTANCE:
		return read_instance(p);
	case PART_OBJECT_ARRAY:
		return read_object_array(p);
	case PART_PRIMITIVE_ARRAY:
		return read_primitive_array(p);
	default:
		return hprof_damage(p, "there is no part of a heap with this number");
	}
}

int hprof_heap(struct hprof_parser *p)
{
	bool open_end = p->left > UINT32_MAX;
	int err = 0;

	while (!err && p->left) {
		const uint8_t *b;

		if (open_end) {
			p->left = UINT64_MAX;
			b = dump_need(p->in, 1);
			if ((!b && dump_error(p->in) == -ENODATA) || (b && *b == PART_RECORD_END))
				return HPROF_END;
		}
		b = hprof_need(p, 1, &err);
		if (b)
			err = read_part(p, *b);
	}
	return err;
}
