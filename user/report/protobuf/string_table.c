#include "report/protobuf/string_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/text.h"

int string_table_add(struct string_table *t, const char *text, uint32_t *ret)
{
	const char *known = text_set_add(&t->texts, text, strlen(text));
	uint32_t count = t->map.count;
	int err = known ? 0 : -ENOMEM;

	if (!err)
		err = keymap_add_row(&t->map, (struct keymap_key){.a = (uintptr_t)known}, &t->rows,
				     &t->capacity, sizeof(*t->rows), ret);
	if (!err && *ret == count)
		t->rows[*ret] = known;
	return err;
}

void string_table_free(struct string_table *t)
{
	text_set_free(&t->texts);
	keymap_free(&t->map);
	free(t->rows);
	*t = (struct string_table){0};
}
