/*
 * The Java Virtual Machine Specification, chapter 4 (the file) and 6.5 (lengths of instructions).
 * Nothing is verified that a JVM would verify: only what is read must be within the file.
 */
#include "heap/code/class_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/code/class_bytes.h"

#define MAGIC 0xcafebabeu

enum {
	TAG_UTF8 = 1,
	TAG_LONG = 5,
	TAG_DOUBLE = 6,
	TAG_CLASS = 7,
	TAG_STRING = 8,
	TAG_METHOD = 10,
	TAG_INTERFACE_METHOD = 11,
	TAG_NAME_AND_TYPE = 12,
	TAG_HANDLE = 15,
	TAG_COUNT = 21
};

/* Bytes after the tag, but for texts; 0: there is no such tag. */
static const uint8_t tag_bytes[TAG_COUNT] = {
	[3] = 4,  [4] = 4,  [5] = 8,  [6] = 8,  [7] = 2,  [8] = 2,  [9] = 4,  [10] = 4,
	[11] = 4, [12] = 4, [15] = 3, [16] = 2, [17] = 4, [18] = 4, [19] = 2, [20] = 2};

struct reader {
	struct class_bytes in;
	const struct class_visitor *v;
	const uint8_t **constants; /* where each one's tag is; NULL: none */
	uint32_t constant_count;
};

