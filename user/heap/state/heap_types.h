/* heap/state/heap_types.h: the types of a heap's objects: names, fields, class loaders. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/tables/keymap.h"

#define HEAP_NONE UINT32_MAX

/* What a field or an element is; the numbers are those of .hprof. */
enum heap_value {
	HEAP_REFERENCE = 2,
	HEAP_BOOLEAN = 4,
	HEAP_CHAR,
	HEAP_FLOAT,
	HEAP_DOUBLE,
	HEAP_BYTE,
	HEAP_SHORT,
	HEAP_INT,
	HEAP_LONG,
	HEAP_VALUE_COUNT,
};

/* Bytes in the heap, and in a dump; 0: there is no such value. References depend. */
static inline unsigned heap_value_bytes(unsigned value, unsigned reference_bytes)
{
	static const uint8_t bytes[HEAP_VALUE_COUNT] = {
		[HEAP_BOOLEAN] = 1, [HEAP_CHAR] = 2,  [HEAP_FLOAT] = 4, [HEAP_DOUBLE] = 8,
		[HEAP_BYTE] = 1,    [HEAP_SHORT] = 2, [HEAP_INT] = 4,   [HEAP_LONG] = 8,
	};

	if (value == HEAP_REFERENCE)
		return reference_bytes;
	return value < HEAP_VALUE_COUNT ? bytes[value] : 0;
}

enum heap_kind { HEAP_INSTANCE, HEAP_OBJECT_ARRAY, HEAP_PRIMITIVE_ARRAY, HEAP_KIND_COUNT };

struct heap_field {
	uint32_t name; /* of heap_types_text */
	uint8_t value;
};

/* How much room the objects of a type took at most, as the distance to the next object says. */
struct heap_gap {
	int64_t least; /* HEAP_NO_GAP: no distance is known; of arrays: without elements */
	int64_t wide;  /* of object arrays: if references have 8 bytes; least: if they have 4 */
};

#define HEAP_NO_GAP INT64_MAX

struct heap_type {
	uint64_t id; /* of its java.lang.Class; 0: unknown */
	uint64_t super_id, loader_id;
	uint32_t name, super; /* HEAP_NONE: none */
	uint32_t fields, field_count, statics, static_count;
	uint8_t kind, element;
	bool defined; /* its fields are known */
	bool laid_out;
	uint32_t class_object; /* its ordinal; HEAP_NONE */
	uint32_t desc;         /* of its instances; HEAP_NONE: there is none yet */
	/* Of an instance, with its superclasses, in the order of a dump. */
	uint32_t body_bytes, refs, ref_count;
	struct heap_gap gap, class_gap; /* class_gap: of its java.lang.Class */
	uint64_t bytes;                 /* of an instance; of an array without elements */
	uint64_t class_bytes;           /* of its java.lang.Class */
};

/* A reference field of an instance: where it is in a dump, and whose it is. */
struct heap_ref {
	uint32_t at, field, owner;
};

struct heap_types {
	struct heap_type *all;
	struct heap_field *fields;
	struct heap_ref *refs;
	struct keymap by_id, texts; /* texts: by the dump's id */
	uint64_t *text_at;
	char *text;
	uint64_t text_used;
	size_t text_room;
	uint32_t count, field_count, ref_count;
	uint32_t capacity, field_capacity, ref_capacity, text_capacity;
	unsigned id_bytes;
};

/* The types of primitive arrays come first: that of an element is heap_types_array(element). */
int heap_types_init(struct heap_types *t, unsigned id_bytes); /* -ENOMEM */
void heap_types_free(struct heap_types *t);

static inline uint32_t heap_types_array(unsigned element)
{
	return element - HEAP_BOOLEAN;
}

/* A text that types and fields are called by; later ones of the same id are left out. -ENOMEM. */
int heap_types_text_add(struct heap_types *t, uint64_t id, const void *bytes, uint32_t count);
/* HEAP_NONE: there is none of this id. */
uint32_t heap_types_text_find(const struct heap_types *t, uint64_t id);
/* "" for HEAP_NONE. Lent until the next text is added. */
const char *heap_types_text(const struct heap_types *t, uint32_t text);

/* The type of a class's id, a new one without a name if need be. -ENOMEM. */
int heap_types_add(struct heap_types *t, uint64_t id, uint32_t *ret);
/* Gives a type the JVM's name of a class: "java/lang/String", "[[I". -ENOMEM. */
int heap_types_name(struct heap_types *t, uint32_t type, uint32_t text);
/* As a program has it: "java.lang.String", "int[][]". Lent until the next text is added. */
const char *heap_type_name(const struct heap_types *t, uint32_t type);
/* Appends to the fields, for type's fields or statics. -ENOMEM. */
int heap_types_field(struct heap_types *t, uint32_t name, uint8_t value);

/*
 * Where references are in an instance's fields; superclasses must be known. 0; -ENOENT: the class
 * or a superclass has no definition; -ELOOP: it is its own superclass; -ENOMEM.
 */
int heap_types_lay_out(struct heap_types *t, uint32_t type);
/* Whether type is, or is below, the one of this name. */
bool heap_type_is(const struct heap_types *t, uint32_t type, const char *name);
