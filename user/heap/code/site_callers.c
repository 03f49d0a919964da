/*
 * What the log itself has seen comes first: a class that is in no class file may call anything, and
 * a caller that the compiler has inlined refutes any other.
 */
#include "heap/code/site_callers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/code/call_graph.h"
#include "heap/replay/object_names.h"
#include "log/format/object_record.h"

struct extender {
	struct object_names *names;
	struct call_graph *graph;
	struct site_callers *ret;
	uint32_t *graph_method; /* by method of names; CALL_GRAPH_NONE: not in the graph */
	struct keymap ids;      /* methods of the graph: the method id that the log has for it */
	uint32_t *id;           /* by ids; 0: none yet */
	uint32_t id_capacity;
	uint32_t next_method, next_class; /* ids that the log has not */
};

/* Of the JDK, or made at run time: lambdas call what their handles refer to, proxies and accessors
 * what reflection finds. */
static bool is_foreign(const char *name)
{
	static const char *const prefixes[] = {"java/", "javax/", "jdk/", "sun/", "com/sun/", "["};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return strstr(name, "$$Lambda") || strstr(name, "$Proxy") || !*name;
}

static void find_missing(struct extender *e)
{
	for (uint32_t i = 0; i < e->names->class_map.count; i++) {
		const char *name = e->names->classes[i].name;

		if (is_foreign(name) || call_graph_class(e->graph, name) != CALL_GRAPH_NONE)
			continue;
		if (e->ret->missing < SITE_CALLERS_NAMED)
			e->ret->named[e->ret->missing] = i;
		e->ret->missing++;
	}
	if (e->ret->missing)
		call_graph_incomplete(e->graph);
}

/* Which method of the log is which one of the graph. */
static int match(struct extender *e)
{
	const struct object_names *n = e->names;
	int err = 0;

	e->next_method = e->next_class = 1;
	for (uint32_t i = 0; i < n->class_map.count; i++)
		if (n->classes[i].id >= e->next_class && n->classes[i].id < UINT32_MAX)
			e->next_class = (uint32_t)n->classes[i].id + 1;
	for (uint32_t i = 0; i < n->method_map.count && !err; i++) {
		const struct object_method *m = &n->methods[i];
		uint32_t class = m->class == INDEX_NONE
					 ? CALL_GRAPH_NONE
					 : call_graph_class(e->graph, n->classes[m->class].name),
			 found = CALL_GRAPH_NONE, at;

		if (class != CALL_GRAPH_NONE)
			found = call_graph_method(e->graph, class, m->name, m->signature);
		e->graph_method[i] = found;
		if (m->id >= e->next_method && m->id < UINT32_MAX)
			e->next_method = (uint32_t)m->id + 1;
		if (found == CALL_GRAPH_NONE || m->id > UINT32_MAX)
			continue;
		err = keymap_add_row(&e->ids, (struct keymap_key){.a = found}, &e->id,
				     &e->id_capacity, sizeof(*e->id), &at);
		if (!err)
			e->id[at] = (uint32_t)m->id;
	}
	return err;
}

static uint32_t graph_method_of(const struct extender *e, const struct object_frame *f)
{
	uint32_t i = keymap_find_number(&e->names->method_map, f->method);

	return i == INDEX_NONE ? CALL_GRAPH_NONE : e->graph_method[i];
}

static void note_seen(struct extender *e)
{
	const struct object_names *n = e->names;

	for (uint32_t i = 0; i < n->site_map.count; i++) {
		const struct object_site *s = &n->sites[i];

		for (uint32_t f = 0; f + 1 < s->frame_count; f++) {
			const struct object_frame *frame = &n->frames[s->first_frame + f];
			uint32_t method = graph_method_of(e, frame);

			if (method != CALL_GRAPH_NONE)
				call_graph_seen(e->graph, method, graph_method_of(e, frame + 1));
		}
	}
}

/* --- names of the log for methods of the graph --------------------------------------------- */