static uint32_t number_at(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

/* Bytes of the constant after its tag; NULL: there is none of this tag. */
static const uint8_t *constant(const struct reader *r, uint32_t i, unsigned tag)
{
	const uint8_t *at = i < r->constant_count ? r->constants[i] : NULL;

	return at && *at == tag ? at + 1 : NULL;
}

static bool text(const struct reader *r, uint32_t i, struct class_text *ret)
{
	const uint8_t *at = constant(r, i, TAG_UTF8);

	if (!at)
		return false;
	*ret = (struct class_text){(const char *)at + 2, number_at(at)};
	return true;
}

static bool class_name(const struct reader *r, uint32_t i, struct class_text *ret)
{
	const uint8_t *at = constant(r, i, TAG_CLASS);

	return at && text(r, number_at(at), ret);
}

/* Of a method or a method of an interface. */
static bool method_of(const struct reader *r, uint32_t i, struct class_call *ret)
{
	const uint8_t *at = constant(r, i, TAG_METHOD), *pair;

	if (!at)
		at = constant(r, i, TAG_INTERFACE_METHOD);
	pair = at ? constant(r, number_at(at + 2), TAG_NAME_AND_TYPE) : NULL;
	return pair && class_name(r, number_at(at), &ret->class) &&
	       text(r, number_at(pair), &ret->name) &&
	       text(r, number_at(pair + 2), &ret->descriptor);
}

static int read_constants(struct reader *r)
{
	uint32_t count = class_bytes_number(&r->in, 2);

	r->constants = calloc(count + 1ul, sizeof(*r->constants));
	if (!r->constants)
		return -ENOMEM;
	r->constant_count = count;
	for (uint32_t i = 1; i < count && !r->in.failed; i++) {
		const uint8_t *at = r->in.at;
		unsigned tag = class_bytes_number(&r->in, 1);

		if (tag == TAG_UTF8)
			class_bytes_take(&r->in, class_bytes_number(&r->in, 2));
		else if (tag < TAG_COUNT && tag_bytes[tag])
			class_bytes_take(&r->in, tag_bytes[tag]);
		else
			r->in.failed = true;
		r->constants[i] = at;
		i += tag == TAG_LONG || tag == TAG_DOUBLE;
	}
	return r->in.failed ? -EBADMSG : 0;
}

static enum class_call_kind handle_kind(unsigned kind)
{
	return kind == 6                ? CLASS_CALL_STATIC
	       : kind == 7 || kind == 8 ? CLASS_CALL_SPECIAL
					: CLASS_CALL_VIRTUAL;
}

static int visit_constants(struct reader *r)
{
	int err = 0;

	for (uint32_t i = 1; i < r->constant_count && !err; i++) {
		const uint8_t *string = constant(r, i, TAG_STRING),
			      *handle = constant(r, i, TAG_HANDLE);
		struct class_call call = {0};
		struct class_text t;

		if (string && text(r, number_at(string), &t))
			err = r->v->string(r->v->ctx, t);
		else if (handle && *handle >= 5 && *handle <= 9 &&
			 method_of(r, number_at(handle + 1), &call)) {
			call.kind = handle_kind(*handle);
			err = r->v->handle(r->v->ctx, &call);
		}
	}
	return err;
}

/* --- bytecodes ---------------------------------------------------------------------------- */

enum {
	OP_TABLESWITCH = 0xaa,
	OP_LOOKUPSWITCH = 0xab,
	OP_INVOKEVIRTUAL = 0xb6,
	OP_INVOKESPECIAL = 0xb7,
	OP_INVOKESTATIC = 0xb8,
	OP_INVOKEINTERFACE = 0xb9,
	OP_WIDE = 0xc4,
	OP_IINC = 0x84,
	OP_LAST = 0xc9
};

/* Bytes of an instruction that has always as many. */
static unsigned op_bytes(unsigned op)
{
	if (op == 0x10 || op == 0x12 || (op >= 0x15 && op <= 0x19) || (op >= 0x36 && op <= 0x3a) ||
	    op == 0xa9 || op == 0xbc)
		return 2;
	if (op == 0x11 || op == 0x13 || op == 0x14 || op == OP_IINC || (op >= 0x99 && op <= 0xa8) ||
	    (op >= 0xb2 && op <= 0xb8) || op == 0xbb || op == 0xbd || op == 0xc0 || op == 0xc1 ||
	    op == 0xc6 || op == 0xc7)
		return 3;
	if (op == 0xc5)
		return 4;
	if (op == OP_INVOKEINTERFACE || op == 0xba || op == 0xc8 || op == 0xc9)
		return 5;
	return 1;
}

/* What comes after the opcode of a switch. */
static void skip_switch(struct class_bytes *in, const uint8_t *code, unsigned op)
{
	uint32_t low, high, count;

	class_bytes_take(in, -(size_t)(in->at - code) & 3);
	class_bytes_take(in, 4);
	low = class_bytes_number(in, 4);
	if (op == OP_LOOKUPSWITCH) {
		count = low;
		class_bytes_take(in, 8ull * count);
		return;
	}
	high = class_bytes_number(in, 4);
	class_bytes_take(in, 4ull * ((uint64_t)(high - low) + 1));
}

static int visit_call(struct reader *r, unsigned op, uint32_t bci, uint32_t index)
{
	struct class_call call = {.bci = bci};

	if (!method_of(r, index, &call))
		return -EBADMSG;
	call.kind = op == OP_INVOKESPECIAL  ? CLASS_CALL_SPECIAL
		    : op == OP_INVOKESTATIC ? CLASS_CALL_STATIC
					    : CLASS_CALL_VIRTUAL;
	return r->v->call(r->v->ctx, &call);
}

static int read_code(struct reader *r, struct class_bytes in)
{
	const uint8_t *code = in.at;
	int err = 0;

	while (in.at < in.end && !in.failed && !err) {
		uint32_t bci = (uint32_t)(in.at - code);
		unsigned op = class_bytes_number(&in, 1);

		if (op > OP_LAST)
			return -EBADMSG;
		if (op == OP_TABLESWITCH || op == OP_LOOKUPSWITCH) {
			skip_switch(&in, code, op);
		} else if (op == OP_WIDE) {
			op = class_bytes_number(&in, 1);
			class_bytes_take(&in, op == OP_IINC ? 4 : 2);
		} else {
			const uint8_t *at = class_bytes_take(&in, op_bytes(op) - 1);

			if (at && op >= OP_INVOKEVIRTUAL && op <= OP_INVOKEINTERFACE)
				err = visit_call(r, op, bci, number_at(at));
		}
	}
	return err ? err : in.failed ? -EBADMSG : 0;
}

/* --- attributes, members ------------------------------------------------------------------ */

struct attributes {
	struct class_bytes code; /* of a method: its bytecodes; empty: none */
	bool annotated;
};

static bool is_called(struct class_text t, const char *name)
{
	return t.length == strlen(name) && !memcmp(t.bytes, name, t.length);
}

static void read_attributes(struct reader *r, struct attributes *ret)
{
	uint32_t count = class_bytes_number(&r->in, 2);

	*ret = (struct attributes){0};
	for (uint32_t i = 0; i < count && !r->in.failed; i++) {
		uint32_t name = class_bytes_number(&r->in, 2),
			 length = class_bytes_number(&r->in, 4);
		const uint8_t *at = class_bytes_take(&r->in, length);
		struct class_text t;

		if (!at || !text(r, name, &t))
			continue;
		ret->annotated |= is_called(t, "RuntimeVisibleAnnotations");
		if (is_called(t, "Code")) {
			struct class_bytes in = {at, at + length, false};

			class_bytes_take(&in, 4);
			length = class_bytes_number(&in, 4);
			ret->code = (struct class_bytes){in.at, in.at, in.failed};
			if (class_bytes_take(&in, length))
				ret->code.end = in.at;
			r->in.failed |= in.failed;
		}
	}
}

static int read_method(struct reader *r)
{
	struct class_method m = {.access = class_bytes_number(&r->in, 2)};
	uint32_t name = class_bytes_number(&r->in, 2), descriptor = class_bytes_number(&r->in, 2);
	struct attributes a;
	int err;

	read_attributes(r, &a);
	if (r->in.failed || !text(r, name, &m.name) || !text(r, descriptor, &m.descriptor))
		return -EBADMSG;
	m.annotated = a.annotated;
	err = r->v->method(r->v->ctx, &m);
	return err ? err : read_code(r, a.code);
}

static void skip_members(struct reader *r)
{
	uint32_t count = class_bytes_number(&r->in, 2);
	struct attributes a;

	for (uint32_t i = 0; i < count && !r->in.failed; i++) {
		class_bytes_take(&r->in, 6);
		read_attributes(r, &a);
	}
}

/* The attributes of the class are after its methods. */
static bool class_annotated(const struct reader *r)
{
	struct reader after = *r;
	struct attributes a;

	skip_members(&after);
	skip_members(&after);
	read_attributes(&after, &a);
	return a.annotated;
}

static int read_interfaces(struct reader *r, const struct class_bytes *list)
{
	struct class_bytes in = *list;
	int err = 0;

	while (in.at < in.end && !err) {
		struct class_text t;

		err = class_name(r, class_bytes_number(&in, 2), &t) ? r->v->interface(r->v->ctx, t)
								    : -EBADMSG;
	}
	return err;
}

static int read_class(struct reader *r)
{
	struct class_head h = {.access = class_bytes_number(&r->in, 2)};
	uint32_t name = class_bytes_number(&r->in, 2), super = class_bytes_number(&r->in, 2), count;
	struct class_bytes interfaces = r->in;
	struct attributes a;
	int err;

	count = class_bytes_number(&r->in, 2);
	interfaces.at = r->in.at;
	class_bytes_take(&r->in, 2ul * count);
	interfaces.end = r->in.at;
	if (r->in.failed || !class_name(r, name, &h.name) ||
	    (super && !class_name(r, super, &h.super)))
		return -EBADMSG;
	h.annotated = class_annotated(r);
	err = r->v->head(r->v->ctx, &h);
	if (!err)
		err = read_interfaces(r, &interfaces);
	if (!err)
		err = visit_constants(r);
	skip_members(r);
	count = class_bytes_number(&r->in, 2);
	for (uint32_t i = 0; i < count && !err; i++)
		err = r->in.failed ? -EBADMSG : read_method(r);
	read_attributes(r, &a);
	return err ? err : r->in.failed ? -EBADMSG : 0;
}

int class_file_read(const uint8_t *bytes, size_t count, const struct class_visitor *v)
{
	struct reader r = {.in = {bytes, bytes + count, false}, .v = v};
	int err = 0;

	if (class_bytes_number(&r.in, 4) != MAGIC)
		return -EBADMSG;
	class_bytes_take(&r.in, 4);
	err = read_constants(&r);
	if (!err)
		err = read_class(&r);
	free(r.constants);
	return err;
}
