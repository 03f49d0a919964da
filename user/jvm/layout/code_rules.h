/* jvm/layout/code_rules.h: how a version of HotSpot spells, codes and orders what leads from a pc
 * to Java frames. */
#pragma once

#include <stddef.h>
#include <stdint.h>

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

/* One per row of versions/versions.h that has call chains. */
struct code_rules {
	const struct code_field *fields; /* of struct code_layout */
	size_t field_count;
	const struct code_field *sources; /* of struct code_source */
	size_t source_count;
	const struct code_constant *constants;
	size_t constant_count;
	/* A field that is there if and only if debug information is coded as number_excluded says,
	 * which vmStructs does not show; missing: what is said if the field is not there. */
	const char *coding_type, *coding_field, *coding_missing;
	uint32_t number_excluded; /* byte values: see unsigned5.h */
};
