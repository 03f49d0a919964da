#include "heap/classify/heap_by_origin.h"

#include <string.h>

#include "heap/state/heap_state.h"

/* NULL: of a dump. */
static const struct heap_origin *origin(const struct heap_view *v, const struct heap_item *item)
{
	uint32_t i = v->state->descs[item->desc].origin;

	return i ? &v->state->origins[i - 1] : NULL;
}

/* Texts that are the same are one group. */
static void add_text(struct heap_view *v, uint32_t text, struct heap_keys *ret)
{
	const char *name = heap_types_text(&v->state->types, text);

	heap_keys_add(ret, heap_view_text(v, name, strlen(name)));
}

void heap_by_site(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	const struct heap_origin *o = origin(v, item);

	if (o)
		add_text(v, o->site, ret);
}

void heap_by_method(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	const struct heap_origin *o = origin(v, item);

	if (o)
		add_text(v, o->method, ret);
}

void heap_by_code(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	const struct heap_origin *o = origin(v, item);

	if (o)
		add_text(v, o->code, ret);
}

void heap_by_age(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	const struct heap_origin *o = origin(v, item);

	if (o)
		heap_keys_add(ret, o->age);
}
