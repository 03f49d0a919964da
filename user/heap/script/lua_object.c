#include "heap/script/lua_object.h"

#include <stdlib.h>
#include <string.h>

#include <lua5.4/lauxlib.h>

#include "heap/graph/heap_dominators.h"
#include "heap/graph/heap_graph.h"
#include "heap/graph/heap_reach.h"
#include "heap/script/lua_limits.h"
#include "heap/state/heap_state.h"

#define OBJECT "object"
#define NEIGHBOURS_MAX 1000 /* that a list has */
#define TEXT_CUT 1000       /* bytes of a name; the heap's author chooses its length */

static struct lua_object_view *view_of(lua_State *lua)
{
	return *(struct lua_object_view **)lua_getextraspace(lua);
}

static const struct heap_item *check_object(lua_State *lua, int at)
{
	return luaL_checkudata(lua, at, OBJECT);
}

static const struct heap_desc *desc(lua_State *lua, const struct heap_item *item)
{
	return &view_of(lua)->view->state->descs[item->desc];
}

static void push_text(lua_State *lua, const char *text, size_t length)
{
	lua_pushlstring(lua, text, length < TEXT_CUT ? length : TEXT_CUT);
}

/* More than the description is asked for: the classifier has said so. */
static void touch(lua_State *lua, unsigned needs, const char *name)
{
	struct lua_object_view *v = view_of(lua);

	if ((v->needs & needs) != needs)
		luaL_error(lua, "the classifier wants needs = {\"%s\"} for that", name);
	if (needs)
		v->touched = true;
}

void lua_object_push(lua_State *lua, const struct heap_item *item)
{
	struct heap_item *o = lua_newuserdatauv(lua, sizeof(*o), 0);

	*o = *item;
	luaL_setmetatable(lua, OBJECT);
}

static void push_ordinal(lua_State *lua, uint32_t object)
{
	const struct heap_state *s = view_of(lua)->view->state;

	lua_object_push(lua, &(struct heap_item){s->objects.desc[object], object});
}

static void push_type(lua_State *lua, const struct heap_item *o)
{
	const char *name = heap_type_name(&view_of(lua)->view->state->types, desc(lua, o)->type);

	push_text(lua, name, strlen(name));
}

static void push_package(lua_State *lua, const struct heap_item *o)
{
	const char *name = heap_type_name(&view_of(lua)->view->state->types, desc(lua, o)->type);
	const char *dot = memrchr(name, '.', strcspn(name, "[/"));

	push_text(lua, name, dot ? (size_t)(dot - name) : 0);
}

static void push_size(lua_State *lua, const struct heap_item *o)
{
	lua_pushinteger(lua, (lua_Integer)desc(lua, o)->bytes);
}

static void push_length(lua_State *lua, const struct heap_item *o)
{
	const struct heap_desc *d = desc(lua, o);

	if (view_of(lua)->view->state->types.all[d->type].kind == HEAP_INSTANCE)
		lua_pushnil(lua);
	else
		lua_pushinteger(lua, d->length);
}

static void push_of_class(lua_State *lua, const struct heap_item *o)
{
	uint32_t type = desc(lua, o)->of_class;
	const char *name = heap_type_name(&view_of(lua)->view->state->types, type);

	if (type == HEAP_NONE)
		lua_pushnil(lua);
	else
		push_text(lua, name, strlen(name));
}

static void push_address(lua_State *lua, const struct heap_item *o)
{
	lua_pushinteger(lua, (lua_Integer)view_of(lua)->view->state->objects.address[o->object]);
}

static void push_retained(lua_State *lua, const struct heap_item *o)
{
	lua_pushinteger(lua, (lua_Integer)view_of(lua)->view->dominators->retained[o->object]);
}

static void push_dominator(lua_State *lua, const struct heap_item *o)
{
	const struct heap_dominators *d = view_of(lua)->view->dominators;

	if (d->above[o->object] < d->count)
		push_ordinal(lua, d->above[o->object]);
	else
		lua_pushnil(lua);
}

