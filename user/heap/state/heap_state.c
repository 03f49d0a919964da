#include "heap/state/heap_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/saturate.h"

#define GAP_MAX (1ull << 40)

int heap_state_init(struct heap_state *s, unsigned id_bytes, bool with_objects)
{
	int err;

	*s = (struct heap_state){.with_objects = with_objects};
	err = heap_types_init(&s->types, id_bytes);
	if (err)
		heap_state_free(s);
	return err;
}

void heap_state_free(struct heap_state *s)
{
	heap_types_free(&s->types);
	heap_objects_free(&s->objects);
	keymap_free(&s->desc_keys);
	keymap_free(&s->loader_keys);
	free(s->descs);
	free(s->roots);
	free(s->loaders);
	free(s->origins);
	free(s->frames);
	free(s->class_addresses);
	*s = (struct heap_state){0};
}

static int desc_find(struct heap_state *s, struct heap_desc sought, uint32_t *ret)
{
	struct keymap_key key = {.a = (uint64_t)sought.type << 32 | sought.length,
				 .b = sought.of_class == HEAP_NONE ? 0 : sought.of_class + 1ul,
				 .c = sought.origin,
				 .d = sought.bytes};
	uint32_t known = s->desc_keys.count;
	int err = keymap_add_row(&s->desc_keys, key, &s->descs, &s->desc_capacity,
				 sizeof(*s->descs), ret);

	if (!err && *ret == known)
		s->descs[*ret] = sought;
	s->desc_count = s->desc_keys.count;
	return err;
}

static int object_add(struct heap_state *s, uint64_t address, uint32_t desc)
{
	s->descs[desc].count++;
	s->object_count++;
	s->address_bits |= address;
	return s->with_objects ? heap_objects_add(&s->objects, address, desc) : 0;
}

