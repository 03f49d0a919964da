/* jvm/layout/versions/code_common.h: what the tables of code of several versions share, and how a
 * row is written. */
#pragma once

#include <stddef.h>

#include "jvm/layout/code_layout.h"
#include "jvm/layout/code_rules.h"
#include "jvm/layout/code_vtables.h"

/* OF: struct code_layout or struct code_source, whose member it is. */
#define CODE_FIELD(member, type, name, is, bytes)                                                  \
	{                                                                                          \
		offsetof(struct OF, member), type, name, type "::" name, is, bytes                 \
	}
#define CODE_AT(member) offsetof(struct code_layout, member)
#define CODE_COUNT(table) (sizeof(table) / sizeof(*(table)))

extern const struct code_fields code_common_layout;  /* 11 to 25 */
extern const struct code_fields code_common_sources; /* likewise */
extern const struct code_fields code_common_names;   /* 17 to 25 */
extern const struct code_fields code_common_arrays;  /* likewise */
/* 11 to 22: what points into code is an address, and debug information lies in the blob. */
extern const struct code_fields code_common_addresses;