/* The groups that a built-in classifier has for it: a text, nil, or a list. */
static void push_by(lua_State *lua, const struct heap_item *o, const struct heap_classifier *c)
{
	struct lua_object_view *v = view_of(lua);
	uint32_t count;

	v->keys.count = 0;
	heap_classify(c, v->view, o, &v->keys);
	if (v->keys.err || v->view->err)
		luaL_error(lua, "no memory");
	count = v->keys.count;
	lua_limits_charge(lua, 1 + 4 * (uint64_t)count);
	if (c->shape != HEAP_ONE)
		lua_createtable(lua, (int)(count < NEIGHBOURS_MAX ? count : NEIGHBOURS_MAX), 0);
	else if (!count)
		lua_pushnil(lua);
	for (uint32_t i = 0; i < count && i < NEIGHBOURS_MAX; i++) {
		strbuf_clear(&v->label);
		c->label(v->view, v->keys.all[i], &v->label);
		push_text(lua, strbuf_text(&v->label), v->label.used);
		if (c->shape != HEAP_ONE)
			lua_rawseti(lua, -2, (lua_Integer)i + 1);
	}
}

static int method_by(lua_State *lua)
{
	const struct heap_item *o = check_object(lua, 1);
	size_t length;
	const char *name = luaL_checklstring(lua, 2, &length);
	const struct heap_classifier *c = heap_classifier_find(name, length);

	if (!c)
		return luaL_error(lua, "there is no built-in classifier '%s'", name);
	touch(lua, c->needs, c->name);
	push_by(lua, o, c);
	return 1;
}

static int method_is(lua_State *lua)
{
	const struct heap_item *o = check_object(lua, 1);

	lua_limits_charge(lua, 16);
	lua_pushboolean(lua, heap_type_is(&view_of(lua)->view->state->types, desc(lua, o)->type,
					  luaL_checkstring(lua, 2)));
	return 1;
}

/* What a reference field of an instance refers to: the nearest class's, if there are several. */
static int method_field(lua_State *lua)
{
	const struct heap_item *o = check_object(lua, 1);
	const char *name = luaL_checkstring(lua, 2);
	const struct heap_state *s = view_of(lua)->view->state;
	const struct heap_type *t = &s->types.all[desc(lua, o)->type];
	uint32_t to = HEAP_NONE, first;

	touch(lua, HEAP_NEEDS_GRAPH, "fields");
	first = s->objects.ref_at[o->object];
	if (t->kind == HEAP_INSTANCE && desc(lua, o)->of_class == HEAP_NONE &&
	    s->objects.ref_at[o->object + 1] - first >= t->ref_count) {
		lua_limits_charge(lua, 1 + t->ref_count);
		for (uint32_t i = 0; i < t->ref_count; i++) {
			const struct heap_field *f =
				&s->types.fields[s->types.refs[t->refs + i].field];

			if (strcmp(heap_types_text(&s->types, f->name), name) != 0)
				continue;
			to = s->objects.refs[first + i];
			break;
		}
	}
	if (to == HEAP_NONE)
		lua_pushnil(lua);
	else
		push_ordinal(lua, to);
	return 1;
}

static int method_points_to(lua_State *lua)
{
	const struct heap_item *o = check_object(lua, 1);
	struct heap_edges e;
	struct heap_edge edge;

	touch(lua, HEAP_NEEDS_GRAPH, "points_to");
	e = heap_edges_of(view_of(lua)->view->graph, o->object);
	lua_newtable(lua);
	for (lua_Integer n = 0; n < NEIGHBOURS_MAX && heap_edges_next(&e, &edge);) {
		if (edge.index == HEAP_NONE)
			continue;
		push_ordinal(lua, edge.to);
		lua_rawseti(lua, -2, ++n);
		lua_limits_charge(lua, 1);
	}
	return 1;
}

