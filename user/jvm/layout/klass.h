/* jvm/layout/klass.h: HotSpot's classes, found by name, and the offsets of their Java fields. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mem;
struct vmstructs;

/* Where the parts of Klass, Symbol, ConstantPool and the class lists are, from vmStructs. */
struct klass_shape {
	uint32_t klass_size, klass_name, klass_next_link, klass_super_check_offset;
	uint32_t symbol_length, symbol_body;
	uint32_t ik_constants, ik_fields, ik_java_fields_count;
	bool field_stream; /* JDK 21+: _fieldinfo_stream instead of _fields */
	uint32_t pool_size, pool_length;
	uint32_t u1_data, u2_data; /* Array<u1>::_data, Array<u2>::_data */
	uint32_t field_slots, field_name, field_low, field_high, field_access;
	uint32_t field_tag_size, field_tag_offset;
	uint32_t cld_class_loader, cld_next, cld_klasses;
	uint64_t cld_head; /* address of ClassLoaderDataGraph::_head */
	uint64_t thread, string,
		thread_holder; /* addresses of vmClasses' pointers; 0: not listed */
};

/* -ENOENT, -EPROTO: *ret_missing, if not NULL, is the static name of what is missing. */
int klass_shape_load(const struct vmstructs *v, struct klass_shape *ret, const char **ret_missing);

/* The offset of an instance field of a class; -ENOENT: it declares none of that name and signature.
 */
int klass_field(const struct mem *m, const struct klass_shape *s, uint64_t klass, const char *name,
		const char *signature, int32_t *ret);

/* Whether a class has this name, '/' separated. */
bool klass_is_named(const struct mem *m, const struct klass_shape *s, uint64_t klass,
		    const char *name);

/* Looks for classes in the list of the boot loader, of which only what is new is read. */
struct klass_walk {
	uint64_t boot;  /* its ClassLoaderData, once found */
	uint64_t seen;  /* the newest class that has been looked at */
	uint64_t steps; /* along the target's lists, of all walks */
};

struct klass_query {
	const char *name; /* '/' separated */
	uint64_t klass;   /* 0: not found yet */
};

/* What all walks of a target may take together: a target's lists need not have an end. */
#define KLASS_STEPS_MAX 4000000

/* Fills in what it finds. 1: something new, 0: nothing, also when w->steps is KLASS_STEPS_MAX; or a
 * negative errno (what was found stays). */
int klass_walk(const struct mem *m, const struct klass_shape *s, struct klass_walk *w,
	       struct klass_query *needed, size_t count);
