/* log/format/object_state.h: records of what a part of a log needs of those before: see
 * log/format/object_record.h. */
#pragma once

#include <stdint.h>

/* The numbers of a record, by their indices. */
enum {
	STATE_ENDS,  /* 0: it begins; 1: it ends */
	STATE_PHASE, /* that is not complete yet */
	STATE_KNOWN, /* 0: which objects are in the heap is not known */
	STATE_NUMBERS
};
enum {
	STREAM_ID,
	STREAM_SEQUENCE, /* of the slot that is next */
	STREAM_BEGUN,
	STREAM_JAVA_TID,
	STREAM_TID,
	STREAM_SLOT_PHASE, /* of the slot of which a part has been taken */
	STREAM_TAKEN,      /* words of that slot; 0: there is none such */
	STREAM_NUMBERS
};
enum { DESCS_NUMBERS };
enum { KEPT_NUMBERS };

/* Words of a stream, each of two, low and high. */
enum {
	STREAM_PHASE,
	STREAM_FLAGS, /* enum object_stream_flag */
	STREAM_TLAB,
	STREAM_TLAB_END,
	STREAM_AT,
	STREAM_NS,
	STREAM_LAST_FROM,
	STREAM_NEXT_TO, /* of four destinations */
	STREAM_BYTES = STREAM_NEXT_TO + 4,
	STREAM_VALUES
};
enum object_stream_flag { STREAM_HAS_TLAB = 1, STREAM_HAS_AT = 2, STREAM_GAP = 4 };
/* Words of a description: its number, site's id, class's id, length, units. */
#define OBJECT_DESC_WORDS 5
/* An object is a word: 28 description, 4 age. It is where the one before in the record ends (of
 * which the units are not known: a unit after its begin), or at GAP and two words, low and high,
 * units after that; a record begins at 0. */
#define OBJECT_KEPT_GAP UINT32_MAX
#define OBJECT_AGE_WORD_BITS 4
