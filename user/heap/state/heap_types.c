#include "heap/state/heap_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/strbuf.h"

#define SUPERS_MAX 1024 /* a hostile dump may have chains of any length */

static const char *const value_names[HEAP_VALUE_COUNT] = {
	[HEAP_BOOLEAN] = "boolean", [HEAP_CHAR] = "char", [HEAP_FLOAT] = "float",
	[HEAP_DOUBLE] = "double",   [HEAP_BYTE] = "byte", [HEAP_SHORT] = "short",
	[HEAP_INT] = "int",         [HEAP_LONG] = "long",
};
static const char value_letters[] = "ZCFDBSIJ";

static int put_text(struct heap_types *t, const void *bytes, uint32_t count, uint64_t *ret)
{
	size_t needed = t->text_used + count + 1;
	int err = 0;

	if (needed > t->text_room)
		err = bytes_reserve(&t->text, &t->text_room, needed + needed / 2);
	if (err)
		return err;
	if (count)
		memcpy(t->text + t->text_used, bytes, count);
	t->text[t->text_used + count] = '\0';
	*ret = t->text_used;
	t->text_used = needed;
	return 0;
}

static int text_new(struct heap_types *t, struct keymap_key key, const void *bytes, uint32_t count,
		    uint32_t *ret)
{
	uint32_t at, known = t->texts.count;
	uint64_t offset;
	int err = put_text(t, bytes, count, &offset);

	if (!err)
		err = keymap_add_row(&t->texts, key, &t->text_at, &t->text_capacity,
				     sizeof(*t->text_at), &at);
	if (err)
		return err;
	if (at == known)
		t->text_at[at] = offset;
	*ret = at;
	return 0;
}

int heap_types_text_add(struct heap_types *t, uint64_t id, const void *bytes, uint32_t count)
{
	uint32_t at;

	if (heap_types_text_find(t, id) != HEAP_NONE)
		return 0;
	return text_new(t, (struct keymap_key){.a = id}, bytes, count, &at);
}

uint32_t heap_types_text_find(const struct heap_types *t, uint64_t id)
{
	return keymap_find(&t->texts, (struct keymap_key){.a = id});
}

const char *heap_types_text(const struct heap_types *t, uint32_t text)
{
	return text < t->texts.count ? t->text + t->text_at[text] : "";
}

static int type_new(struct heap_types *t, uint32_t *ret)
{
	int err = array_grow(&t->all, &t->capacity, t->count, sizeof(*t->all));

	if (err)
		return err;
	t->all[t->count] = (struct heap_type){
		.name = HEAP_NONE,
		.super = HEAP_NONE,
		.class_object = HEAP_NONE,
		.desc = HEAP_NONE,
		.gap = {HEAP_NO_GAP, HEAP_NO_GAP},
		.class_gap = {HEAP_NO_GAP, HEAP_NO_GAP},
	};
	*ret = t->count++;
	return 0;
}

/* Texts of spoor's own have a key that no id has. */
static int own_text(struct heap_types *t, const char *text, uint32_t *ret)
{
	return text_new(t, (struct keymap_key){.a = t->texts.count, .b = 1}, text,
			(uint32_t)strlen(text), ret);
}

int heap_types_init(struct heap_types *t, unsigned id_bytes)
{
	int err = 0;

	*t = (struct heap_types){.id_bytes = id_bytes};
	for (unsigned v = HEAP_BOOLEAN; !err && v < HEAP_VALUE_COUNT; v++) {
		char name[16];
		uint32_t type, text;

		buffer_add(strcpy(name, ""), sizeof(name), "%s[]", value_names[v]);
		err = own_text(t, name, &text);
		if (!err)
			err = type_new(t, &type);
		if (err)
			break;
		t->all[type].name = text;
		t->all[type].kind = HEAP_PRIMITIVE_ARRAY;
		t->all[type].element = (uint8_t)v;
		t->all[type].defined = true;
	}
	return err;
}

void heap_types_free(struct heap_types *t)
{
	free(t->all);
	free(t->fields);
	free(t->refs);
	free(t->text_at);
	free(t->text);
	keymap_free(&t->by_id);
	keymap_free(&t->texts);
	*t = (struct heap_types){0};
}

/* Keys of by_id are in the order of types, after those of primitive arrays. */
static uint32_t type_find(const struct heap_types *t, uint64_t id)
{
	uint32_t at = keymap_find(&t->by_id, (struct keymap_key){.a = id});

	return at == INDEX_NONE ? HEAP_NONE : at + HEAP_VALUE_COUNT - HEAP_BOOLEAN;
}

