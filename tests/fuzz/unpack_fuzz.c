/* Reads any bytes as msgpack: it must end, look at nothing beyond them, skip just what it would have read, and read the
 * same from what msgpack-c writes of the values. */
#include <msgpack.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "log/format/header.h"
#include "log/format/unpack.h"

#define EXT_TYPE 7

static void value_check(const struct unpack *u, const struct unpack_value *v)
{
	ENSURE(v->type < UNPACK_TYPE_COUNT);
	if (v->type == UNPACK_STR || v->type == UNPACK_BIN || v->type == UNPACK_EXT)
		ENSURE((const uint8_t *)v->data + v->count == u->at);
	if (v->type == UNPACK_INT)
		ENSURE(v->i < 0);
	if (v->type == UNPACK_BOOL)
		ENSURE(v->u <= 1);
}

/* As another implementation writes it, which takes the shortest form of each. */
static void value_pack(msgpack_packer *pk, const struct unpack_value *v)
{
	int err = 0;

	switch (v->type) {
	case UNPACK_NIL:
		err = msgpack_pack_nil(pk);
		break;
	case UNPACK_BOOL:
		err = v->u ? msgpack_pack_true(pk) : msgpack_pack_false(pk);
		break;
	case UNPACK_UINT:
		err = msgpack_pack_uint64(pk, v->u);
		break;
	case UNPACK_INT:
		err = msgpack_pack_int64(pk, v->i);
		break;
	case UNPACK_REAL:
		err = msgpack_pack_double(pk, v->d);
		break;
	case UNPACK_STR:
		err = msgpack_pack_str_with_body(pk, v->data, v->count);
		break;
	case UNPACK_BIN:
		err = msgpack_pack_bin_with_body(pk, v->data, v->count);
		break;
	case UNPACK_EXT:
		err = msgpack_pack_ext_with_body(pk, v->data, v->count, EXT_TYPE);
		break;
	case UNPACK_ARRAY:
		err = msgpack_pack_array(pk, v->count);
		break;
	default:
		err = msgpack_pack_map(pk, v->count);
		break;
	}
	ENSURE(!err);
}

static void same(const struct unpack_value *a, const struct unpack_value *b)
{
	ENSURE(a->type == b->type && a->count == b->count);
	if (a->type == UNPACK_STR || a->type == UNPACK_BIN || a->type == UNPACK_EXT)
		ENSURE(!memcmp(a->data, b->data, a->count));
	else if (a->type == UNPACK_UINT || a->type == UNPACK_INT || a->type == UNPACK_BOOL)
		ENSURE(a->u == b->u);
	else if (a->type == UNPACK_REAL)
		ENSURE(!memcmp(&a->d, &b->d, sizeof(a->d)) || (a->d != a->d && b->d != b->d));
}

/* Value by value; how many there are. */
static unsigned values(const uint8_t *data, size_t size, msgpack_packer *pk)
{
	struct unpack u = {data, data + size};
	struct unpack_value v;
	unsigned count = 0;

	while (!unpack_value(&u, &v)) {
		ENSURE(u.at > data && u.at <= data + size);
		value_check(&u, &v);
		value_pack(pk, &v);
		count++;
	}
	return count;
}

static void again(const uint8_t *data, size_t size, const msgpack_sbuffer *buf, unsigned count)
{
	const uint8_t *packed = (const uint8_t *)buf->data;
	struct unpack u = {data, data + size}, p = {packed, packed ? packed + buf->size : NULL};
	struct unpack_value a, b;

	while (count--) {
		ENSURE(!unpack_value(&u, &a) && !unpack_value(&p, &b));
		same(&a, &b);
	}
	ENSURE(p.at == p.end);
}

/* unpack_skip goes as far as reading value by value does. */
static void skip_check(const uint8_t *data, size_t size)
{
	struct unpack u = {data, data + size}, s = u;
	struct unpack_value v;
	uint64_t left = 1;
	int failed = 0;

	for (; left && !failed; left--) {
		failed = unpack_value(&u, &v);
		if (!failed && v.type == UNPACK_ARRAY)
			left += v.count;
		else if (!failed && v.type == UNPACK_MAP)
			left += 2ull * v.count;
	}
	ENSURE(!unpack_skip(&s) == !failed);
	if (!failed)
		ENSURE(s.at == u.at);
}

/* Those that want one type take it, and nothing else. */
static void typed_check(const uint8_t *data, size_t size)
{
	const struct unpack begin = {data, data + size};
	struct unpack u = begin;
	struct unpack_value v = {.type = UNPACK_TYPE_COUNT};
	uint64_t n;
	uint32_t count;

	if (unpack_value(&u, &v))
		v.type = UNPACK_TYPE_COUNT;
	u = begin;
	ENSURE(!unpack_uint(&u, &n) == (v.type == UNPACK_UINT) && (v.type != UNPACK_UINT || n == v.u));
	u = begin;
	ENSURE(!unpack_signed(&u, &n) == (v.type == UNPACK_UINT || v.type == UNPACK_INT));
	u = begin;
	ENSURE(!unpack_bool(&u, &n) == (v.type == UNPACK_BOOL));
	u = begin;
	ENSURE(!unpack_array(&u, &count) == (v.type == UNPACK_ARRAY) &&
	       (v.type != UNPACK_ARRAY || count == v.count));
}

/* A header is a map, or it is refused. */
static void header_check(const uint8_t *data, size_t size)
{
	json_t *header;

	if (size > UINT32_MAX || header_unpack(data, (uint32_t)size, &header))
		return;
	ENSURE(json_is_object(header));
	json_decref(header);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	msgpack_sbuffer buf;
	msgpack_packer pk;
	/* Of exactly this size: ASan sees a step beyond. */
	uint8_t *copy = malloc(size ? size : 1);
	unsigned count;

	ENSURE(copy);
	if (size)
		memcpy(copy, data, size);
	msgpack_sbuffer_init(&buf);
	msgpack_packer_init(&pk, &buf, msgpack_sbuffer_write);
	count = values(copy, size, &pk);
	again(copy, size, &buf, count);
	for (size_t at = 0; at <= size && at < 16; at++) {
		skip_check(copy + at, size - at);
		typed_check(copy + at, size - at);
	}
	header_check(copy, size);
	msgpack_sbuffer_destroy(&buf);
	free(copy);
	return 0;
}
