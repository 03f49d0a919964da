#include "jvm/code/method.h"

#include "base/text/utf.h"
#include "jvm/code/scopes.h"
#include "jvm/layout/code_layout.h"
#include "jvm/target/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A Method points to its ConstMethod: counts and indices, then the bytecodes, the line table, and
 * tables that are of no interest here. The indices are of the constant pool, whose entries follow
 * the ConstantPool; for a name the entry is the address of a Symbol. The pool knows its class.
 */

#define ACC_NATIVE 0x100
#define CONST_MAX (1u << 20) /* a ConstMethod has 64 KiB of bytecode at most */
#define CONST_HEAD_MAX 1024  /* as code_layout_load allows */

/* --- text -------------------------------------------------------------------------------- */

/* Bytes that a sequence with this first byte has. */
static size_t sequence_length(uint8_t first)
{
	return first < 0x80             ? 1
	       : (first & 0xe0) == 0xc0 ? 2
	       : (first & 0xf0) == 0xe0 ? 3
	       : (first & 0xf8) == 0xf0 ? 4
					: 1;
}

void method_text(const uint8_t *text, size_t len, bool cut, bool dots, char *ret)
{
	size_t at = 0;

	while (at < len) {
		const uint8_t *s = text + at;
		size_t left = len - at, n = sequence_length(s[0]);

		if (utf8_of_surrogates(s, left, ret)) {
			ret += 4;
			at += 6;
			continue;
		}
		if (cut && (n > left || (s[0] == 0xed && left < 6)))
			break;
		if (utf8_sequence(s, left) != n) {
			*ret++ = '?';
			at++;
			continue;
		}
		memcpy(ret, s, n);
		if (dots && *ret == '/')
			*ret = '.';
		ret += n;
		at += n;
	}
	strcpy(ret, cut ? "..." : "");
}

/* --- reading ----------------------------------------------------------------------------- */

static int symbol_read(const struct mem *m, const struct code_layout *l, uint64_t addr, bool dots,
		       char **ret)
{
	uint8_t text[METHOD_NAME_MAX];
	uint16_t length;
	size_t take;
	int err = addr ? mem_u16(m, addr + l->symbol_length, &length) : -EPROTO;

	if (err)
		return err;
	take = length < METHOD_NAME_MAX ? length : METHOD_NAME_MAX;
	err = m->read(m, addr + l->symbol_body, text, take);
	if (err)
		return err;
	*ret = malloc(take + 4);
	if (!*ret)
		return -ENOMEM;
	method_text(text, take, take < length, dots, *ret);
	return 0;
}

struct pool {
	uint64_t addr;
	uint32_t length;
};

static int pool_symbol(const struct mem *m, const struct code_layout *l, const struct pool *p,
		       uint32_t index, char **ret)
{
	uint64_t symbol;
	int err;

	if (!index || index >= p->length)
		return -EPROTO;
	err = mem_u64(m, p->addr + l->pool_size + 8 * (uint64_t)index, &symbol);
	return err ? err : symbol_read(m, l, symbol, false, ret);
}

static int class_read(const struct mem *m, const struct code_layout *l, const struct pool *p,
		      struct method *ret)
{
	uint64_t klass, name;
	uint16_t source;
	int err = mem_u64(m, p->addr + l->pool_holder, &klass);

	if (!err)
		err = klass ? mem_u64(m, klass + l->klass_name, &name) : -EPROTO;
	if (!err)
		err = symbol_read(m, l, name, true, &ret->class_name);
	if (!err)
		err = mem_u16(m,
			      l->klass_source ? klass + l->klass_source : p->addr + l->pool_source,
			      &source);
	/* The Methods of linkToStatic and its like have a pool of their own, of two names, with a
	 * copy of the fields of their class's pool: the index is of that one. */
	if (!err && source && source < p->length)
		return pool_symbol(m, l, p, source, &ret->source);
	if (!err)
		ret->source = strdup("");
	return err || ret->source ? err : -ENOMEM;
}

/* The line table begins after the bytecodes; what else the ConstMethod has follows it. */
static int lines_read(const struct mem *m, const struct code_layout *l, uint64_t addr, size_t size,
		      struct method *ret)
{
	size_t begin = l->const_size + ret->code_size, table;
	struct line_table read = {.number_excluded = l->number_excluded};
	uint8_t *bytes, *fitting;
	uint32_t line;
	int err;

