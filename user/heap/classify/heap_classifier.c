#include "heap/classify/heap_classifier.h"

#include <inttypes.h>
#include <string.h>

#include "base/text/units.h"
#include "heap/classify/heap_by_graph.h"
#include "heap/classify/heap_by_origin.h"
#include "heap/state/heap_state.h"

#define SUPERS_MAX 64
#define PACKAGES_MAX 32 /* within each other */

static const struct heap_desc *desc(const struct heap_view *v, const struct heap_item *item)
{
	return &v->state->descs[item->desc];
}

static const struct heap_type *type(const struct heap_view *v, const struct heap_item *item)
{
	return &v->state->types.all[desc(v, item)->type];
}

static void text_label(struct heap_view *v, uint64_t key, struct strbuf *ret)
{
	strbuf_add(ret, "%s", heap_view_text_get(v, key));
}

static void by_type(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	heap_keys_add(ret, heap_view_type(v, desc(v, item)->type));
}

/* The class that an object stands for belongs to a package; an array to that of its elements. */
static void by_package(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	const struct heap_desc *d = desc(v, item);
	const char *name = heap_type_name(&v->state->types, d->type), *last;
	size_t length = strcspn(name, "[/");
	unsigned depth = 0;

	last = memrchr(name, '.', length);
	for (const char *dot = name; last && dot <= last && depth < PACKAGES_MAX; dot++)
		if (*dot == '.' && ++depth)
			heap_keys_add(ret, heap_view_text(v, name, (size_t)(dot - name)));
	if (!last)
		heap_keys_add(ret, heap_view_text(v, "(no package)", 12));
}

static void by_superclass(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	const struct heap_types *t = &v->state->types;
	uint32_t first = ret->count, at = desc(v, item)->type;

	for (unsigned i = 0; i < SUPERS_MAX && at != HEAP_NONE; i++) {
		heap_keys_add(ret, heap_view_type(v, at));
		at = t->all[at].super;
	}
	for (uint32_t a = first, b = ret->count; !ret->err && a + 1 < b; a++, b--) {
		uint64_t key = ret->all[a];

		ret->all[a] = ret->all[b - 1];
		ret->all[b - 1] = key;
	}
}

static void by_loader(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	const struct heap_desc *d = desc(v, item);

	heap_keys_add(
		ret, heap_state_loader(v->state, d->of_class == HEAP_NONE ? d->type : d->of_class));
}

static void loader_label(struct heap_view *v, uint64_t key, struct strbuf *ret)
{
	const struct heap_loader *l;

	if (key == HEAP_NONE) {
		strbuf_add(ret, "bootstrap");
		return;
	}
	l = &v->state->loaders[key];
	strbuf_add(ret, "%s @%" PRIx64,
		   l->type == HEAP_NONE ? "(class loader)"
					: heap_type_name(&v->state->types, l->type),
		   l->id);
}

enum { KIND_CLASS = HEAP_KIND_COUNT };

static void by_kind(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	heap_keys_add(ret, desc(v, item)->of_class == HEAP_NONE ? type(v, item)->kind : KIND_CLASS);
}

static void kind_label(struct heap_view *v, uint64_t key, struct strbuf *ret)
{
	static const char *const names[] = {"instance", "object array", "primitive array", "class"};

	(void)v;
	strbuf_add(ret, "%s", names[key]);
}

enum { SHAPE_INSTANCE, SHAPE_SMALL, SHAPE_LARGE, SHAPE_CLASS };

#define SMALL_MAX 255

static void by_shape(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	if (desc(v, item)->of_class != HEAP_NONE)
		heap_keys_add(ret, SHAPE_CLASS);
	else if (type(v, item)->kind == HEAP_INSTANCE)
		heap_keys_add(ret, SHAPE_INSTANCE);
	else
		heap_keys_add(ret, desc(v, item)->length > SMALL_MAX ? SHAPE_LARGE : SHAPE_SMALL);
}

static void shape_label(struct heap_view *v, uint64_t key, struct strbuf *ret)
{
	static const char *const names[] = {"instance", "small array", "large array", "class"};

	(void)v;
	strbuf_add(ret, "%s", names[key]);
}

