/* tests/unit/heap/graph_maker.h: graphs as jvm-hooks/graph.h describes them, as records of a log. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "heap/replay/object_replay.h"
#include "heap/snapshot/graph_state.h"
#include "jvm-hooks/graph.h"
#include "jvm-hooks/objects.h"
#include "log/format/object_record.h"

#define GRAPH_BASE 0x80000000ull
#define GRAPH_HEAP_BYTES (1u << 20)
#define GRAPH_MAKER_BYTES 4096
#define GRAPH_PIECE 40 /* bytes of a graph in the words of one event */

struct graph_maker {
	uint8_t bytes[GRAPH_MAKER_BYTES];
	size_t used;
};

static inline void graph_number(struct graph_maker *m, uint64_t n)
{
	for (; n > 0x7f; n >>= 7)
		m->bytes[m->used++] = (uint8_t)(n | 0x80);
	m->bytes[m->used++] = (uint8_t)n;
}

static inline void graph_signed(struct graph_maker *m, int64_t n)
{
	graph_number(m, (uint64_t)n << 1 ^ (uint64_t)(n >> 63));
}

/* A reference of an object: from what it has referred to last, by so many units. */
static inline void graph_ref(struct graph_maker *m, int64_t units)
{
	graph_number(m, 1 + ((uint64_t)units << 1 ^ (uint64_t)(units >> 63)));
}

static inline void graph_text(struct graph_maker *m, const char *text)
{
	graph_number(m, strlen(text));
	memcpy(m->bytes + m->used, text, strlen(text));
	m->used += strlen(text);
}

static inline void graph_class(struct graph_maker *m, uint64_t mirror, uint64_t super, int32_t layout, const char *name)
{
	graph_number(m, 1);
	graph_number(m, 1 + mirror);
	graph_number(m, 12);
	graph_number(m, super);
	for (int i = 0; i < 3; i++)
		graph_number(m, 0);
	graph_signed(m, layout);
	graph_text(m, name);
}

/* The graph in one collection of a log; cut: events that say that words are missing are amid it. */
static inline int graph_replay(struct object_replay *r, const uint8_t *bytes, size_t count, bool cut)
{
	static uint32_t words[1 << 18];
	struct object_record ring = {.kind = OBJECT_RING}, o = {.kind = OBJECT_WORDS}, phase = {.kind = OBJECT_PHASE};
	uint32_t n = 4;
	int err;

	ring.number[RING_HEAP_BASE] = GRAPH_BASE;
	ring.number[RING_HEAP_SHIFT] = 3;
	ring.number[RING_HEAP_BYTES] = GRAPH_HEAP_BYTES;
	memcpy(words, (uint32_t[]){(uint32_t)SPOOR_OBJ_GC << 28 | SPOOR_GC_BEGIN << 24 | 4, 7, 0, 0}, 16);
	for (size_t at = 0; at < count || !at;) {
		uint32_t some = count - at < GRAPH_PIECE ? (uint32_t)(count - at) : GRAPH_PIECE;
		uint32_t length = 1 + (some + 3) / 4;

		words[n] = (uint32_t)SPOOR_OBJ_EXT << 28 | SPOOR_EXT_GRAPH << 20 | length << 12 | some |
			   (at ? 0 : SPOOR_GRAPH_FIRST) | (at + some == count ? SPOOR_GRAPH_LAST : 0);
		words[n + length - 1] = 0;
		memcpy(words + n + 1, bytes + at, some);
		n += length;
		at += some;
		if (cut && at < count) {
			words[n] = (uint32_t)SPOOR_OBJ_EXT << 28 | SPOOR_EXT_GAP << 20 | 3 << 12;
			words[n + 1] = words[n + 2] = 4;
			n += 3;
			cut = false;
		}
		if (!count)
			break;
	}
	o.words = (const uint8_t *)words;
	o.word_bytes = n * (uint32_t)sizeof(*words);
	o.number[WORDS_STREAM] = 1;
	o.number[WORDS_PHASE] = 1;
	o.number[WORDS_LAST] = 1;
	phase.number[PHASE_NUMBER] = 2;
	object_replay_keep_graph(r);
	object_replay_stop(r, 0, false);
	err = object_replay_add(r, &ring);
	if (!err)
		err = object_replay_add(r, &o);
	if (!err)
		err = object_replay_add(r, &phase);
	return err ? err : object_replay_finish(r);
}
