/* heap/image/hprof_parser.h: what the parts of the reader of .hprof share. */
#pragma once

#include "heap/image/hprof.h"
#include "heap/state/heap_state.h"

/* The end of a heap's record of which the length is not known. */
#define HPROF_END 1

struct hprof_parser {
	struct dump_input *in;
	struct heap_state *state;
	struct hprof_result *result;
	unsigned id_bytes;
	uint64_t left; /* of the record */
	/* The class that instances had last. */
	uint64_t class_id;
	uint32_t class_type;
};

/* Keeps the first; returns -EBADMSG. */
int hprof_damage(struct hprof_parser *p, const char *what);
/* As dump_need, within the record. NULL: *err says why. */
const uint8_t *hprof_need(struct hprof_parser *p, size_t count, int *err);
int hprof_skip(struct hprof_parser *p, uint64_t count);
uint64_t hprof_id(const struct hprof_parser *p, const uint8_t *bytes);

/* The records within a record of the heap: roots, classes, objects. */
int hprof_heap(struct hprof_parser *p);