static int add_class(struct extender *e, const char *name, uint64_t *ret)
{
	struct object_record r = {.kind = OBJECT_CLASS};
	const struct object_names *n = e->names;

	for (uint32_t i = 0; i < n->class_map.count; i++)
		if (!strcmp(n->classes[i].name, name)) {
			*ret = n->classes[i].id;
			return 0;
		}
	if (e->next_class == UINT32_MAX)
		return -EFBIG;
	*ret = e->next_class++;
	r.number[CLASS_ID] = *ret;
	r.number[CLASS_KLASS] = (uint64_t)UINT32_MAX + *ret; /* no object has it */
	r.text[0] = name;
	r.text_bytes[0] = (uint32_t)strlen(name);
	return object_names_add(e->names, &r);
}

static int add_method(struct extender *e, uint32_t method, uint32_t *ret)
{
	struct call_graph_name name = call_graph_name(e->graph, method);
	struct object_record r = {.kind = OBJECT_METHOD};
	int err = add_class(e, name.class, &r.number[METHOD_CLASS_ID]);

	if (err)
		return err;
	if (e->next_method == UINT32_MAX)
		return -EFBIG;
	*ret = e->next_method++;
	r.number[METHOD_ID] = *ret;
	r.text[0] = name.name;
	r.text_bytes[0] = (uint32_t)strlen(name.name);
	r.text[1] = name.descriptor;
	r.text_bytes[1] = (uint32_t)strlen(name.descriptor);
	return object_names_add(e->names, &r);
}

/* The log's id of a method of the graph, made if need be. */
static int method_id(struct extender *e, uint32_t method, uint32_t *ret)
{
	uint32_t at;
	int err = keymap_add_row(&e->ids, (struct keymap_key){.a = method}, &e->id, &e->id_capacity,
				 sizeof(*e->id), &at);

	if (!err && !e->id[at])
		err = add_method(e, method, &e->id[at]);
	if (!err)
		*ret = e->id[at];
	return err;
}

static bool is_among(const uint32_t *all, uint32_t count, uint32_t wanted)
{
	for (uint32_t i = 0; i < count; i++)
		if (all[i] == wanted)
			return true;
	return false;
}

static int extend(struct extender *e, uint32_t site)
{
	const struct object_site *s = &e->names->sites[site];
	struct object_frame added[OBJECT_FRAMES_MAX];
	uint32_t methods[OBJECT_FRAMES_MAX], count = 0, method;
	struct call_graph_caller caller;
	int err = 0;

	if (!s->frame_count)
		return 0;
	e->ret->sites++;
	method = graph_method_of(e, &e->names->frames[s->first_frame + s->frame_count - 1]);
	while (!err && method != CALL_GRAPH_NONE && s->frame_count + count < OBJECT_FRAMES_MAX &&
	       !call_graph_caller(e->graph, method, &caller) &&
	       !is_among(methods, count, caller.method)) {
		method = methods[count] = caller.method;
		added[count].bci = caller.bci;
		err = method_id(e, method, &added[count].method);
		count += !err;
	}
	if (!err && count)
		err = object_names_extend(e->names, site, added, count);
	e->ret->extended += count != 0;
	e->ret->frames += count;
	return err;
}

int site_callers_extend(struct object_names *names, struct call_graph *g, struct site_callers *ret)
{
	struct extender e = {.names = names, .graph = g, .ret = ret};
	uint32_t sites = names->site_map.count;
	int err;

	*ret = (struct site_callers){0};
	e.graph_method = malloc((names->method_map.count + 1ul) * sizeof(*e.graph_method));
	if (!e.graph_method)
		return -ENOMEM;
	find_missing(&e);
	err = match(&e);
	if (!err)
		note_seen(&e);
	/* Methods that are added are of the graph, and are not looked up again. */
	for (uint32_t i = 0; i < sites && !err; i++)
		err = extend(&e, i);
	keymap_free(&e.ids);
	free(e.id);
	free(e.graph_method);
	return err;
}
