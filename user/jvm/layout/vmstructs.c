#include "jvm/layout/vmstructs.h"

#include "base/tables/array.h"
#include "jvm/target/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * HotSpot exports, for its serviceability agent, four tables in which a NULL name ends each: fields
 * (type, field, C++ type, is static, offset, address), types (name, size), int and long constants.
 * Their strides and the offsets within an entry are exported beside them, so that nothing is
 * assumed about the compiler. The names are literals of libjvm's .rodata, close together: one read
 * fetches them all.
 */

#define ENTRIES_MAX 16384
#define STRIDE_MAX 256
#define CHUNK_ENTRIES 512

struct field {
	const char *type, *name, *type_string;
	bool is_static;
	uint64_t offset, address;
};

struct value {
	const char *name;
	int64_t value;
};

struct values {
	struct value *v;
	size_t count;
};

struct vmstructs {
	struct mem_span names;
	struct field *fields;
	size_t field_count;
	struct values types, ints, longs;
};

/* The raw bytes of a table, up to its end. */
struct table {
	char *bytes;
	size_t capacity, count, stride;
};

static uint64_t get_u64(const char *entry, uint64_t offset)
{
	uint64_t value;

	memcpy(&value, entry + offset, sizeof(value));
	return value;
}

static uint32_t get_u32(const char *entry, uint64_t offset)
{
	uint32_t value;

	memcpy(&value, entry + offset, sizeof(value));
	return value;
}

static const char *table_entry(const struct table *t, size_t i)
{
	return t->bytes + i * t->stride;
}

/* Reads as much of a chunk as is mapped; at least one entry. */
static int chunk_read(const struct mem *m, uint64_t addr, char *ret, size_t stride, size_t *count)
{
	int err;

	do {
		err = m->read(m, addr, ret, *count * stride);
		if (err == -EFAULT && *count > 1)
			*count /= 2;
		else
			break;
	} while (true);
	return err;
}

static int table_read(const struct mem *m, uint64_t addr, size_t stride, uint64_t name_offset,
		      struct table *ret)
{
	struct table t = {.stride = stride};
	int err = 0;

	while (t.count < ENTRIES_MAX) {
		size_t n = CHUNK_ENTRIES, i;

		err = bytes_reserve(&t.bytes, &t.capacity, (t.count + n) * stride);
		if (!err)
			err = chunk_read(m, addr + t.count * stride, t.bytes + t.count * stride,
					 stride, &n);
		if (err)
			break;
		for (i = 0; i < n && get_u64(table_entry(&t, t.count + i), name_offset); i++)
			;
		t.count += i;
		if (i < n) {
			*ret = t;
			return 0;
		}
	}
	free(t.bytes);
	return err ? err : -EPROTO;
}

struct shape {
	uint64_t stride;
	uint64_t offset[6];
};

/* The stride is the symbol after the table's; n offsets follow it. */
static int shape_read(const struct mem *m, const uint64_t *symbols, enum vmsym stride, int n,
		      struct shape *ret)
{
	int err = mem_u64(m, symbols[stride], &ret->stride);

	/* These are plain constants in the file: never 0, even before relocation. */
	if (!err && (ret->stride < 16 || ret->stride > STRIDE_MAX))
		err = -EPROTO;
	for (int i = 0; !err && i < n; i++) {
		err = mem_u64(m, symbols[stride + 1 + (unsigned int)i], &ret->offset[i]);
		if (!err && ret->offset[i] > ret->stride - 8)
			err = -EPROTO;
	}
	return err;
}

static int table_load(const struct mem *m, const uint64_t *symbols, enum vmsym which, int offsets,
		      struct shape *ret_shape, struct table *ret)
{
	uint64_t addr;
	int err;

	err = shape_read(m, symbols, which + 1, offsets, ret_shape);
	if (!err)
		err = mem_u64(m, symbols[which], &addr);
	if (err)
		return err;
	if (!addr)
		return -EAGAIN;
	return table_read(m, addr, ret_shape->stride, ret_shape->offset[0], ret);
}

static void span_grow(const struct table *t, uint64_t offset, uint64_t *low, uint64_t *high)
{
	for (size_t i = 0; i < t->count; i++) {
		uint64_t addr = get_u64(table_entry(t, i), offset);

		if (addr && addr < *low)
			*low = addr;
		if (addr > *high)
			*high = addr;
	}
}

static int field_order(const void *a, const void *b)
{
	const struct field *x = a, *y = b;
	int order = strcmp(x->type, y->type);

	return order ? order : strcmp(x->name, y->name);
}

static int value_order(const void *a, const void *b)
{
	return strcmp(((const struct value *)a)->name, ((const struct value *)b)->name);
}

static int fields_fill(struct vmstructs *v, const struct table *t, const struct shape *s)
{
	v->fields = calloc(t->count + 1, sizeof(*v->fields));
	if (!v->fields)
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++) {
		const char *entry = table_entry(t, i);
		struct field f = {
			.type = mem_span_string(&v->names, get_u64(entry, s->offset[0])),
			.name = mem_span_string(&v->names, get_u64(entry, s->offset[1])),
			.type_string = mem_span_string(&v->names, get_u64(entry, s->offset[2])),
			.is_static = get_u32(entry, s->offset[3]) != 0,
			.offset = get_u64(entry, s->offset[4]),
			.address = get_u64(entry, s->offset[5]),
		};

		if (f.type && f.name)
			v->fields[v->field_count++] = f;
	}
	qsort(v->fields, v->field_count, sizeof(*v->fields), field_order);
	return 0;
}

