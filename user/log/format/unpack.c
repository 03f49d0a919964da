#include "log/format/unpack.h"

#include <errno.h>
#include <string.h>

/* By the first byte, from 0xc0 to 0xdf: the value's type, and the size of its number or length. */
struct form {
	uint8_t type;
	uint8_t size;
};

/* UNPACK_TYPE_COUNT: not used by msgpack. */
static const struct form forms[] = {
	{UNPACK_NIL, 0},   {UNPACK_TYPE_COUNT, 0}, {UNPACK_BOOL, 0}, {UNPACK_BOOL, 0},
	{UNPACK_BIN, 1},   {UNPACK_BIN, 2},        {UNPACK_BIN, 4},  {UNPACK_EXT, 1},
	{UNPACK_EXT, 2},   {UNPACK_EXT, 4},        {UNPACK_REAL, 4}, {UNPACK_REAL, 8},
	{UNPACK_UINT, 1},  {UNPACK_UINT, 2},       {UNPACK_UINT, 4}, {UNPACK_UINT, 8},
	{UNPACK_INT, 1},   {UNPACK_INT, 2},        {UNPACK_INT, 4},  {UNPACK_INT, 8},
	{UNPACK_EXT, 0},   {UNPACK_EXT, 0},        {UNPACK_EXT, 0},  {UNPACK_EXT, 0},
	{UNPACK_EXT, 0},   {UNPACK_STR, 1},        {UNPACK_STR, 2},  {UNPACK_STR, 4},
	{UNPACK_ARRAY, 2}, {UNPACK_ARRAY, 4},      {UNPACK_MAP, 2},  {UNPACK_MAP, 4},
};

_Static_assert(sizeof(forms) / sizeof(*forms) == 0xe0 - 0xc0, "one form per first byte");

#define FIXEXT1 0xd4
#define TRUE_BYTE 0xc3

/* The caller has made sure that the bytes are there. */
static uint64_t number(const uint8_t *p, unsigned size)
{
	uint64_t value = 0;

	while (size--)
		value = value << 8 | *p++;
	return value;
}

static double real(uint64_t bits, unsigned size)
{
	uint32_t bits32 = (uint32_t)bits;
	double d;
	float f;

	if (size == 4) {
		memcpy(&f, &bits32, sizeof(f));
		return (double)f;
	}
	memcpy(&d, &bits, sizeof(d));
	return d;
}

/* A type byte and count bytes for an extension, count bytes for the others. */
static int take_data(struct unpack *u, uint64_t count, struct unpack_value *ret)
{
	uint64_t bytes = count + (ret->type == UNPACK_EXT);

	if (bytes > (uint64_t)(u->end - u->at))
		return -EBADMSG;
	ret->data = (const char *)u->at + (bytes - count);
	ret->count = (uint32_t)count;
	u->at += bytes;
	return 0;
}

static int take_signed(uint64_t n, unsigned size, struct unpack_value *ret)
{
	unsigned shift = 64 - 8 * size;

	ret->i = (int64_t)(n << shift) >> shift;
	ret->type = ret->i < 0 ? UNPACK_INT : UNPACK_UINT;
	return 0;
}

static int take_form(struct unpack *u, unsigned first, struct unpack_value *ret)
{
	const struct form *form = &forms[first - 0xc0];
	uint64_t n;

	if (form->type == UNPACK_TYPE_COUNT || form->size > u->end - u->at)
		return -EBADMSG;
	n = number(u->at, form->size);
	u->at += form->size;
	ret->type = form->type;
	switch (ret->type) {
	case UNPACK_UINT:
		ret->u = n;
		return 0;
	case UNPACK_INT:
		return take_signed(n, form->size, ret);
	case UNPACK_REAL:
		ret->d = real(n, form->size);
		return 0;
	case UNPACK_BOOL:
		ret->u = first == TRUE_BYTE;
		return 0;
	case UNPACK_EXT:
		return take_data(u, form->size ? n : 1ull << (first - FIXEXT1), ret);
	case UNPACK_STR:
	case UNPACK_BIN:
		return take_data(u, n, ret);
	default:
		ret->count = (uint32_t)n;
		return 0;
	}
}

int unpack_value(struct unpack *u, struct unpack_value *ret)
{
	unsigned first;

	if (u->at == u->end)
		return -EBADMSG;
	first = *u->at++;
	ret->count = 0;
	if (first < 0x80 || first >= 0xe0) {
		ret->i = (int8_t)first;
		ret->type = ret->i < 0 ? UNPACK_INT : UNPACK_UINT;
		return 0;
	}
	if (first >= 0xc0)
		return take_form(u, first, ret);
	if (first >= 0xa0) {
		ret->type = UNPACK_STR;
		return take_data(u, first & 0x1f, ret);
	}
	ret->type = first < 0x90 ? UNPACK_MAP : UNPACK_ARRAY;
	ret->count = first & 0x0f;
	return 0;
}

int unpack_uint(struct unpack *u, uint64_t *ret)
{
	struct unpack_value value;

	if (u->at < u->end && *u->at < 0x80) {
		*ret = *u->at++;
		return 0;
	}
	if (unpack_value(u, &value) || value.type != UNPACK_UINT)
		return -EBADMSG;
	*ret = value.u;
	return 0;
}

int unpack_signed(struct unpack *u, uint64_t *ret)
{
	struct unpack_value value;

	if (unpack_value(u, &value) || (value.type != UNPACK_UINT && value.type != UNPACK_INT))
		return -EBADMSG;
	*ret = value.u;
	return 0;
}

int unpack_bool(struct unpack *u, uint64_t *ret)
{
	struct unpack_value value;

	if (unpack_value(u, &value) || value.type != UNPACK_BOOL)
		return -EBADMSG;
	*ret = value.u;
	return 0;
}

int unpack_array(struct unpack *u, uint32_t *ret_count)
{
	struct unpack_value value;

	if (unpack_value(u, &value) || value.type != UNPACK_ARRAY)
		return -EBADMSG;
	*ret_count = value.count;
	return 0;
}

int unpack_skip(struct unpack *u)
{
	struct unpack_value value;
	uint64_t left;

	/* Ends: each value takes a byte, and left is at most 2 * 2^32 a byte. */
	for (left = 1; left; left--) {
		if (unpack_value(u, &value))
			return -EBADMSG;
		if (value.type == UNPACK_ARRAY)
			left += value.count;
		else if (value.type == UNPACK_MAP)
			left += 2ull * value.count;
	}
	return 0;
}