	if (begin >= size)
		return -EPROTO;
	bytes = malloc(size - begin);
	if (!bytes)
		return -ENOMEM;
	read.bytes = bytes;
	read.size = size - begin;
	err = m->read(m, addr + begin, bytes, size - begin);
	if (!err)
		err = scopes_line(&read, 0, &line, &table);
	if (err) {
		free(bytes);
		return err;
	}
	fitting = realloc(bytes, table);
	ret->lines = fitting ? fitting : bytes;
	ret->lines_size = table;
	ret->number_excluded = l->number_excluded;
	return 0;
}

struct const_method {
	uint64_t pool;
	uint32_t words, flags;
	uint16_t code_size, name, signature;
};

static int const_read(const struct mem *m, const struct code_layout *l, uint64_t addr,
		      struct const_method *ret)
{
	char head[CONST_HEAD_MAX];
	int err = addr ? m->read(m, addr, head, l->const_size) : -EPROTO;

	if (err)
		return err;
	memcpy(&ret->pool, head + l->const_pool, sizeof(ret->pool));
	memcpy(&ret->words, head + l->const_words, sizeof(ret->words));
	ret->flags = 0;
	memcpy(&ret->flags, head + l->const_flags, l->const_flags_bytes);
	memcpy(&ret->code_size, head + l->const_code_size, sizeof(ret->code_size));
	memcpy(&ret->name, head + l->const_name, sizeof(ret->name));
	memcpy(&ret->signature, head + l->const_signature, sizeof(ret->signature));
	if (!ret->pool || ret->words > CONST_MAX / 8)
		return -EPROTO;
	return 0;
}

static int parts_read(const struct mem *m, const struct code_layout *l, uint64_t addr,
		      struct method *ret)
{
	struct const_method c;
	uint64_t const_at, access;
	uint16_t flags = 0;
	struct pool pool;
	int err = mem_u64(m, addr + l->method_const, &const_at);

	if (!err && l->method_flags)
		err = mem_u16(m, addr + l->method_flags, &flags);
	if (!err)
		err = mem_number(m, addr + l->method_access, l->access_bytes, &access);
	if (!err)
		err = const_read(m, l, const_at, &c);
	if (!err)
		err = mem_u32(m, c.pool + l->pool_length, &pool.length);
	if (err)
		return err;
	pool.addr = c.pool;
	ret->hidden = (l->method_flags ? flags : c.flags) & l->method_hidden;
	ret->native = access & ACC_NATIVE;
	ret->code_size = c.code_size;
	err = pool_symbol(m, l, &pool, c.name, &ret->name);
	if (!err)
		err = pool_symbol(m, l, &pool, c.signature, &ret->signature);
	if (!err)
		err = class_read(m, l, &pool, ret);
	if (!err && !ret->native && c.flags & l->const_has_lines)
		err = lines_read(m, l, const_at, 8 * (size_t)c.words, ret);
	return err;
}

/* Whether there is a Method at the address; *ret is what it points to. */
static int method_check(const struct mem *m, const struct code_layout *l, uint64_t addr,
			uint64_t *ret)
{
	uint64_t vtable;
	int err = mem_u64(m, addr, &vtable);

	if (!err && (!vtable || (vtable != l->method_vtable && vtable != l->method_vtable_too)))
		err = -ESTALE;
	if (!err)
		err = mem_u64(m, addr + l->method_const, ret);
	return err == -EFAULT ? -ESTALE : err;
}

int method_read(const struct mem *m, const struct code_layout *l, uint64_t addr, struct method *ret)
{
	struct method found = {0};
	uint64_t before, after;
	int err = method_check(m, l, addr, &before), gone;

	if (err)
		return err;
	err = parts_read(m, l, addr, &found);
	if (err != -ENOMEM && err != -ESRCH) {
		gone = method_check(m, l, addr, &after);
		if (gone || before != after)
			err = gone ? gone : -ESTALE;
		else if (err == -EFAULT)
			err = -EPROTO;
	}
	if (err)
		method_clear(&found);
	else
		*ret = found;
	return err;
}

void method_clear(struct method *m)
{
	free(m->class_name);
	free(m->name);
	free(m->signature);
	free(m->source);
	free(m->lines);
	*m = (struct method){0};
}

uint32_t method_line(const struct method *m, uint32_t bci)
{
	const struct line_table t = {m->lines, m->lines_size, m->number_excluded};
	uint32_t line;

	if (!m->lines || scopes_line(&t, bci, &line, NULL))
		return 0;
	return line;
}
