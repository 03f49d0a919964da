#include "log/format/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "base/tables/hash.h"
#include "base/tables/slots.h"
#include "base/text/print.h"

#define REPLACEMENT "\xef\xbf\xbd"
#define REPLACEMENT_BYTES 3

struct text {
	size_t length;
	char bytes[];
};

struct text_set {
	struct text **all;
	uint32_t count, capacity;
	struct slots slots;
};

/* Bytes of the character at text; 0: none begins here. */
static size_t character(const char *text, size_t length)
{
	uint32_t code;

	return utf8_character(text, length, &code);
}

bool text_is_clean(const char *text, size_t length)
{
	size_t at = 0, n;

	while (at < length) {
		n = character(text + at, length - at);
		if (!n)
			return false;
		at += n;
	}
	return true;
}

size_t text_clean(const char *text, size_t length, char *buf, size_t size)
{
	size_t at = 0, used = 0, n;

	while (at < length) {
		n = character(text + at, length - at);
		if ((n ? n : REPLACEMENT_BYTES) > size - used)
			break;
		memcpy(buf + used, n ? text + at : REPLACEMENT, n ? n : REPLACEMENT_BYTES);
		used += n ? n : REPLACEMENT_BYTES;
		at += n ? n : 1;
	}
	return used;
}

static struct text *text_new(const char *text, size_t length)
{
	bool clean = text_is_clean(text, length);
	size_t size = clean ? length : length * REPLACEMENT_BYTES;
	struct text *new = malloc(sizeof(*new) + size + 1);

	if (!new)
		return NULL;
	if (clean)
		memcpy(new->bytes, text, length);
	else
		size = text_clean(text, length, new->bytes, size);
	new->bytes[size] = '\0';
	new->length = size;
	return new;
}

/* The text's slot, or the free one where it belongs. */
static struct slot *slot_of(const struct text_set *set, const char *text, size_t length,
			    uint32_t hash)
{
	struct slot *slot = slots_first(&set->slots, hash);

	while (slot->index && (set->all[slot->index - 1]->length != length ||
			       memcmp(set->all[slot->index - 1]->bytes, text, length)))
		slot = slots_next(&set->slots, slot);
	return slot;
}

static const char *find(const struct text_set *set, const char *text, size_t length)
{
	uint32_t index = slot_of(set, text, length, (uint32_t)hash_bytes(text, length))->index;

	return index ? set->all[index - 1]->bytes : NULL;
}

/* There is room for it. */
static const char *insert(struct text_set *set, struct text *new)
{
	uint32_t hash = (uint32_t)hash_bytes(new->bytes, new->length);

	set->all[set->count++] = new;
	*slot_of(set, new->bytes, new->length, hash) = (struct slot){hash, set->count};
	return new->bytes;
}

static struct text_set *room(struct text_set **set)
{
	struct text_set *s = *set ? *set : calloc(1, sizeof(*s));

	*set = s;
	if (!s || slots_reserve(&s->slots, s->count) ||
	    array_grow(&s->all, &s->capacity, s->count, sizeof(struct text *)))
		return NULL;
	return s;
}

const char *text_set_add(struct text_set **set, const char *text, size_t length)
{
	struct text_set *s = room(set);
	const char *known = s ? find(s, text, length) : NULL;
	struct text *new;

	if (!s || known)
		return known;
	new = text_new(text, length);
	if (!new)
		return NULL;
	known = find(s, new->bytes, new->length); /* as it was not clean */
	if (!known)
		return insert(s, new);
	free(new);
	return known;
}

void text_set_free(struct text_set **set)
{
	struct text_set *s = *set;

	if (!s)
		return;
	while (s->count)
		free(s->all[--s->count]);
	free(s->all);
	slots_free(&s->slots);
	free(s);
	*set = NULL;
}
