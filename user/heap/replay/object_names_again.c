/*
 * A log has a further ring if the recorder has switched the events off and on again: the JVM gives
 * out numbers anew, and says all names again. What was counted before stays: so a row is for all
 * rings. A class is the same if its Klass has the same address, name and layout as in the ring
 * before; a method, if its class, name and signature are the same. Sites are of one ring: whatever
 * puts objects together by site does so by methods and bytecodes.
 */
#include "heap/replay/object_names_internal.h"

#include <errno.h>
#include <string.h>

static bool is_text(const char *text, const struct object_record *r, unsigned which)
{
	return strlen(text) == r->text_bytes[which] &&
	       !memcmp(text, r->text[which] ? r->text[which] : "", r->text_bytes[which]);
}

/* --- classes ------------------------------------------------------------------------------ */

static uint32_t same_class(const struct object_names *n, const struct object_record *r)
{
	uint32_t k = keymap_find_number(&n->key_map, r->number[CLASS_KLASS]), i;

	i = k == INDEX_NONE ? k : n->class_of_key[k].before;
	if (i == INDEX_NONE || n->classes[i].layout != (int32_t)(uint32_t)r->number[CLASS_LAYOUT])
		return INDEX_NONE;
	return is_text(n->classes[i].name, r, 0) ? i : INDEX_NONE;
}

/* A number of the ring that had another class before has a new one: no row is renamed. */
int object_names_class_again(struct object_names *n, const struct object_record *r, uint32_t *ret)
{
	uint32_t known = object_ids_row(&n->class_ids, object_names_id(r)), i = same_class(n, r);
	struct keymap_key key = {.a = r->number[CLASS_ID]};
	int err = 0;

	if (i == INDEX_NONE && known != INDEX_NONE && is_text(n->classes[known].name, r, 0))
		i = known;
	if (i == INDEX_NONE && known != INDEX_NONE)
		key.b = 1 + (uint64_t)n->class_map.count;
	if (i == INDEX_NONE)
		err = keymap_add_row(&n->class_map, key, &n->classes, &n->classes_capacity,
				     sizeof(*n->classes), &i);
	if (!err)
		err = object_ids_set(&n->class_ids, object_names_id(r), i);
	*ret = i;
	return err;
}

/* --- methods ------------------------------------------------------------------------------ */

static struct keymap_key method_key(uint32_t class, const char *name, size_t name_bytes,
				    const char *signature, size_t signature_bytes)
{
	return (struct keymap_key){.a = class,
				   .b = hash_bytes(name, name_bytes),
				   .c = hash_bytes(signature, signature_bytes),
				   .d = 1};
}

/* Of methods that have the same key the first is found. */
static int index_method(struct object_names *n, uint32_t method)
{
	const struct object_method *m = &n->methods[method];
	struct keymap_key key = method_key(m->class, m->name, strlen(m->name), m->signature,
					   strlen(m->signature));
	uint32_t known = n->same_map.count, at;
	int err = keymap_add_row(&n->same_map, key, &n->same, &n->same_capacity, sizeof(*n->same),
				 &at);

	if (!err && at == known)
		n->same[at] = method;
	return err;
}

static uint32_t same_method(const struct object_names *n, uint32_t class,
			    const struct object_record *r)
{
	const char *name = r->text[0] ? r->text[0] : "", *signature = r->text[1] ? r->text[1] : "";
	struct keymap_key key =
		method_key(class, name, r->text_bytes[0], signature, r->text_bytes[1]);
	uint32_t at = keymap_find(&n->same_map, key), i = at == INDEX_NONE ? at : n->same[at];

	if (i == INDEX_NONE || n->methods[i].class != class)
		return INDEX_NONE;
	return is_text(n->methods[i].name, r, 0) && is_text(n->methods[i].signature, r, 1)
		       ? i
		       : INDEX_NONE;
}

int object_names_method_again(struct object_names *n, const struct object_record *r)
{
	uint32_t class = object_names_class_row(n, r->number[METHOD_CLASS_ID]);
	uint32_t i = same_method(n, class, r), known = n->method_map.count;
	int err = 0;

	if (i == INDEX_NONE && n->method_most == UINT32_MAX)
		return 0; /* no number is left: it has no name */
	if (i == INDEX_NONE) {
		err = keymap_add_row(&n->method_map,
				     (struct keymap_key){.a = n->method_most + 1ull}, &n->methods,
				     &n->methods_capacity, sizeof(*n->methods), &i);
		if (!err)
			err = object_names_method_texts(&n->methods[i], r);
		if (err)
			return err;
		n->methods[known].id = ++n->method_most;
		n->methods[known].class = class;
		err = index_method(n, known);
		n->same_count = n->method_map.count;
	}
	return err ? err : object_ids_set(&n->method_ids, object_names_id(r), i);
}

uint32_t object_names_method_id(const struct object_names *n, uint32_t id)
{
	uint32_t i = n->again ? object_ids_row(&n->method_ids, id) : INDEX_NONE;

	if (!n->again)
		return id;
	return i == INDEX_NONE ? 0 : (uint32_t)n->methods[i].id;
}

/* --- rings -------------------------------------------------------------------------------- */

int object_names_begin_again(struct object_names *n)
{
	int err = 0;

	for (uint32_t k = 0; k < n->key_map.count; k++) {
		n->class_of_key[k].before = n->class_of_key[k].now;
		n->class_of_key[k].now = INDEX_NONE;
	}
	for (; n->same_count < n->method_map.count && !err; n->same_count += !err)
		err = index_method(n, n->same_count);
	object_ids_free(&n->class_ids);
	object_ids_free(&n->method_ids);
	object_ids_free(&n->site_ids);
	n->again = true;
	return err;
}

void object_names_end_again(struct object_names *n)
{
	n->again = false;
}
