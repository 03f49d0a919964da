#include "log/format/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"

#include "base/print.h"

#define REPLACEMENT "\xef\xbf\xbd"
#define REPLACEMENT_BYTES 3

struct text_set {
	UT_hash_handle hh;
	char text[];
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

static struct text_set *entry_new(const char *text, size_t length, size_t *ret_length)
{
	bool clean = text_is_clean(text, length);
	size_t size = clean ? length : length * REPLACEMENT_BYTES;
	struct text_set *entry = malloc(sizeof(*entry) + size + 1);

	if (!entry)
		return NULL;
	if (clean)
		memcpy(entry->text, text, length);
	else
		size = text_clean(text, length, entry->text, size);
	entry->text[size] = '\0';
	*ret_length = size;
	return entry;
}

const char *text_set_add(struct text_set **set, const char *text, size_t length)
{
	struct text_set *found, *entry;
	size_t size;

	HASH_FIND(hh, *set, text, length, found);
	if (found)
		return found->text;
	entry = entry_new(text, length, &size);
	if (!entry)
		return NULL;
	HASH_FIND(hh, *set, entry->text, size, found);
	if (!found) {
		HASH_ADD(hh, *set, text[0], size, entry);
		found = entry->hh.tbl ? entry : NULL;
	}
	if (found != entry)
		free(entry);
	return found ? found->text : NULL;
}

void text_set_free(struct text_set **set)
{
	struct text_set *entry, *next;

	HASH_ITER (hh, *set, entry, next) {
		HASH_DEL(*set, entry);
		free(entry);
	}
}
