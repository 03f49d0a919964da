/* tests/unit/heap/class_maker.h: class files and jars, byte by byte, as a compiler would make them. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAKER_CONSTANTS 400

struct class_maker {
	uint8_t pool[16384], body[16384], code[4096];
	size_t pool_used, body_used, code_used;
	uint16_t constants, methods;
	char texts[MAKER_CONSTANTS][80]; /* by index: of a text */
	size_t method_at, count_at;
};

static inline void put_n(uint8_t *to, size_t *used, uint64_t n, unsigned bytes)
{
	while (bytes--)
		to[(*used)++] = (uint8_t)(n >> 8 * bytes);
}

static inline uint16_t make_utf8(struct class_maker *m, const char *text)
{
	for (uint16_t i = 1; i <= m->constants; i++)
		if (!strcmp(m->texts[i], text))
			return i;
	put_n(m->pool, &m->pool_used, 1, 1);
	put_n(m->pool, &m->pool_used, strlen(text), 2);
	memcpy(m->pool + m->pool_used, text, strlen(text));
	m->pool_used += strlen(text);
	strcpy(m->texts[++m->constants], text);
	return m->constants;
}

static inline uint16_t make_constant(struct class_maker *m, unsigned tag, uint64_t n, unsigned bytes)
{
	put_n(m->pool, &m->pool_used, tag, 1);
	put_n(m->pool, &m->pool_used, n, bytes);
	return ++m->constants;
}

static inline uint16_t make_class_ref(struct class_maker *m, const char *name)
{
	return make_constant(m, 7, make_utf8(m, name), 2);
}

static inline uint16_t make_method_ref(struct class_maker *m, unsigned tag, const char *class, const char *name)
{
	uint16_t c = make_class_ref(m, class), n = make_utf8(m, name), d = make_utf8(m, "()V");
	uint16_t pair = make_constant(m, 12, (uint64_t)n << 16 | d, 4);

	return make_constant(m, tag, (uint64_t)c << 16 | pair, 4);
}

/* super NULL: of java/lang/Object. interfaces ends in NULL. */
static inline void class_begin(struct class_maker *m, const char *name, const char *super, unsigned access,
			       const char *const *interfaces)
{
	uint16_t refs[8], count = 0;

	memset(m, 0, sizeof(*m));
	for (; interfaces && interfaces[count]; count++)
		refs[count] = make_class_ref(m, interfaces[count]);
	put_n(m->body, &m->body_used, access, 2);
	put_n(m->body, &m->body_used, make_class_ref(m, name), 2);
	put_n(m->body, &m->body_used, make_class_ref(m, super ? super : "java/lang/Object"), 2);
	put_n(m->body, &m->body_used, count, 2);
	for (uint16_t i = 0; i < count; i++)
		put_n(m->body, &m->body_used, refs[i], 2);
	put_n(m->body, &m->body_used, 0, 2); /* fields */
	m->count_at = m->body_used;
	put_n(m->body, &m->body_used, 0, 2);
}

/* "()V" all. */
static inline void method_begin(struct class_maker *m, const char *name, unsigned access)
{
	put_n(m->body, &m->body_used, access, 2);
	put_n(m->body, &m->body_used, make_utf8(m, name), 2);
	put_n(m->body, &m->body_used, make_utf8(m, "()V"), 2);
	m->method_at = m->body_used;
	m->code_used = 0;
	m->methods++;
}

enum { MAKE_VIRTUAL = 0xb6, MAKE_SPECIAL, MAKE_STATIC, MAKE_INTERFACE };

static inline void make_call(struct class_maker *m, unsigned op, const char *class, const char *name)
{
	put_n(m->code, &m->code_used, op, 1);
	put_n(m->code, &m->code_used, make_method_ref(m, op == MAKE_INTERFACE ? 11 : 10, class, name), 2);
	if (op == MAKE_INTERFACE)
		put_n(m->code, &m->code_used, 0x0100, 2);
}

static inline void make_op(struct class_maker *m, unsigned op)
{
	put_n(m->code, &m->code_used, op, 1);
}

static inline void method_end_annotated(struct class_maker *m, const char *annotation)
{
	make_op(m, 0xb1);
	put_n(m->body, &m->body_used, annotation ? 2 : 1, 2);
	put_n(m->body, &m->body_used, make_utf8(m, "Code"), 2);
	put_n(m->body, &m->body_used, 12 + m->code_used, 4);
	put_n(m->body, &m->body_used, 0x00010001, 4);
	put_n(m->body, &m->body_used, m->code_used, 4);
	memcpy(m->body + m->body_used, m->code, m->code_used);
	m->body_used += m->code_used;
	put_n(m->body, &m->body_used, 0, 4); /* exceptions, attributes */
	if (annotation) {
		put_n(m->body, &m->body_used, make_utf8(m, annotation), 2);
		put_n(m->body, &m->body_used, 2, 4);
		put_n(m->body, &m->body_used, 0, 2);
	}
}

static inline void method_end(struct class_maker *m)
{
	method_end_annotated(m, NULL);
}

/* A method that calls one other, or none (op 0). */
static inline void make_method(struct class_maker *m, const char *name, unsigned access, unsigned op, const char *class,
			       const char *callee)
{
	method_begin(m, name, access);
	if (op)
		make_call(m, op, class, callee);
	method_end(m);
}

static inline void make_string(struct class_maker *m, const char *text)
{
	make_constant(m, 8, make_utf8(m, text), 2);
}

static inline void make_handle(struct class_maker *m, const char *class, const char *name)
{
	make_constant(m, 15, 6u << 16 | make_method_ref(m, 10, class, name), 3);
}

/* To be freed. */
static inline uint8_t *class_end(struct class_maker *m, size_t *ret_count)
{
	uint8_t *file = malloc(16 + m->pool_used + m->body_used);
	size_t used = 0, at = m->count_at;

	put_n(m->body, &at, m->methods, 2);
	put_n(file, &used, 0xcafebabe, 4);
	put_n(file, &used, 52, 4);
	put_n(file, &used, m->constants + 1u, 2);
	memcpy(file + used, m->pool, m->pool_used);
	used += m->pool_used;
	memcpy(file + used, m->body, m->body_used);
	used += m->body_used;
	put_n(file, &used, 0, 2);
	*ret_count = used;
	return file;
}
