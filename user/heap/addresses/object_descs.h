/* heap/addresses/object_descs.h: what objects have in common, once for all that live. */
#pragma once

#include <stdint.h>

/* 28 bits number a description, so that an object's age fits beside it. */
#define OBJECT_DESCS_MAX (1u << 28)

struct object_desc {
	uint32_t kind, length; /* kind: of object_names; length: of an array */
	uint32_t units;        /* of the heap; 0: the class is not known */
	uint32_t live;         /* objects; 0: the row is free */
	uint32_t next;         /* 1 + the next row of the bucket, or the next free one; 0: none */
};

/* Rows of which no object lives are used again, so that there are never more than objects. */
struct object_descs {
	struct object_desc *rows;
	uint32_t *buckets; /* 1 + row */
	uint32_t bucket_bits, count, capacity, free;
	uint32_t *recent; /* by kind: 1 + its row that was taken last; 0: none */
	uint32_t recent_capacity;
};

void object_descs_free(struct object_descs *d);
/* The description, with one more object. 0; -ENOMEM, also if there is no number left. */
int object_descs_take(struct object_descs *d, uint32_t kind, uint32_t length, uint32_t units,
		      uint32_t *ret);
/* An object of it is gone. */
void object_descs_give(struct object_descs *d, uint32_t desc);
