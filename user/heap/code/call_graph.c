/* Class files in, tables out; call_graph_callers.c asks them. */
#include "heap/code/call_graph_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct call_graph *call_graph_new(void)
{
	struct call_graph *g = calloc(1, sizeof(*g));

	if (g)
		g->class = g->method = CALL_GRAPH_NONE;
	return g;
}

void call_graph_free(struct call_graph *g)
{
	if (!g)
		return;
	keymap_free(&g->text_keys);
	keymap_free(&g->class_keys);
	keymap_free(&g->method_keys);
	keymap_free(&g->call_keys);
	keymap_free(&g->string_keys);
	strbuf_free(&g->texts);
	free(g->text_at);
	free(g->classes);
	free(g->links);
	free(g->methods);
	free(g->calls);
	free(g->first_call);
	free(g);
}

static struct keymap_key text_key(const char *text, size_t length)
{
	return (struct keymap_key){.a = hash_bytes(text, length), .b = length + 1};
}

/* INDEX_NONE: nothing is called that. */
static uint32_t graph_text_find(const struct call_graph *g, const char *text, size_t length)
{
	return keymap_find(&g->text_keys, text_key(text, length));
}

static int text_add(struct call_graph *g, struct class_text t, uint32_t *ret)
{
	uint32_t known = g->text_keys.count;
	int err = keymap_add_row(&g->text_keys, text_key(t.bytes, t.length), &g->text_at,
				 &g->text_capacity, sizeof(*g->text_at), ret);

	if (!err && *ret == known) {
		g->text_at[*ret] = g->texts.used;
		strbuf_put(&g->texts, t.bytes, t.length);
		strbuf_put(&g->texts, "", 1);
	}
	return err ? err : g->texts.err;
}

static int class_add(struct call_graph *g, struct class_text name, uint32_t *ret)
{
	uint32_t known = g->class_keys.count, text;
	int err = text_add(g, name, &text);

	if (!err)
		err = keymap_add_row(&g->class_keys, (struct keymap_key){.a = text}, &g->classes,
				     &g->classes_capacity, sizeof(*g->classes), ret);
	if (!err && *ret == known) {
		g->classes[*ret].name = text;
		g->classes[*ret].super = CALL_GRAPH_NONE;
	}
	return err;
}

static int link_add(struct call_graph *g, uint32_t class, uint32_t *first)
{
	int err = array_grow(&g->links, &g->links_capacity, g->link_count, sizeof(*g->links));

	if (err)
		return err;
	g->links[g->link_count] = (struct graph_link){class, *first};
	*first = ++g->link_count;
	return 0;
}

static int super_add(struct call_graph *g, struct class_text name, uint32_t *ret)
{
	uint32_t super;
	int err = class_add(g, name, &super);

	if (!err)
		err = link_add(g, super, &g->classes[g->class].supers);
	if (!err)
		err = link_add(g, g->class, &g->classes[super].subs);
	*ret = super;
	return err;
}

/* --- what a class file has ---------------------------------------------------------------- */

static int head(void *ctx, const struct class_head *h)
{
	struct call_graph *g = ctx;
	uint32_t super = CALL_GRAPH_NONE;
	int err = class_add(g, h->name, &g->class);

	if (err)
		return err;
	g->known_count += !g->classes[g->class].known;
	g->classes[g->class].known = true;
	g->classes[g->class].access |= h->access;
	g->classes[g->class].annotated |= h->annotated;
	if (h->super.length)
		err = super_add(g, h->super, &super);
	if (!err)
		g->classes[g->class].super = super;
	return err;
}

static int interface(void *ctx, struct class_text name)
{
	uint32_t super;

	return super_add(ctx, name, &super);
}

static int method_get(struct call_graph *g, uint32_t class, const struct class_text text[2],
		      uint32_t *ret)
{
	uint32_t name, descriptor, known;
	int err = text_add(g, text[0], &name);

	if (!err)
		err = text_add(g, text[1], &descriptor);
	if (err)
		return err;
	known = g->method_keys.count;
	err = keymap_add_row(&g->method_keys,
			     (struct keymap_key){.a = class,
						 .b = 1 + (uint64_t)name,
						 .c = 1 + (uint64_t)descriptor},
			     &g->methods, &g->methods_capacity, sizeof(*g->methods), ret);
	if (!err && *ret == known)
		g->methods[*ret] = (struct graph_method){
			.class = class, .name = name, .descriptor = descriptor};
	return err;
}

