#include "log/format/object_record.h"

static const struct {
	uint8_t numbers, texts;
} shapes[OBJECT_KIND_END] = {
	[OBJECT_RING] = {RING_NUMBERS, 0},     [OBJECT_CLASS] = {CLASS_NUMBERS, 1},
	[OBJECT_METHOD] = {METHOD_NUMBERS, 2}, [OBJECT_SITE] = {SITE_NUMBERS, 0},
	[OBJECT_GONE] = {GONE_NUMBERS, 0},     [OBJECT_WORDS] = {WORDS_NUMBERS, 0},
	[OBJECT_PHASE] = {PHASE_NUMBERS, 0},   [OBJECT_STATE] = {STATE_NUMBERS, 0},
	[OBJECT_STREAM] = {STREAM_NUMBERS, 0}, [OBJECT_DESCS] = {DESCS_NUMBERS, 0},
	[OBJECT_KEPT] = {KEPT_NUMBERS, 0},
};

uint32_t object_record_numbers(enum object_record_kind kind)
{
	return shapes[kind].numbers;
}

uint32_t object_record_texts(enum object_record_kind kind)
{
	return shapes[kind].texts;
}

bool object_record_has_words(enum object_record_kind kind)
{
	return kind == OBJECT_WORDS || kind == OBJECT_STREAM || kind == OBJECT_DESCS ||
	       kind == OBJECT_KEPT;
}
