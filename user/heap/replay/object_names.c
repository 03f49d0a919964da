#include "heap/replay/object_names_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/strbuf.h"
#include "jvm-hooks/objects.h"
#include "log/format/object_record.h"

#define UNITS_MAX 0x7fffffffu

int object_names_init(struct object_names *n)
{
	*n = (struct object_names){0};
	n->kind_count = 1;
	return array_grow(&n->kinds, &n->kinds_capacity, 0, sizeof(*n->kinds));
}

void object_names_free(struct object_names *n)
{
	for (uint32_t i = 0; i < n->class_map.count; i++)
		free(n->classes[i].name);
	for (uint32_t i = 0; i < n->method_map.count; i++) {
		free(n->methods[i].name);
		free(n->methods[i].signature);
	}
	keymap_free(&n->class_map);
	keymap_free(&n->method_map);
	keymap_free(&n->site_map);
	keymap_free(&n->kind_map);
	keymap_free(&n->key_map);
	keymap_free(&n->same_map);
	object_ids_free(&n->class_ids);
	object_ids_free(&n->method_ids);
	object_ids_free(&n->site_ids);
	free(n->same);
	free(n->classes);
	free(n->methods);
	free(n->sites);
	free(n->frames);
	free(n->kinds);
	free(n->class_of_key);
	*n = (struct object_names){0};
}

/* Who had the address before is no more. */
static int key_set(struct object_names *n, uint64_t klass, uint32_t class)
{
	uint32_t known = n->key_map.count, k;
	int err = keymap_add_row(&n->key_map, (struct keymap_key){.a = klass}, &n->class_of_key,
				 &n->keys_capacity, sizeof(*n->class_of_key), &k);

	if (err)
		return err;
	if (k == known)
		n->class_of_key[k].before = INDEX_NONE;
	n->class_of_key[k].now = class;
	return 0;
}

static int add_class(struct object_names *n, const struct object_record *r)
{
	uint64_t id = object_names_id(r);
	struct object_class *c;
	uint32_t i;
	int err;

	if (n->again)
		err = object_names_class_again(n, r, &i);
	else
		err = keymap_add_row(&n->class_map, (struct keymap_key){.a = id}, &n->classes,
				     &n->classes_capacity, sizeof(*n->classes), &i);
	if (!err)
		err = key_set(n, r->number[CLASS_KLASS], i);
	if (err)
		return err;
	c = &n->classes[i];
	c->id = n->class_map.keys[i].a;
	c->klass = (uint32_t)r->number[CLASS_KLASS];
	c->layout = (int32_t)(uint32_t)r->number[CLASS_LAYOUT];
	return object_names_text(&c->name, r, 0);
}

static int add_method(struct object_names *n, const struct object_record *r)
{
	uint64_t id = object_names_id(r);
	struct object_method *m;
	uint32_t i;
	int err;

	if (n->again)
		return object_names_method_again(n, r);
	err = keymap_add_row(&n->method_map, (struct keymap_key){.a = id}, &n->methods,
			     &n->methods_capacity, sizeof(*n->methods), &i);
	if (err)
		return err;
	if (id > n->method_most)
		n->method_most = (uint32_t)id;
	m = &n->methods[i];
	m->id = id;
	m->class = keymap_find_number(&n->class_map, r->number[METHOD_CLASS_ID]);
	return object_names_method_texts(m, r);
}

static int add_frames(struct object_names *n, const struct object_record *r)
{
	int err = 0;

	for (uint32_t f = 0; f < r->frame_count && !err; f++) {
		err = array_grow(&n->frames, &n->frames_capacity, n->frame_count + f,
				 sizeof(*n->frames));
		if (!err)
			n->frames[n->frame_count + f] = (struct object_frame){
				object_names_method_id(n, r->frames[f][0]), r->frames[f][1]};
	}
	return err;
}

