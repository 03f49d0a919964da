/* log/format/object_record.h: what blocks of object events consist of; schemas/event-log.md has the
 * bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/format/object_state.h"

/* The words are those of jvm-hooks/objects.h, and so are the numbers of streams, phases, classes,
 * methods and sites. The first number of a record has the number of its ring in its upper half: 0,
 * and one more each time that the recorder has switched events on anew; not so of STATE, DESCS and
 * KEPT. */
enum object_record_kind {
	OBJECT_RING = 1, /* the ring as it was found: the first record of a log; a further one */
	OBJECT_CLASS,
	OBJECT_METHOD,
	OBJECT_SITE,
	OBJECT_GONE,  /* the class with this number has been unloaded */
	OBJECT_WORDS, /* words of one stream, which follow those of its record before */
	OBJECT_PHASE, /* all words of the phases below this one are before this record */
	OBJECT_STATE, /* begins, and ends, what a part needs of the parts before */
	OBJECT_STREAM, /* of that: a stream, as its words have left it */
	OBJECT_DESCS,  /* of that: what objects have in common */
	OBJECT_KEPT,   /* of that: objects that are in the heap */
	OBJECT_KIND_END,
};

#define OBJECT_NUMBERS_MAX 12
#define OBJECT_FRAMES_MAX 16
#define OBJECT_NAME_MAX 4096
#define OBJECT_WORDS_MAX (64u * 1024) /* bytes */

/* The numbers of a record, by their indices. */
enum {
	RING_VERSION,
	RING_PID,
	RING_HEAP_BASE,
	RING_HEAP_BYTES,
	RING_HEAP_SHIFT,
	RING_MODE,
	RING_NUMBERS
};
enum { CLASS_ID, CLASS_KLASS, CLASS_LAYOUT, CLASS_NUMBERS };
enum { METHOD_ID, METHOD_CLASS_ID, METHOD_NUMBERS };
enum { SITE_ID, SITE_CLASS_ID, SITE_TIER, SITE_NUMBERS };
enum { GONE_ID, GONE_NUMBERS };
enum {
	WORDS_STREAM,
	WORDS_SEQUENCE, /* of the slot in its stream */
	WORDS_PHASE,    /* at the slot's begin */
	WORDS_OFFSET,   /* bytes of the slot that are before these */
	WORDS_LAST,     /* 1: the slot has no more */
	WORDS_JAVA_TID,
	WORDS_TID,
	WORDS_BEGIN_NS,
	WORDS_END_NS,
	WORDS_NUMBERS
};
enum {
	PHASE_NUMBER,
	PHASE_TIME_NS,
	PHASE_ENDED, /* 1: the JVM has ended in good order; 2: it was killed; 3: nobody reads on;
		      * 4: it was switched off; or OBJECT_PHASE_WALKS */
	PHASE_WAITS,
	PHASE_WAIT_NS,
	PHASE_GAPS,
	PHASE_LOST_BYTES,
	PHASE_LOST_NAMES,
	PHASE_REFUSED, /* of the ring, that made no sense: slots, names */
	PHASE_NUMBERS
};
#define OBJECT_PHASE_WALKS 5 /* it goes on, and not all of the heap has been walked yet */
#define OBJECT_RING_SHIFT 32

struct object_record {
	enum object_record_kind kind;
	uint64_t number[OBJECT_NUMBERS_MAX];
	/* Of a class and a method: name, and signature. Not terminated, UTF-8 without NUL. */
	const char *text[2];
	uint32_t text_bytes[2];
	/* Of a site, innermost first: method and bci. */
	uint32_t frames[OBJECT_FRAMES_MAX][2];
	uint32_t frame_count;
	/* Of words, streams, descriptions, objects: little-endian, not aligned. */
	const uint8_t *words;
	uint32_t word_bytes;
};

/* How many numbers, texts a record of this kind has; whether it has words. */
uint32_t object_record_numbers(enum object_record_kind kind);
uint32_t object_record_texts(enum object_record_kind kind);
bool object_record_has_words(enum object_record_kind kind);