static int by_address(const void *a, const void *b)
{
	const struct heap_class_address *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* The first class's object after an address; objects mostly come in the order of addresses. */
static const struct heap_class_address *class_after(struct heap_state *s, uint64_t address)
{
	const struct heap_class_address *all = s->class_addresses;
	uint32_t next = s->class_next, low = 0, high = s->class_count;

	if (!s->classes_sorted && s->class_count)
		qsort(s->class_addresses, s->class_count, sizeof(*s->class_addresses), by_address);
	s->classes_sorted = true;
	if ((next == s->class_count || all[next].address > address) &&
	    (!next || all[next - 1].address <= address))
		return next < s->class_count ? &all[next] : NULL;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (all[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	s->class_next = low;
	return low < s->class_count ? &all[low] : NULL;
}

static void keep_least(int64_t *least, uint64_t room, uint64_t used)
{
	int64_t left = (int64_t)room - (int64_t)used;

	if (room < GAP_MAX && used < GAP_MAX && left < *least)
		*least = left;
}

/* The object at an address, of a type and length, ends before the address end at the latest. */
static void object_ends(struct heap_state *s, const struct heap_extent *p, uint64_t end)
{
	struct heap_type *t = &s->types.all[p->type];
	uint64_t room = end - p->address;

	if (t->kind == HEAP_OBJECT_ARRAY) {
		keep_least(&t->gap.least, room, 4ull * p->length);
		keep_least(&t->gap.wide, room, 8ull * p->length);
	} else if (t->kind == HEAP_PRIMITIVE_ARRAY) {
		keep_least(&t->gap.least, room,
			   (uint64_t)heap_value_bytes(t->element, 4) * p->length);
	} else {
		keep_least(&t->gap.least, room, 0);
	}
}

/* Classes' objects come before all others, wherever they lie between them. */
static void object_begins(struct heap_state *s, const struct heap_extent *p)
{
	const struct heap_class_address *c, *end;

	if (s->last.address && p->address > s->last.address) {
		c = class_after(s, s->last.address);
		if (c && c->address < p->address) {
			object_ends(s, &s->last, c->address);
			end = s->class_addresses + s->class_count;
			for (; c < end && c->address < p->address; c++) {
				bool more = c + 1 < end && c[1].address < p->address;

				keep_least(&s->types.all[c->type].class_gap.least,
					   (more ? c[1].address : p->address) - c->address, 0);
			}
		} else {
			object_ends(s, &s->last, p->address);
		}
	}
	s->last = *p;
}

static unsigned loader_bit(uint64_t address)
{
	return (unsigned)(address >> 3) % (8 * sizeof(((struct heap_state *)0)->loader_bits));
}

/* Class loaders are few, and classes, which name them, come first. */
static void note_loader(struct heap_state *s, uint64_t address, uint32_t type)
{
	unsigned bit = loader_bit(address);
	uint32_t at;

	if (!(s->loader_bits[bit / 8] & 1u << bit % 8))
		return;
	at = keymap_find(&s->loader_keys, (struct keymap_key){.a = address});
	if (at != INDEX_NONE)
		s->loaders[at].type = type;
}

int heap_state_object(struct heap_state *s, uint64_t address, uint32_t type, uint32_t length)
{
	struct heap_type *t = &s->types.all[type];
	uint32_t desc = t->kind == HEAP_INSTANCE ? t->desc : HEAP_NONE;
	int err = 0;

	if (desc == HEAP_NONE)
		err = desc_find(s, (struct heap_desc){type, length, HEAP_NONE, 0, 0, 0}, &desc);
	if (err)
		return err;
	if (t->kind == HEAP_INSTANCE)
		t->desc = desc;
	object_begins(s, &(struct heap_extent){address, type, length});
	note_loader(s, address, type);
	return object_add(s, address, desc);
}

static int loader_add(struct heap_state *s, uint64_t id)
{
	uint32_t at, known = s->loader_keys.count;
	int err = keymap_add_row(&s->loader_keys, (struct keymap_key){.a = id}, &s->loaders,
				 &s->loader_capacity, sizeof(*s->loaders), &at);

	if (!err && at == known)
		s->loaders[at] = (struct heap_loader){id, HEAP_NONE};
	s->loader_bits[loader_bit(id) / 8] |= (uint8_t)(1u << loader_bit(id) % 8);
	return err;
}

static int class_add(struct heap_state *s, uint32_t type, uint64_t bytes)
{
	uint64_t id = s->types.all[type].id, loader = s->types.all[type].loader_id;
	uint32_t desc;
	int err = loader ? loader_add(s, loader) : 0;

	/* Its own type is not known yet; heap_state_finish has it. */
	if (!err)
		err = desc_find(s, (struct heap_desc){0, 0, type, 0, bytes, 0}, &desc);
	if (!err)
		err = array_grow(&s->class_addresses, &s->class_capacity, s->class_count,
				 sizeof(*s->class_addresses));
	if (err)
		return err;
	s->class_addresses[s->class_count++] = (struct heap_class_address){id, type};
	s->classes_sorted = false;
	if (s->with_objects)
		s->types.all[type].class_object = s->objects.count;
	return object_add(s, id, desc);
}

int heap_state_class(struct heap_state *s, uint32_t type)
{
	return class_add(s, type, 0);
}

int heap_state_class_described(struct heap_state *s, uint32_t type, uint64_t bytes)
{
	s->is_log = true;
	return class_add(s, type, bytes);
}

int heap_state_described(struct heap_state *s, uint64_t address, struct heap_desc sought)
{
	uint32_t desc;
	int err = desc_find(s, sought, &desc);

	s->is_log = true;
	note_loader(s, address, sought.type);
	return err ? err : object_add(s, address, desc);
}

int heap_state_root(struct heap_state *s, struct heap_root root)
{
	int err;

	if (!s->with_objects)
		return 0;
	err = array_grow(&s->roots, &s->root_capacity, s->root_count, sizeof(*s->roots));
	if (!err)
		s->roots[s->root_count++] = root;
	return err;
}

uint32_t heap_state_loader(const struct heap_state *s, uint32_t type)
{
	uint64_t id = s->types.all[type].loader_id;

	return id ? keymap_find(&s->loader_keys, (struct keymap_key){.a = id}) : HEAP_NONE;
}

/* The type of the objects that stand for classes. */
static int class_type(struct heap_state *s, uint32_t *ret)
{
	uint32_t type = 0, text;
	int err;

	while (type < s->types.count &&
	       strcmp(heap_type_name(&s->types, type), "java.lang.Class") != 0)
		type++;
	*ret = type;
	if (type < s->types.count)
		return 0;
	err = heap_types_add(&s->types, UINT64_MAX, ret);
	if (!err)
		err = heap_types_text_add(&s->types, UINT64_MAX, "java/lang/Class", 15);
	if (err)
		return err;
	text = heap_types_text_find(&s->types, UINT64_MAX);
	return heap_types_name(&s->types, *ret, text);
}

static void set_sizes(struct heap_state *s, uint32_t of_classes)
{
	for (uint32_t i = 0; i < s->desc_count; i++) {
		struct heap_desc *d = &s->descs[i];
		uint64_t bytes;

		if (d->of_class != HEAP_NONE)
			d->type = of_classes;
		if (s->is_log) {
			/* They have come with it. */
		} else if (d->of_class != HEAP_NONE) {
			d->bytes = s->types.all[d->of_class].class_bytes;
		} else {
			d->bytes = heap_layout_bytes(&s->layout, &s->types.all[d->type], d->length);
		}
		if (__builtin_mul_overflow(d->bytes, d->count, &bytes))
			bytes = UINT64_MAX;
		s->bytes = sum_saturated(s->bytes, bytes);
	}
}

int heap_state_finish(struct heap_state *s)
{
	uint32_t of_classes;
	int err = class_type(s, &of_classes);

	if (err)
		return err;
	if (!s->is_log)
		heap_layout_infer(&s->layout, &s->types, s->address_bits);
	set_sizes(s, of_classes);
	err = s->with_objects ? heap_objects_resolve(&s->objects) : 0;
	if (err)
		return err;
	for (uint32_t i = 0; i < s->root_count; i++)
		s->roots[i].object = heap_objects_find(&s->objects, s->roots[i].address);
	return 0;
}