static int add_site(struct object_names *n, const struct object_record *r)
{
	/* Of a later ring the upper half says which, so that it is nobody else's. */
	struct keymap_key key = {.a = n->again ? r->number[SITE_ID] : object_names_id(r)};
	struct object_site *s;
	uint32_t i;
	int err = keymap_add_row(&n->site_map, key, &n->sites, &n->sites_capacity,
				 sizeof(*n->sites), &i);

	if (!err && n->again)
		err = object_ids_set(&n->site_ids, object_names_id(r), i);
	if (!err)
		err = add_frames(n, r);
	if (err)
		return err;
	s = &n->sites[i];
	s->id = key.a;
	s->class = r->number[SITE_CLASS_ID] ? object_names_class_row(n, r->number[SITE_CLASS_ID])
					    : INDEX_NONE;
	s->tier = r->number[SITE_TIER] > UINT32_MAX ? UINT32_MAX : (uint32_t)r->number[SITE_TIER];
	s->kind = 0;
	s->first_frame = n->frame_count;
	s->frame_count = r->frame_count;
	s->inferred = 0;
	n->frame_count += r->frame_count;
	return 0;
}

/* Frames of a site are in a row: the old ones are copied to where there is room. */
int object_names_extend(struct object_names *n, uint32_t site, const struct object_frame *callers,
			uint32_t count)
{
	struct object_site *s = &n->sites[site];
	uint32_t all = s->frame_count + count;

	for (uint32_t i = 0; i < all; i++) {
		int err = array_grow(&n->frames, &n->frames_capacity, n->frame_count + i,
				     sizeof(*n->frames));

		if (err)
			return err;
		n->frames[n->frame_count + i] = i < s->frame_count ? n->frames[s->first_frame + i]
								   : callers[i - s->frame_count];
	}
	s->first_frame = n->frame_count;
	s->frame_count = all;
	s->inferred += count;
	n->frame_count += all;
	return 0;
}

/* Its address may be that of another class from now on; its number and its name stay. */
static void end_class(struct object_names *n, uint64_t id)
{
	uint32_t i = object_names_class_row(n, id);
	uint32_t k = i == INDEX_NONE ? i : keymap_find_number(&n->key_map, n->classes[i].klass);

	if (k != INDEX_NONE && n->class_of_key[k].now == i)
		n->class_of_key[k].now = INDEX_NONE;
}

int object_names_add(struct object_names *n, const struct object_record *r)
{
	switch (r->kind) {
	case OBJECT_CLASS:
		return add_class(n, r);
	case OBJECT_METHOD:
		return add_method(n, r);
	case OBJECT_SITE:
		return add_site(n, r);
	case OBJECT_GONE:
		end_class(n, object_names_id(r));
		return 0;
	default:
		return 0;
	}
}

uint32_t object_names_site(const struct object_names *n, uint64_t id)
{
	return n->again ? object_ids_row(&n->site_ids, id) : keymap_find_number(&n->site_map, id);
}

uint32_t object_names_class(const struct object_names *n, uint64_t id)
{
	return object_names_class_row(n, id);
}

uint32_t object_names_class_at(const struct object_names *n, uint32_t klass)
{
	uint32_t k = keymap_find_number(&n->key_map, klass);

	return k == INDEX_NONE ? INDEX_NONE : n->class_of_key[k].now;
}

int object_names_kind(struct object_names *n, const struct object_kind *kind, uint32_t *ret)
{
	struct keymap_key key = {.a = kind->site,
				 .b = 1 + (uint64_t)kind->class,
				 .c = 1 + (uint64_t)kind->thread,
				 .d = kind->part};
	uint32_t i = keymap_find_hashed(&n->kind_map, &key);
	int err;

	if (i != INDEX_NONE) {
		*ret = 1 + i;
		return 0;
	}
	if (n->kind_count >= OBJECT_KINDS_MAX)
		return -ENOMEM;
	err = array_grow(&n->kinds, &n->kinds_capacity, n->kind_count, sizeof(*n->kinds));
	if (!err)
		err = keymap_add_hashed(&n->kind_map, &key, &i);
	if (err)
		return err;
	n->kinds[n->kind_count] = *kind;
	n->kinds[n->kind_count++].of = (struct object_tally){0};
	*ret = 1 + i;
	return 0;
}

uint64_t object_names_units(const struct object_names *n, uint32_t class, uint64_t length,
			    unsigned shift)
{
	uint64_t unit = 1ull << shift, bytes;
	uint32_t layout;

	if (class == INDEX_NONE)
		return 0;
	layout = (uint32_t)n->classes[class].layout;
	if (n->classes[class].layout > 0)
		bytes = layout & ~7u;
	else
		bytes = (layout >> 16 & 0xff) + (length << (layout & 7));
	bytes = (bytes + unit - 1) >> shift;
	return bytes < UNITS_MAX ? bytes : UNITS_MAX;
}

