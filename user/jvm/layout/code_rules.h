/* jvm/layout/code_rules.h: how a version of HotSpot spells, codes and orders what leads from a pc
 * to Java frames. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/layout/code_layout.h"

/* A field that vmStructs describes. */
struct code_field {
	size_t at; /* of a uint32_t, the offset, in struct code_layout or struct code_source */
	const char *type, *name, *both; /* both: "type::name" */
	const char *is;                 /* its C++ type; NULL: any */
	uint32_t bytes;                 /* that are read of it */
};

/* An int or long constant that vmStructs has. */
struct code_constant {
	size_t at; /* of an int32_t or uint32_t in struct code_layout */
	const char *name;
	int64_t min, max; /* what is believed of it */
	int32_t plus;     /* is added: a slot that is found from another one */
};

/* Fields that some versions have in common. */
struct code_fields {
	const struct code_field *rows;
	size_t count;
};

#define CODE_FIELDS_MAX 4

/* One per row of versions/versions.h that has call chains. */
struct code_rules {
	/* What vmStructs does not say: all of struct code_layout but offsets and addresses. */
	struct code_layout fixed;
	const struct code_fields
		*fields[CODE_FIELDS_MAX]; /* of struct code_layout; NULL: no more */
	const struct code_fields *sources[CODE_FIELDS_MAX]; /* of struct code_source; likewise */
	const struct code_constant *constants;
	size_t constant_count;
	/* A field that is there if debug information is coded as JDK 17 to 19 do it, and only then,
	 * which vmStructs does not show otherwise; missing: what is said if the version's code does
	 * it the other way. */
	const char *coding_type, *coding_field, *coding_missing;
	bool coding_of_17;
};
