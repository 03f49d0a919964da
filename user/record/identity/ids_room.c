#include "record/identity/ids_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SQUEEZES 16 /* entries that may go to make room for one text */

struct budget *ids_budget(struct ids *ids, enum memory_part part)
{
	return ids->memory ? &ids->memory->part[part] : NULL;
}

void ids_count_forgotten(struct ids *ids, enum memory_kind kind)
{
	if (ids->memory)
		ids->memory->forgotten[kind]++;
}

void ids_count_shared(struct ids *ids, enum memory_kind kind)
{
	if (ids->memory)
		ids->memory->shared[kind]++;
}

void *ids_add(struct ids *ids, struct store *s, const void *key, enum memory_kind kind)
{
	void *entry;
	int err = store_add(s, key, &entry);

	if (err == -ENOMEM)
		ids->err = err;
	else if (err)
		ids_count_shared(ids, kind);
	return err ? NULL : entry;
}

bool ids_take(struct ids *ids, struct store *s, enum memory_part part, uint64_t bytes)
{
	for (int i = 0; !budget_take(ids_budget(ids, part), bytes); i++)
		if (i == SQUEEZES || store_squeeze(s))
			return false;
	return true;
}

char *ids_text_keep(struct ids *ids, struct store *s, enum memory_part part, const char *text)
{
	uint64_t bytes = strlen(text) + 1 + IDS_TEXT_OVERHEAD;
	char *copy;

	if (!ids_take(ids, s, part, bytes))
		return NULL;
	copy = strdup(text);
	if (!copy) {
		budget_give(ids_budget(ids, part), bytes);
		ids->err = -ENOMEM;
	}
	return copy;
}

void ids_text_drop(struct ids *ids, enum memory_part part, char *text)
{
	if (text)
		budget_give(ids_budget(ids, part), strlen(text) + 1 + IDS_TEXT_OVERHEAD);
	free(text);
}

/* Bytes of the well-formed UTF-8 sequence at s; 0: it is not one (modified UTF-8 has some of
 * these). */
static unsigned utf8_length(const unsigned char *s, uint32_t left)
{
	unsigned n = s[0] < 0x80                   ? 1
		     : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
		     : (s[0] & 0xf0) == 0xe0       ? 3
		     : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
						   : 0;

	if (!n || n > left || !s[0])
		return 0;
	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
		return 0;
	return n;
}

void ids_text_clean(char *to, size_t size, const char *from, uint32_t length, bool dots)
{
	size_t n = 0;

	for (uint32_t i = 0; i < length;) {
		unsigned step = utf8_length((const unsigned char *)from + i, length - i);

		if (n + (step ? step : 1) >= size)
			break;
		if (!step) {
			to[n++] = '?';
			i++;
			continue;
		}
		memcpy(to + n, from + i, step);
		if (dots && to[n] == '/')
			to[n] = '.';
		n += step;
		i += step;
	}
	to[n] = 0;
}

struct class_id *ids_class_find(struct ids *ids, uint64_t klass)
{
	struct class_id *c = klass ? store_find(ids->classes, &klass) : NULL;

	return c && c->name ? c : NULL;
}