bool object_names_is_array(const struct object_names *n, uint32_t class)
{
	return class != INDEX_NONE && n->classes[class].layout < 0;
}

static const char *const primitives[] = {
	['B'] = "byte", ['C'] = "char", ['D'] = "double", ['F'] = "float",
	['I'] = "int",  ['J'] = "long", ['S'] = "short",  ['Z'] = "boolean",
};

char *object_class_text(const struct object_names *n, uint32_t class, char *buf, size_t size)
{
	const char *name = class == INDEX_NONE ? "(unknown)" : n->classes[class].name;
	size_t dimensions = strspn(name, "["), length, i;

	name += dimensions;
	length = strlen(name);
	if (dimensions && length == 1 &&
	    (unsigned char)*name < sizeof(primitives) / sizeof(char *) &&
	    primitives[(unsigned char)*name])
		snprintf(buf, size, "%s", primitives[(unsigned char)*name]);
	else if (dimensions && length > 2 && *name == 'L' && name[length - 1] == ';')
		snprintf(buf, size, "%.*s", (int)(length - 2), name + 1);
	else
		snprintf(buf, size, "%s", name);
	for (i = 0; buf[i]; i++)
		if (buf[i] == '/')
			buf[i] = '.';
	for (; dimensions && i + 2 < size; dimensions--, i += 2)
		memcpy(buf + i, "[]", 3);
	return buf;
}

#define BCI_NATIVE UINT32_MAX /* what HotSpot calls the bytecode of a frame that has none */

static const struct object_method *method_of(const struct object_names *n,
					     const struct object_frame *f)
{
	uint32_t i = keymap_find_number(&n->method_map, f->method);

	return i == INDEX_NONE ? NULL : &n->methods[i];
}

char *object_method_text(const struct object_names *n, uint32_t site, uint32_t frame, char *buf,
			 size_t size)
{
	const struct object_site *s = site == INDEX_NONE ? NULL : &n->sites[site];
	const struct object_method *m;

	if (!s || frame >= s->frame_count) {
		snprintf(buf, size, s ? "(the JVM itself)" : "(unknown)");
		return buf;
	}
	m = method_of(n, &n->frames[s->first_frame + frame]);
	if (!m) {
		snprintf(buf, size, "(unknown)");
		return buf;
	}
	object_class_text(n, m->class, buf, size);
	buffer_add(buf, size, ".%s", m->name);
	return buf;
}

char *object_frame_text(const struct object_names *n, uint32_t site, uint32_t frame, char *buf,
			size_t size)
{
	const struct object_site *s = site == INDEX_NONE ? NULL : &n->sites[site];
	const struct object_frame *f =
		s && frame < s->frame_count ? &n->frames[s->first_frame + frame] : NULL;

	object_method_text(n, site, frame, buf, size);
	if (f && f->bci != BCI_NATIVE && method_of(n, f))
		buffer_add(buf, size, ":%u", f->bci);
	/* Of a name that is too long the mark stays. */
	if (f && frame >= s->frame_count - s->inferred) {
		size_t used = strlen(buf), mark = strlen(OBJECT_FRAME_INFERRED);

		if (used + mark + 1 > size && size > mark)
			buf[size - mark - 1] = '\0';
		buffer_add(buf, size, "%s", OBJECT_FRAME_INFERRED);
	}
	return buf;
}

const char *object_code_text(const struct object_names *n, uint32_t site)
{
	static const char *const names[] = {
		[SPOOR_TIER_VM] = "the JVM's runtime",
		[SPOOR_TIER_INTERPRETER] = "interpreter",
		[SPOOR_TIER_C1] = "C1",
		[SPOOR_TIER_C2] = "C2",
	};
	uint32_t tier = site == INDEX_NONE ? UINT32_MAX : n->sites[site].tier;

	return tier < sizeof(names) / sizeof(*names) ? names[tier] : "(unknown)";
}

bool object_names_was_there(const struct object_names *n, uint32_t site)
{
	return site != INDEX_NONE && n->sites[site].tier == SPOOR_TIER_HEAP;
}

bool object_names_was_found(const struct object_names *n, uint32_t kind)
{
	return object_names_was_there(n, n->kinds[kind].site);
}