static int method(void *ctx, const struct class_method *m)
{
	struct call_graph *g = ctx;
	struct graph_method *row;
	int err = method_get(g, g->class, (const struct class_text[]){m->name, m->descriptor},
			     &g->method);

	if (err)
		return err;
	/* Of a class that comes twice, a method is private or static if it is so both times. */
	row = &g->methods[g->method];
	row->access = row->read ? row->access & m->access : m->access;
	row->read = true;
	row->annotated |= m->annotated;
	return 0;
}

static int call_add(struct call_graph *g, const struct class_call *c, uint32_t caller)
{
	uint32_t class, name, descriptor, at;
	int err = class_add(g, c->class, &class);

	if (!err)
		err = text_add(g, c->name, &name);
	if (!err)
		err = text_add(g, c->descriptor, &descriptor);
	if (!err)
		err = keymap_add_row(&g->call_keys,
				     (struct keymap_key){.a = name, .b = 1 + (uint64_t)descriptor},
				     &g->first_call, &g->first_capacity, sizeof(*g->first_call),
				     &at);
	if (!err && g->call_count == CALL_GRAPH_CALLS_MAX)
		err = -EFBIG;
	if (!err)
		err = array_grow(&g->calls, &g->calls_capacity, g->call_count, sizeof(*g->calls));
	if (err)
		return err;
	g->calls[g->call_count] =
		(struct graph_call){caller, c->bci, class, g->first_call[at], (uint8_t)c->kind};
	g->first_call[at] = ++g->call_count;
	return 0;
}

static int call(void *ctx, const struct class_call *c)
{
	struct call_graph *g = ctx;

	return call_add(g, c, g->method);
}

/* Whoever has the handle may call. */
static int handle(void *ctx, const struct class_call *c)
{
	return call_add(ctx, c, CALL_GRAPH_NONE);
}

static int string(void *ctx, struct class_text t)
{
	struct call_graph *g = ctx;
	uint32_t i;

	return keymap_add(&g->string_keys, text_key(t.bytes, t.length), &i);
}

int call_graph_add(struct call_graph *g, const uint8_t *bytes, size_t count)
{
	const struct class_visitor v = {head, interface, method, call, handle, string, g};
	int err = class_file_read(bytes, count, &v);

	g->incomplete |= err != 0;
	g->class = g->method = CALL_GRAPH_NONE;
	return err;
}

void call_graph_incomplete(struct call_graph *g)
{
	g->incomplete = true;
}

uint32_t call_graph_classes(const struct call_graph *g)
{
	return g->known_count;
}

/* --- names -------------------------------------------------------------------------------- */

uint32_t call_graph_class(const struct call_graph *g, const char *name)
{
	uint32_t text = graph_text_find(g, name, strlen(name)), class;

	if (text == INDEX_NONE)
		return CALL_GRAPH_NONE;
	class = keymap_find_number(&g->class_keys, text);
	return class != INDEX_NONE && g->classes[class].known ? class : CALL_GRAPH_NONE;
}

uint32_t call_graph_method(const struct call_graph *g, uint32_t class, const char *name,
			   const char *descriptor)
{
	uint32_t n = graph_text_find(g, name, strlen(name)),
		 d = graph_text_find(g, descriptor, strlen(descriptor));

	return n == INDEX_NONE || d == INDEX_NONE ? CALL_GRAPH_NONE
						  : graph_method_find(g, class, n, d);
}

struct call_graph_name call_graph_name(const struct call_graph *g, uint32_t method)
{
	const struct graph_method *m = &g->methods[method];

	return (struct call_graph_name){graph_text(g, g->classes[m->class].name),
					graph_text(g, m->name), graph_text(g, m->descriptor)};
}
