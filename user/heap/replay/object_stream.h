/* heap/replay/object_stream.h: the words of one thread, put into their order. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct object_record;

/* Words of one slot, as far as they are there. */
struct object_chunk {
	struct object_chunk *next; /* of a higher sequence */
	uint64_t sequence, phase;
	uint64_t begin_ns, end_ns; /* of the slot; end_ns 0: not known */
	uint32_t *words; /* OBJECT_CHUNK_SPARE zeros after them, for events that were cut */
	uint32_t count, at;
	bool last;   /* the slot has no more */
	bool broken; /* words before these are missing */
};

#define OBJECT_CHUNK_SPARE 260 /* the longest event has 255 words */

#define OBJECT_LATE_MAX 4096 /* slots; the recorder is late by those of one pass at most */

struct object_stream {
	struct object_chunk *first, *newest;
	struct object_chunk *mark[2]; /* some thousand before the newest; NULL: none */
	uint32_t since_mark;
	uint64_t sequence; /* of the chunk that is next */
	bool begun;
};

void object_stream_free(struct object_stream *s);
/* Takes a copy of the words. *ret_bytes: by how much memory has grown. 0 or -ENOMEM. Words of a
 * slot that comes behind more than OBJECT_LATE_MAX later ones are left out, and are a hole then. */
int object_stream_add(struct object_stream *s, const struct object_record *r, uint64_t *ret_bytes);
/* The first chunk, of which so many words are done, and not here; as object_stream_add. To be
 * called of a stream without chunks. */
int object_stream_begin(struct object_stream *s, const struct object_record *r, uint32_t taken,
			uint64_t *ret_bytes);
/* The chunk with the words that are next. NULL: they are not there. complete: all words of phases
 * below this one are, so that what is missing will not come: *ret_hole. */
struct object_chunk *object_stream_next(struct object_stream *s, uint64_t complete, bool *ret_hole);
/* The first chunk is done. Its bytes. */
uint64_t object_stream_drop(struct object_stream *s);