/* Powers of two: 0, 1, 2-3, 4-7, ... */
static uint64_t power(uint64_t n)
{
	return n ? 64u - (unsigned)__builtin_clzll(n) : 0;
}

static void by_size(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	heap_keys_add(ret, power(desc(v, item)->bytes));
}

static void power_label(struct heap_view *v, uint64_t key, struct strbuf *ret)
{
	char from[UNITS_TEXT_MAX], to[UNITS_TEXT_MAX];

	(void)v;
	if (!key)
		strbuf_add(ret, "0 bytes");
	else if (key >= 64)
		strbuf_add(ret, "%s and more", size_format(1ull << 63, from));
	else
		strbuf_add(ret, "%s to <%s", size_format(1ull << (key - 1), from),
			   size_format(1ull << key, to));
}

static void by_length(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	if (type(v, item)->kind != HEAP_INSTANCE)
		heap_keys_add(ret, power(desc(v, item)->length));
}

static void length_label(struct heap_view *v, uint64_t key, struct strbuf *ret)
{
	(void)v;
	if (key < 2)
		strbuf_add(ret, "%" PRIu64, key);
	else
		strbuf_add(ret, "%" PRIu64 " to %" PRIu64, UINT64_C(1) << (key - 1),
			   (UINT64_C(1) << key) - 1);
}

static void by_length_exact(struct heap_view *v, const struct heap_item *item,
			    struct heap_keys *ret)
{
	if (type(v, item)->kind != HEAP_INSTANCE)
		heap_keys_add(ret, desc(v, item)->length);
}

static void number_label(struct heap_view *v, uint64_t key, struct strbuf *ret)
{
	(void)v;
	strbuf_add(ret, "%" PRIu64, key);
}

#define REGION_BITS 20

static void by_region(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	heap_keys_add(ret, v->state->objects.address[item->object] >> REGION_BITS);
}

static void region_label(struct heap_view *v, uint64_t key, struct strbuf *ret)
{
	(void)v;
	strbuf_add(ret, "0x%" PRIx64, key << REGION_BITS);
}

static void by_address(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	heap_keys_add(ret, v->state->objects.address[item->object]);
}

static void address_label(struct heap_view *v, uint64_t key, struct strbuf *ret)
{
	(void)v;
	strbuf_add(ret, "0x%" PRIx64, key);
}

#define ROW(n, d, s, needed, k, l)                                                                 \
	{                                                                                          \
		.name = (n), .doc = (d), .shape = (s), .needs = (needed), .keys = (k),             \
		.label = (l)                                                                       \
	}