static int method_pointed_from(lua_State *lua)
{
	const struct heap_item *o = check_object(lua, 1);
	const struct heap_referrers *r;
	lua_Integer n = 0;

	touch(lua, HEAP_NEEDS_REFERRERS, "pointed_from");
	r = view_of(lua)->view->referrers;
	lua_newtable(lua);
	for (uint32_t i = r->at[o->object]; i < r->at[o->object + 1] && n < NEIGHBOURS_MAX; i++) {
		if (i > r->at[o->object] && r->from[i] == r->from[i - 1])
			continue;
		push_ordinal(lua, r->from[i]);
		lua_rawseti(lua, -2, ++n);
		lua_limits_charge(lua, 1);
	}
	return 1;
}

static const struct {
	const char *name;
	unsigned needs;
	void (*push)(lua_State *lua, const struct heap_item *o);
	lua_CFunction method;
} members[] = {
	{"type", 0, push_type, NULL},
	{"package", 0, push_package, NULL},
	{"size", 0, push_size, NULL},
	{"length", 0, push_length, NULL},
	{"of_class", 0, push_of_class, NULL},
	{"address", HEAP_NEEDS_OBJECTS, push_address, NULL},
	{"retained", HEAP_NEEDS_DOMINATORS, push_retained, NULL},
	{"dominator", HEAP_NEEDS_DOMINATORS, push_dominator, NULL},
	{"is", 0, NULL, method_is},
	{"by", 0, NULL, method_by},
	{"field", HEAP_NEEDS_GRAPH, NULL, method_field},
	{"points_to", HEAP_NEEDS_GRAPH, NULL, method_points_to},
	{"pointed_from", HEAP_NEEDS_REFERRERS, NULL, method_pointed_from},
};

#define MEMBERS (sizeof(members) / sizeof(*members))

/* What is no member is what the built-in classifier of this name says: o.kind, o.root. */
static int index_object(lua_State *lua)
{
	const struct heap_item *o = check_object(lua, 1);
	const struct heap_classifier *c;
	size_t length;
	const char *name = luaL_checklstring(lua, 2, &length);

	for (size_t i = 0; i < MEMBERS; i++) {
		if (strcmp(members[i].name, name) != 0)
			continue;
		if (members[i].method) {
			lua_pushcfunction(lua, members[i].method);
			return 1;
		}
		touch(lua, members[i].needs, name);
		members[i].push(lua, o);
		return 1;
	}
	c = heap_classifier_find(name, length);
	if (!c)
		return luaL_error(lua, "objects have no '%s'", name);
	touch(lua, c->needs, c->name);
	push_by(lua, o, c);
	return 1;
}

static int refuse(lua_State *lua)
{
	return luaL_error(lua, "objects cannot be changed");
}

static int is_equal(lua_State *lua)
{
	const struct heap_item *a = luaL_testudata(lua, 1, OBJECT);
	const struct heap_item *b = luaL_testudata(lua, 2, OBJECT);

	lua_pushboolean(lua, a && b && a->object == b->object && a->desc == b->desc);
	return 1;
}

int lua_object_needs(const char *word)
{
	const struct heap_classifier *c;

	if (!strcmp(word, "fields"))
		return HEAP_NEEDS_GRAPH;
	for (size_t i = 0; i < MEMBERS; i++)
		if (members[i].needs && !strcmp(members[i].name, word))
			return (int)members[i].needs;
	c = heap_classifier_find(word, strlen(word));
	return c ? (int)c->needs : -1;
}

void lua_object_open(lua_State *lua, struct lua_object_view *v)
{
	*(struct lua_object_view **)lua_getextraspace(lua) = v;
	luaL_newmetatable(lua, OBJECT);
	lua_pushcfunction(lua, index_object);
	lua_setfield(lua, -2, "__index");
	lua_pushcfunction(lua, refuse);
	lua_setfield(lua, -2, "__newindex");
	lua_pushcfunction(lua, is_equal);
	lua_setfield(lua, -2, "__eq");
	lua_pop(lua, 1);
}

void lua_object_view_free(struct lua_object_view *v)
{
	free(v->keys.all);
	strbuf_free(&v->label);
}
