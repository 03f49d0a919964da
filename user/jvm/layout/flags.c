#include "jvm/layout/flags.h"

#include "jvm/layout/vmstructs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS_MAX 16384

struct flag_shape {
	uint64_t table, count;
	uint32_t size, name, addr;
	uint32_t flags; /* at or past size: this JVM's tables do not have it */
};

static int shape_load(const struct mem *m, const struct vmstructs *v, struct flag_shape *ret)
{
	uint64_t table, count;
	int err;

	if (vmstructs_address(v, "JVMFlag", "flags", &table) ||
	    vmstructs_address(v, "JVMFlag", "numFlags", &count) ||
	    vmstructs_offset(v, "JVMFlag", "_name", &ret->name) ||
	    vmstructs_offset(v, "JVMFlag", "_addr", &ret->addr) ||
	    vmstructs_size(v, "JVMFlag", &ret->size))
		return -ENOTSUP;
	if (ret->name + 8ull > ret->size || ret->addr + 8ull > ret->size || ret->size > 256)
		return -ENOTSUP;
	if (vmstructs_offset(v, "JVMFlag", "_flags", &ret->flags) || ret->flags + 4ull > ret->size)
		ret->flags = ret->size;
	err = mem_u64(m, table, &ret->table);
	if (!err)
		err = mem_u64(m, count, &ret->count);
	if (!err && (!ret->table || !ret->count))
		err = -EAGAIN;
	if (!err && ret->count > FLAGS_MAX)
		err = -ENOTSUP;
	return err;
}

static int flag_order(const void *a, const void *b)
{
	return strcmp(((const struct flag *)a)->name, ((const struct flag *)b)->name);
}

static uint64_t word(const char *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static int table_fill(const struct mem *m, const struct flag_shape *s, const char *raw,
		      struct flag_table *t)
{
	uint64_t low = UINT64_MAX, high = 0;
	int err;

	for (uint64_t i = 0; i < s->count; i++) {
		uint64_t name = word(raw + i * s->size + s->name);

		if (name && name < low)
			low = name;
		if (name > high)
			high = name;
	}
	if (!high)
		return -EAGAIN;
	err = mem_span_read(m, low, high, &t->names);
	if (err)
		return err == -E2BIG ? -ENOTSUP : err;
	t->flags = calloc(s->count, sizeof(*t->flags));
	if (!t->flags)
		return -ENOMEM;
	for (uint64_t i = 0; i < s->count; i++) {
		const char *entry = raw + i * s->size;
		const char *name = mem_span_string(&t->names, word(entry + s->name));
		uint64_t origin = s->table + i * s->size + s->flags;

		if (name && *name)
			t->flags[t->count++] = (struct flag){
				.name = name,
				.addr = word(entry + s->addr),
				.origin = s->flags < s->size ? origin : 0,
			};
	}
	qsort(t->flags, t->count, sizeof(*t->flags), flag_order);
	return 0;
}

int flag_table_load(const struct mem *m, const struct vmstructs *v, struct flag_table *ret)
{
	struct flag_table t = {0};
	struct flag_shape s;
	char *raw = NULL;
	int err = shape_load(m, v, &s);

	if (err)
		return err;
	raw = malloc(s.count * s.size);
	err = raw ? m->read(m, s.table, raw, s.count * s.size) : -ENOMEM;
	if (!err)
		err = table_fill(m, &s, raw, &t);
	free(raw);
	if (err)
		flag_table_free(&t);
	else
		*ret = t;
	return err;
}

void flag_table_free(struct flag_table *t)
{
	free(t->names.bytes);
	free(t->flags);
	*t = (struct flag_table){0};
}

const struct flag *flag_find(const struct flag_table *t, const char *name)
{
	struct flag key = {.name = name};

	return t->count ? bsearch(&key, t->flags, t->count, sizeof(key), flag_order) : NULL;
}

int flag_bool(const struct mem *m, const struct flag_table *t, const char *name, bool *ret)
{
	const struct flag *f = flag_find(t, name);
	unsigned char byte;
	int err;

	if (!f || !f->addr)
		return -ENOENT;
	err = m->read(m, f->addr, &byte, 1);
	if (err)
		return err;
	if (byte > 1)
		return -EINVAL;
	*ret = byte;
	return 0;
}
