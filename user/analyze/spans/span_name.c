#include "analyze/spans/span_name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/hash.h"
#include "log/format/text.h"

#define GROUPS_MAX 10

static void name_free(struct span_name *n)
{
	if (!n)
		return;
	quantiles_free(&n->times);
	free(n->text);
	free(n);
}

int span_names_add(struct span_names *n, const char *text, uint32_t *ret)
{
	/* Two hashes, with the zero after the text and without, stand for the text: nobody who
	 * does not know the process's key can make two names that share them. */
	size_t length = strlen(text);
	const struct keymap_key key = {.a = hash_bytes(text, length),
				       .b = hash_bytes(text, length + 1)};
	uint32_t index = keymap_find(&n->map, key);
	struct span_name *fresh;
	int err;

	if (index != INDEX_NONE || n->map.count == SPAN_NAMES_MAX) {
		*ret = index;
		return 0;
	}
	err = array_grow(&n->all, &n->capacity, n->map.count, sizeof(fresh));
	if (err)
		return err;
	fresh = calloc(1, sizeof(*fresh));
	if (fresh)
		fresh->text = strdup(text);
	err = fresh && fresh->text ? keymap_add(&n->map, key, ret) : -ENOMEM;
	if (err)
		name_free(fresh);
	else
		n->all[*ret] = fresh;
	return err;
}

void span_names_free(struct span_names *n)
{
	for (uint32_t i = 0; i < n->map.count; i++)
		name_free(n->all[i]);
	free(n->all);
	keymap_free(&n->map);
	*n = (struct span_names){0};
}

/* As much of it as there is room for. To an expression a text is bytes: what it matches may begin
 * or end within a character. */
static void take(const char *text, size_t length, char buf[SPAN_NAME_BYTES])
{
	buf[text_clean(text, length, buf, SPAN_NAME_BYTES - 1)] = '\0';
}

bool span_name_cut(const regex_t *expression, const char *text, char buf[SPAN_NAME_BYTES])
{
	char matched[SPAN_NAME_BYTES];
	regmatch_t group[GROUPS_MAX];
	size_t length = 0;

	if (!expression) {
		take(text, strlen(text), buf);
		return true;
	}
	if (regexec(expression, text, GROUPS_MAX, group, 0))
		return false;
	for (size_t i = expression->re_nsub ? 1 : 0; i < GROUPS_MAX && i <= expression->re_nsub;
	     i++) {
		size_t bytes = (size_t)(group[i].rm_eo - group[i].rm_so);

		if (group[i].rm_so < 0 || !bytes || length + bytes + 2 > SPAN_NAME_BYTES)
			continue;
		if (length)
			matched[length++] = ' ';
		memcpy(matched + length, text + group[i].rm_so, bytes);
		length += bytes;
	}
	take(matched, length, buf);
	return length > 0;
}
