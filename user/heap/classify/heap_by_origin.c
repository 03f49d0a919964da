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

void heap_by_thread(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	const struct heap_origin *o = origin(v, item);

	if (o && o->thread != HEAP_NONE)
		add_text(v, o->thread, ret);
}

void heap_by_space(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	const struct heap_origin *o = origin(v, item);

	if (o && o->space != HEAP_NONE)
		add_text(v, o->space, ret);
}

void heap_by_chain(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	const struct heap_origin *o = origin(v, item);

	for (uint32_t i = 0; o && i < o->frame_count; i++)
		add_text(v, v->state->frames[o->first_frame + i], ret);
}

void heap_by_callers(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	const struct heap_origin *o = origin(v, item);

	for (uint32_t i = o ? o->frame_count : 0; i--;)
		add_text(v, v->state->frames[o->first_frame + i], ret);
}

void heap_by_age(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	const struct heap_origin *o = origin(v, item);

	if (o)
		heap_keys_add(ret, o->age);
}
