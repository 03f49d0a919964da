/* jvm/code/scopes.h: debug information of compiled code: to which methods a pc belongs; line
 * tables. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_layout;
struct mem;

/* Where an nmethod keeps it, in the target. */
struct scopes {
	uint64_t data; /* compressed scopes */
	uint32_t data_size;
	uint64_t pcs; /* PcDescs, in the order of their pc */
	uint32_t pc_count;
	uint64_t metadata; /* addresses of Methods and others */
	uint32_t metadata_count;
	uint32_t number_excluded; /* see unsigned5.h */
};

/*
 * Finds the PcDesc for the offset of a pc in the code: that of this very offset, else, if not
 * exact, the next one. *ret_scope is the offset of its scope, 0: it has none; *ret_offset its own.
 * -EPROTO: there is none.
 */
int scopes_pc_find(const struct mem *m, const struct code_layout *l, const struct scopes *s,
		   uint32_t offset, bool exact, uint32_t *ret_scope, uint32_t *ret_offset);

struct scope {
	uint64_t method; /* address of the Method; not checked */
	uint32_t bci;
};

/* The scope at an offset that is not 0 and those that it was inlined into, innermost first: their
 * number. -EPROTO: they make no sense, or are more than max. */
int scopes_read(const struct mem *m, const struct scopes *s, uint32_t scope, struct scope *ret,
		size_t max);

/*
 * The scope in which the code at an offset releases a lock: unlock.c. only: there is no other in
 * this nmethod that locks, but for the bytecode index. -ENOENT: none locks. -EPROTO: it is too
 * large.
 */
int scopes_unlock(const struct mem *m, const struct code_layout *l, const struct scopes *s,
		  uint32_t offset, uint32_t *ret_scope, bool *ret_only);

/* A compressed line table of a ConstMethod. */
struct line_table {
	const uint8_t *bytes;
	size_t size;
	uint32_t number_excluded; /* see unsigned5.h */
};

/*
 * The line of a bytecode index in a compressed line table, as Method::line_number_from_bci finds
 * it; 0: none. *ret_size, if not NULL, is set to the bytes that the table has. -EPROTO: it does not
 * end within its size.
 */
int scopes_line(const struct line_table *t, uint32_t bci, uint32_t *ret, size_t *ret_size);
