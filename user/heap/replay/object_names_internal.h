/* heap/replay/object_names_internal.h: what the files of the names share. */
#pragma once

#include <errno.h>
#include <string.h>

#include "heap/replay/object_names.h"
#include "log/format/object_record.h"

/* The record's own number, without that of its ring. */
static inline uint32_t object_names_id(const struct object_record *r)
{
	return (uint32_t)r->number[0];
}

static inline uint32_t object_names_class_row(const struct object_names *n, uint64_t id)
{
	return n->again ? object_ids_row(&n->class_ids, id) : keymap_find_number(&n->class_map, id);
}

/* One of the record's texts, in place of another one. 0 or -ENOMEM. */
static inline int object_names_text(char **to, const struct object_record *r, unsigned which)
{
	char *copy = strndup(r->text[which] ? r->text[which] : "", r->text_bytes[which]);

	if (!copy)
		return -ENOMEM;
	free(*to);
	*to = copy;
	return 0;
}

/* Name and signature. 0 or -ENOMEM. */
static inline int object_names_method_texts(struct object_method *m, const struct object_record *r)
{
	int err = object_names_text(&m->name, r, 0);

	return err ? err : object_names_text(&m->signature, r, 1);
}

/* object_names_again.c: the row of a class, without its contents if it is a new one; a method with
 * its contents. 0 or -ENOMEM. */
int object_names_class_again(struct object_names *n, const struct object_record *r, uint32_t *ret);
int object_names_method_again(struct object_names *n, const struct object_record *r);
/* What frames have of a method with this number in the ring. 0: none. */
uint32_t object_names_method_id(const struct object_names *n, uint32_t id);
