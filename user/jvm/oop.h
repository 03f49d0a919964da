/* jvm/oop.h: references and java.lang.Strings in a target's heap. */
#pragma once

#include "jvm/jvm.h"

struct mem;

/* What a handle in the VM's memory refers to; 0: null. With ZGC the object may have moved since:
 * what is read of it must be checked. */
int oop_handle(const struct mem *m, const struct jvm_layout *l, uint64_t addr, uint64_t *ret);
/* What a field of an object at addr refers to; 0: null. */
int oop_field(const struct mem *m, const struct jvm_layout *l, uint64_t addr, uint64_t *ret);
/* The class of an object. */
int oop_klass(const struct mem *m, const struct jvm_layout *l, uint64_t oop, uint64_t *ret);
/*
 * A java.lang.String as UTF-8, cut at a character to size - 1 bytes. -EPROTO: what is there is no
 * String, or was moved away meanwhile.
 */
int oop_string(const struct mem *m, const struct jvm_layout *l, uint64_t string_klass, uint64_t oop,
	       char *ret, size_t size);
