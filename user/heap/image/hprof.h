/* heap/image/hprof.h: reads heap dumps in the format .hprof, as all JVMs of OpenJDK write them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "heap/image/dump_input.h"

struct heap_state;

#define HPROF_WHAT_MAX 128

struct hprof_result {
	uint64_t offset;           /* of the damage; else the bytes of the dump, uncompressed */
	char what[HPROF_WHAT_MAX]; /* what is wrong there; "": nothing */
	uint64_t taken_ms;         /* when it was written, in ms since 1970 */
	uint64_t bad_instances;    /* whose length is not that of their class */
	bool is_gzip;
};

/*
 * Reads until the end, or until the damage: then *ret holds what came before it, finished, and
 * result says what and where. objects: one by one, with references. *ret is initialized, and is to
 * be freed in any case.
 *
 * -EPROTO: it is not a heap dump; -ENOTSUP: of a kind that cannot be read; result says which.
 * -EBADMSG: it is damaged before the first object. -EOVERFLOW: more objects or references than
 * spoor can number. -ENOMEM; others are of reading.
 */
int hprof_read(dump_read *read, void *ctx, bool objects, struct heap_state *ret,
	       struct hprof_result *result);
