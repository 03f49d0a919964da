#include "heap/replay/object_stream.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/object_record.h"

static uint64_t bytes_of(const struct object_chunk *c)
{
	return sizeof(*c) + (c->count + OBJECT_CHUNK_SPARE) * sizeof(uint32_t);
}

static void chunk_free(struct object_chunk *c)
{
	free(c->words);
	free(c);
}

void object_stream_free(struct object_stream *s)
{
	while (s->first)
		object_stream_drop(s);
}

uint64_t object_stream_drop(struct object_stream *s)
{
	struct object_chunk *c = s->first;
	uint64_t bytes = bytes_of(c);

	s->first = c->next;
	if (!s->first)
		s->newest = NULL;
	s->sequence = c->sequence + 1;
	for (int i = 0; i < 2; i++)
		if (s->mark[i] == c)
			s->mark[i] = NULL;
	chunk_free(c);
	return bytes;
}

/* Where the chunk with this sequence is, or is to be. NULL: too far from both ends. */
static struct object_chunk **chunk_slot(struct object_stream *s, uint64_t sequence)
{
	struct object_chunk **at = &s->first;

	/* A collection of many moves waits for its end: what comes late is near to the newest. */
	if (s->mark[0] && s->mark[0]->sequence < sequence)
		at = &s->mark[0]->next;
	if (s->newest && s->newest->sequence < sequence)
		return &s->newest->next;
	for (int i = 0; *at && (*at)->sequence < sequence; at = &(*at)->next)
		if (++i > 2 * OBJECT_LATE_MAX)
			return NULL;
	return at;
}

/* The chunk with this sequence, made if need be. 0 or -ENOMEM; *ret_chunk is NULL if it comes too
 * late. */
static int chunk_get(struct object_stream *s, const struct object_record *r,
		     struct object_chunk **ret_chunk)
{
	uint64_t sequence = r->number[WORDS_SEQUENCE];
	struct object_chunk **at, *c = s->newest;

	*ret_chunk = c;
	if (c && c->sequence == sequence)
		return 0;
	at = chunk_slot(s, sequence);
	*ret_chunk = at ? *at : NULL;
	if (!at || (*at && (*at)->sequence == sequence))
		return 0;
	*ret_chunk = c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->sequence = sequence;
	c->phase = r->number[WORDS_PHASE];
	c->next = *at;
	*at = c;
	if (c->next)
		return 0;
	s->newest = c;
	if (++s->since_mark >= OBJECT_LATE_MAX / 2) {
		s->mark[0] = s->mark[1];
		s->mark[1] = c;
		s->since_mark = 0;
	}
	return 0;
}

int object_stream_add(struct object_stream *s, const struct object_record *r, uint64_t *ret_bytes)
{
	uint32_t more = r->word_bytes / 4, *grown;
	struct object_chunk *c;
	uint64_t before;

	*ret_bytes = 0;
	if (s->begun && r->number[WORDS_SEQUENCE] < s->sequence)
		return 0; /* has been given up */
	if (chunk_get(s, r, &c))
		return -ENOMEM;
	if (!c)
		return 0;
	before = c->words ? bytes_of(c) : 0;
	if (r->number[WORDS_OFFSET] != 4ull * c->count) {
		c->broken = true;
		more = 0;
	}
	if (c->count + more > OBJECT_WORDS_MAX / 4)
		more = OBJECT_WORDS_MAX / 4 - c->count;
	grown = realloc(c->words, (c->count + more + OBJECT_CHUNK_SPARE) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	c->words = grown;
	if (more)
		memcpy(grown + c->count, r->words, more * sizeof(*grown));
	for (uint32_t i = c->count; i < c->count + more; i++)
		grown[i] = le32toh(grown[i]);
	c->count += more;
	memset(grown + c->count, 0, OBJECT_CHUNK_SPARE * sizeof(*grown));
	c->last |= r->number[WORDS_LAST] != 0;
	c->begin_ns = r->number[WORDS_BEGIN_NS];
	c->end_ns = r->number[WORDS_END_NS];
	*ret_bytes = bytes_of(c) - before;
	return 0;
}

int object_stream_begin(struct object_stream *s, const struct object_record *r, uint32_t taken,
			uint64_t *ret_bytes)
{
	struct object_chunk *c;

	if (chunk_get(s, r, &c))
		return -ENOMEM;
	if (!c)
		return 0;
	c->words = calloc(taken + OBJECT_CHUNK_SPARE, sizeof(*c->words));
	if (!c->words)
		return -ENOMEM;
	c->count = c->at = taken;
	*ret_bytes = bytes_of(c);
	return 0;
}

struct object_chunk *object_stream_next(struct object_stream *s, uint64_t complete, bool *ret_hole)
{
	struct object_chunk *c = s->first;

	*ret_hole = false;
	if (!c)
		return NULL;
	/* The first one, too: a recorder in the midst of a pass has met a later one before. */
	if (c->sequence != s->sequence) {
		if (c->phase >= complete)
			return NULL;
		*ret_hole = true;
		s->sequence = c->sequence;
	}
	s->begun = true;
	return c;
}