static int values_fill(const struct mem_span *names, const struct table *t, const struct shape *s,
		       bool wide, struct values *ret)
{
	ret->v = calloc(t->count + 1, sizeof(*ret->v));
	if (!ret->v)
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++) {
		const char *entry = table_entry(t, i);
		const char *name = mem_span_string(names, get_u64(entry, s->offset[0]));

		if (!name)
			continue;
		ret->v[ret->count++] = (struct value){
			.name = name,
			.value = wide ? (int64_t)get_u64(entry, s->offset[1])
				      : (int32_t)get_u32(entry, s->offset[1]),
		};
	}
	qsort(ret->v, ret->count, sizeof(*ret->v), value_order);
	return 0;
}

enum { FIELDS, TYPES, INTS, LONGS, TABLES };

static const struct {
	enum vmsym symbol;
	int offsets; /* of an entry; the names' come first */
	int names;
} tables[TABLES] = {
	[FIELDS] = {VMSYM_STRUCTS, 6, 3},
	[TYPES] = {VMSYM_TYPES, 2, 1},
	[INTS] = {VMSYM_INTS, 2, 1},
	[LONGS] = {VMSYM_LONGS, 2, 1},
};

static int names_read(const struct mem *m, const struct table *t, const struct shape *s,
		      struct mem_span *ret)
{
	uint64_t low = UINT64_MAX, high = 0;
	int err;

	for (int i = 0; i < TABLES; i++)
		for (int k = 0; k < tables[i].names; k++)
			span_grow(&t[i], s[i].offset[k], &low, &high);
	if (!high)
		return -EAGAIN;
	err = mem_span_read(m, low, high, ret);
	return err == -E2BIG ? -EPROTO : err;
}

int vmstructs_load(const struct mem *m, const uint64_t symbols[VMSYM_COUNT], struct vmstructs **ret)
{
	struct vmstructs *v = calloc(1, sizeof(*v));
	struct table t[TABLES] = {0};
	struct shape s[TABLES];
	int err = v ? 0 : -ENOMEM;

	for (int i = 0; !err && i < TABLES; i++)
		err = table_load(m, symbols, tables[i].symbol, tables[i].offsets, &s[i], &t[i]);
	if (!err)
		err = names_read(m, t, s, &v->names);
	if (!err)
		err = fields_fill(v, &t[FIELDS], &s[FIELDS]);
	if (!err)
		err = values_fill(&v->names, &t[TYPES], &s[TYPES], true, &v->types);
	if (!err)
		err = values_fill(&v->names, &t[INTS], &s[INTS], false, &v->ints);
	if (!err)
		err = values_fill(&v->names, &t[LONGS], &s[LONGS], true, &v->longs);
	for (int i = 0; i < TABLES; i++)
		free(t[i].bytes);
	if (err)
		vmstructs_free(v);
	else
		*ret = v;
	return err;
}

void vmstructs_free(struct vmstructs *v)
{
	if (!v)
		return;
	free(v->names.bytes);
	free(v->fields);
	free(v->types.v);
	free(v->ints.v);
	free(v->longs.v);
	free(v);
}

static const struct field *field_find(const struct vmstructs *v, const char *type, const char *name)
{
	struct field key = {.type = type, .name = name};

	return bsearch(&key, v->fields, v->field_count, sizeof(key), field_order);
}

static const struct value *value_find(const struct values *values, const char *name)
{
	struct value key = {.name = name};

	return bsearch(&key, values->v, values->count, sizeof(key), value_order);
}

int vmstructs_offset(const struct vmstructs *v, const char *type, const char *field, uint32_t *ret)
{
	const struct field *f = field_find(v, type, field);
	uint32_t size;

	if (!f || f->is_static)
		return -ENOENT;
	if (vmstructs_size(v, type, &size))
		return -EPROTO;
	/* A flexible array begins at the end of its type, or within its padding. */
	if (f->offset > size)
		return -EPROTO;
	*ret = (uint32_t)f->offset;
	return 0;
}

int vmstructs_address(const struct vmstructs *v, const char *type, const char *field, uint64_t *ret)
{
	const struct field *f = field_find(v, type, field);

	if (!f || !f->is_static || !f->address)
		return -ENOENT;
	*ret = f->address;
	return 0;
}

const char *vmstructs_field_type(const struct vmstructs *v, const char *type, const char *field)
{
	const struct field *f = field_find(v, type, field);

	return f ? f->type_string : NULL;
}

int vmstructs_size(const struct vmstructs *v, const char *type, uint32_t *ret)
{
	const struct value *t = value_find(&v->types, type);

	if (!t || t->value <= 0 || t->value > (1 << 20))
		return -ENOENT;
	*ret = (uint32_t)t->value;
	return 0;
}

int vmstructs_constant(const struct vmstructs *v, const char *name, int64_t *ret)
{
	const struct value *c = value_find(&v->ints, name);

	if (!c)
		c = value_find(&v->longs, name);
	if (!c)
		return -ENOENT;
	*ret = c->value;
	return 0;
}