int heap_types_add(struct heap_types *t, uint64_t id, uint32_t *ret)
{
	uint32_t type = type_find(t, id), key;
	int err;

	if (type != HEAP_NONE) {
		*ret = type;
		return 0;
	}
	err = type_new(t, &type);
	if (err)
		return err;
	err = keymap_add(&t->by_id, (struct keymap_key){.a = id}, &key);
	if (err) {
		t->count--;
		return err;
	}
	t->all[type].id = id;
	*ret = type;
	return 0;
}

static void element_name(const char *letters, struct strbuf *o)
{
	const char *value = strchr(value_letters, *letters);

	if (*letters == 'L')
		strbuf_put(o, letters + 1, strcspn(letters + 1, ";"));
	else if (*letters && value)
		strbuf_add(o, "%s", value_names[HEAP_BOOLEAN + (value - value_letters)]);
	else
		strbuf_add(o, "%s", letters);
}

int heap_types_name(struct heap_types *t, uint32_t type, uint32_t text)
{
	const char *name = heap_types_text(t, text);
	size_t dims = strspn(name, "[");
	struct strbuf o = {0};
	int err;

	if (dims)
		element_name(name + dims, &o);
	else
		strbuf_add(&o, "%s", name);
	/* Hidden classes have an address after a plus, where Class.getName() has a slash. */
	for (size_t i = 0; i < o.used; i++) {
		if (o.text[i] == '/' && strncmp(&o.text[i], "/0x", 3) != 0)
			o.text[i] = '.';
		if (!strncmp(&o.text[i], "+0x", 3))
			o.text[i] = '/';
	}
	for (size_t i = 0; i < dims; i++)
		strbuf_put(&o, "[]", 2);
	if (dims) {
		t->all[type].kind =
			dims == 1 && strlen(name) == 2 ? HEAP_PRIMITIVE_ARRAY : HEAP_OBJECT_ARRAY;
		t->all[type].element = HEAP_REFERENCE;
	}
	err = o.err ? o.err : own_text(t, strbuf_text(&o), &t->all[type].name);
	strbuf_free(&o);
	return err;
}

const char *heap_type_name(const struct heap_types *t, uint32_t type)
{
	if (type >= t->count || t->all[type].name == HEAP_NONE)
		return "(class without a name)";
	return heap_types_text(t, t->all[type].name);
}

int heap_types_field(struct heap_types *t, uint32_t name, uint8_t value)
{
	int err = array_grow(&t->fields, &t->field_capacity, t->field_count, sizeof(*t->fields));

	if (!err)
		t->fields[t->field_count++] = (struct heap_field){name, value};
	return err;
}

static int ref_add(struct heap_types *t, struct heap_ref ref)
{
	int err = array_grow(&t->refs, &t->ref_capacity, t->ref_count, sizeof(*t->refs));

	if (!err)
		t->refs[t->ref_count++] = ref;
	return err;
}

/* The class's own fields come first, then those of its superclass, and so on. */
int heap_types_lay_out(struct heap_types *t, uint32_t type)
{
	uint32_t first = t->ref_count, at = 0, steps = 0;

	for (uint32_t c = type; c != HEAP_NONE; c = t->all[c].super) {
		const struct heap_type *owner = &t->all[c];

		if (++steps > SUPERS_MAX || !owner->defined) {
			t->ref_count = first;
			return owner->defined ? -ELOOP : -ENOENT;
		}
		for (uint32_t i = 0; i < owner->field_count; i++) {
			unsigned value = t->fields[owner->fields + i].value;
			int err = 0;

			if (value == HEAP_REFERENCE)
				err = ref_add(t, (struct heap_ref){at, owner->fields + i, c});
			if (err)
				return err;
			at += heap_value_bytes(value, t->id_bytes);
		}
	}
	t->all[type].body_bytes = at;
	t->all[type].refs = first;
	t->all[type].ref_count = t->ref_count - first;
	t->all[type].laid_out = true;
	return 0;
}

bool heap_type_is(const struct heap_types *t, uint32_t type, const char *name)
{
	for (unsigned steps = 0; type != HEAP_NONE && steps < SUPERS_MAX; steps++) {
		if (!strcmp(heap_type_name(t, type), name))
			return true;
		type = t->all[type].super;
	}
	return false;
}
