#include "record/identity/ids_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf.h"

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

void ids_text_clean(char *to, size_t size, const char *from, uint32_t length, bool dots)
{
	size_t n = 0;

	for (uint32_t i = 0; i < length;) {
		const uint8_t *at = (const uint8_t *)from + i;
		unsigned step = utf8_sequence(at, length - i);
		char pair[4];

		if (!step && utf8_of_surrogates(at, length - i, pair)) {
			if (n + sizeof(pair) >= size)
				break;
			memcpy(to + n, pair, sizeof(pair));
			n += sizeof(pair);
			i += 6;
			continue;
		}
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