static const struct heap_classifier classifiers[] = {
	ROW("type", "class of the object", HEAP_ONE, HEAP_NEEDS_DESC, by_type, text_label),
	ROW("package", "package of its class, within those around it", HEAP_HIERARCHY,
	    HEAP_NEEDS_DESC, by_package, text_label),
	ROW("superclass", "its class, within its superclasses", HEAP_HIERARCHY, HEAP_NEEDS_DESC,
	    by_superclass, text_label),
	ROW("loader", "class loader of its class", HEAP_ONE, HEAP_NEEDS_DESC, by_loader,
	    loader_label),
	ROW("kind", "instance, object array, primitive array or class", HEAP_ONE, HEAP_NEEDS_DESC,
	    by_kind, kind_label),
	ROW("shape", "instance, small array (up to 255 elements), large array, class", HEAP_ONE,
	    HEAP_NEEDS_DESC, by_shape, shape_label),
	ROW("size", "bytes of the object, by powers of two", HEAP_ONE, HEAP_NEEDS_DESC, by_size,
	    power_label),
	ROW("array_length", "elements of an array, by powers of two", HEAP_ONE, HEAP_NEEDS_DESC,
	    by_length, length_label),
	ROW("length", "elements of an array, exactly", HEAP_ONE, HEAP_NEEDS_DESC, by_length_exact,
	    number_label),
	ROW("region", "megabyte of addresses that the object is in", HEAP_ONE, HEAP_NEEDS_OBJECTS,
	    by_region, region_label),
	ROW("address", "where the object is", HEAP_ONE, HEAP_NEEDS_OBJECTS, by_address,
	    address_label),
	ROW("site", "bytecode that has allocated it (logs only)", HEAP_ONE, HEAP_NEEDS_DESC,
	    heap_by_site, text_label),
	ROW("method", "method that has allocated it (logs only)", HEAP_ONE, HEAP_NEEDS_DESC,
	    heap_by_method, text_label),
	ROW("code", "interpreter, C1, C2 or the JVM's runtime, as what allocated it (logs only)",
	    HEAP_ONE, HEAP_NEEDS_DESC, heap_by_code, text_label),
	ROW("chain", "site, and the callers of it that its compiler has inlined (logs only)",
	    HEAP_HIERARCHY, HEAP_NEEDS_DESC, heap_by_chain, text_label),
	ROW("callers", "the same from the outermost of these callers inwards (logs only)",
	    HEAP_HIERARCHY, HEAP_NEEDS_DESC, heap_by_callers, text_label),
	ROW("thread", "name of the thread that has allocated it (logs only)", HEAP_ONE,
	    HEAP_NEEDS_DESC, heap_by_thread, text_label),
	ROW("space", "eden, survivors, old, humongous, as the collector has it (logs only)",
	    HEAP_ONE, HEAP_NEEDS_DESC, heap_by_space, text_label),
	ROW("age", "collections that have found it alive, 15 being 15 or more (logs only)",
	    HEAP_ONE, HEAP_NEEDS_DESC, heap_by_age, number_label),
	ROW("points_to", "classes of the objects that it refers to", HEAP_MANY, HEAP_NEEDS_GRAPH,
	    heap_by_points_to, text_label),
	ROW("pointed_from", "classes and fields that refer to it", HEAP_MANY, HEAP_NEEDS_REFERRERS,
	    heap_by_pointed_from, text_label),
	ROW("reached", "the strongest way from a root: strong, soft, final, weak, phantom, none",
	    HEAP_ONE, HEAP_NEEDS_GRAPH, heap_by_reach, heap_reach_label),
	ROW("root", "kind of root, of an object that is one", HEAP_ONE, HEAP_NEEDS_GRAPH,
	    heap_by_root, heap_root_label),
	ROW("retained", "bytes that would go with it alone, by powers of two", HEAP_ONE,
	    HEAP_NEEDS_DOMINATORS, heap_by_retained, power_label),
	ROW("dominator", "class of the object without which it would go", HEAP_ONE,
	    HEAP_NEEDS_DOMINATORS, heap_by_dominator, text_label),
};

#define COUNT (sizeof(classifiers) / sizeof(*classifiers))

static bool is_called(const struct heap_classifier *c, const char *name, size_t length)
{
	return strlen(c->name) == length && !memcmp(c->name, name, length);
}

const struct heap_classifier *heap_classifier_find(const char *name, size_t length)
{
	for (size_t i = 0; i < COUNT; i++)
		if (is_called(&classifiers[i], name, length))
			return &classifiers[i];
	return NULL;
}

const struct heap_classifier *heap_classifier_get(const struct heap_own_classifiers *own,
						  unsigned n)
{
	if (n < COUNT)
		return &classifiers[n];
	return own && n - COUNT < own->count ? own->all[n - COUNT] : NULL;
}

const struct heap_classifier *heap_classifier_any(const struct heap_own_classifiers *own,
						  const char *name, size_t length)
{
	const struct heap_classifier *c = NULL;

	for (unsigned i = 0; (c = heap_classifier_get(own, i)); i++)
		if (is_called(c, name, length))
			break;
	return c;
}

int heap_classifier_number(const struct heap_own_classifiers *own, const struct heap_classifier *c)
{
	const struct heap_classifier *known;

	for (int i = 0; c && (known = heap_classifier_get(own, (unsigned)i)); i++)
		if (known == c)
			return i;
	return -1;
}
