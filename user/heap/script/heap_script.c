/*
 * A script is run once, and declares classifiers with classifier{...}; their functions are called
 * for descriptions or objects. One that has looked at nothing but an object's description is not
 * called again for objects of the same description. There is one thread, and the order of calls is
 * that of the dump.
 *
 * What is wrong in a script is an error of one object, which goes to the group (error). A script
 * that goes beyond a bound stops the work: each further call would take as long.
 */
#include "heap/script/heap_script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lua5.4/lauxlib.h>

#include "heap/script/lua_library.h"
#include "heap/script/lua_limits.h"
#include "heap/script/lua_object.h"
#include "heap/state/heap_state.h"

#define NAME_MAX_BYTES 32
#define DOC_MAX_BYTES 120
#define GROUPS_MAX 64 /* that an object is in */
#define GROUP_BYTES_MAX 256
#define TEXTS_MAX (1u << 20) /* different groups; others are "(other)" */

struct own_classifier {
	struct heap_classifier face;
	char name[NAME_MAX_BYTES + 1], doc[DOC_MAX_BYTES + 1];
	struct heap_script *script;
	int function; /* in Lua's registry */
};

struct heap_script {
	lua_State *lua;
	struct lua_limits limits;
	struct lua_object_view view;
	const struct heap_own_classifiers *others;
	bool loading;
	unsigned count;
	struct own_classifier all[HEAP_SCRIPT_CLASSIFIERS_MAX];
	char error[HEAP_SCRIPT_ERROR_MAX], stopped[HEAP_SCRIPT_ERROR_MAX];
};

/* What a call in Lua is given. */
struct call {
	struct heap_script *script;
	const struct own_classifier *classifier;
	const struct heap_item *item;
	struct heap_keys *keys;
	const char *name, *text;
	size_t length;
};

static struct heap_script *script_of(lua_State *lua)
{
	return lua_touserdata(lua, lua_upvalueindex(1));
}

static void own_label(struct heap_view *v, uint64_t key, struct strbuf *ret)
{
	strbuf_add(ret, "%s", heap_view_text_get(v, key));
}

static uint32_t text_key(struct heap_view *v, const char *text, size_t length)
{
	static const char other[] = "(other)";

	if (v->text_keys.count >= TEXTS_MAX) {
		text = other;
		length = sizeof(other) - 1;
	}
	return heap_view_text(v, text, length);
}

static void add_group(lua_State *lua, const struct call *c)
{
	struct heap_view *v = c->script->view.view;
	struct heap_keys *k = c->keys;
	const char *text;
	size_t length;
	uint64_t key;

	switch (lua_type(lua, -1)) {
	case LUA_TSTRING:
	case LUA_TNUMBER:
		text = lua_tolstring(lua, -1, &length);
		break;
	case LUA_TBOOLEAN:
		text = lua_toboolean(lua, -1) ? "yes" : "no";
		length = strlen(text);
		break;
	default:
		luaL_error(lua, "%s: a group is a text, a number or a boolean, not a %s",
			   c->classifier->name, luaL_typename(lua, -1));
		return;
	}
	if (length > GROUP_BYTES_MAX || memchr(text, '\0', length))
		luaL_error(lua, "%s: a group's name has %d bytes at most, and none that is 0",
			   c->classifier->name, GROUP_BYTES_MAX);
	key = text_key(v, text, length);
	for (uint32_t i = 0; i < k->count; i++)
		if (k->all[i] == key && c->classifier->face.shape == HEAP_MANY)
			return;
	heap_keys_add(k, key);
}

static void add_groups(lua_State *lua, const struct call *c)
{
	if (lua_isnil(lua, -1))
		return;
	if (!lua_istable(lua, -1)) {
		add_group(lua, c);
		return;
	}
	if (c->classifier->face.shape == HEAP_ONE)
		luaL_error(lua,
			   "%s: one group is wanted, not a list: kind = \"many\" or "
			   "\"hierarchy\"",
			   c->classifier->name);
	if (lua_rawlen(lua, -1) > GROUPS_MAX)
		luaL_error(lua, "%s: more than %d groups for one object", c->classifier->name,
			   GROUPS_MAX);
	for (lua_Integer i = 1; lua_rawgeti(lua, -1, i) != LUA_TNIL && i <= GROUPS_MAX; i++) {
		add_group(lua, c);
		lua_pop(lua, 1);
	}
}

/* In Lua, so that its errors are caught: light user data is a struct call. */
static int run(lua_State *lua)
{
	const struct call *c = lua_touserdata(lua, 1);

	lua_rawgeti(lua, LUA_REGISTRYINDEX, c->classifier->function);
	lua_object_push(lua, c->item);
	lua_call(lua, 1, 1);
	add_groups(lua, c);
	return 0;
}

/* 0; -EINVAL: an error of the script; -ECANCELED: beyond a bound; -ENOMEM. ret: the text of it. */
static int call(struct heap_script *s, lua_CFunction f, struct call *c,
		char ret[HEAP_SCRIPT_ERROR_MAX])
{
	lua_State *lua = s->lua;
	int status;

	lua_limits_begin(&s->limits);
	lua_settop(lua, 0);
	lua_pushcfunction(lua, f);
	lua_pushlightuserdata(lua, c);
	status = lua_pcall(lua, 1, 0, 0);
	if (status == LUA_OK)
		return 0;
	if (status == LUA_ERRMEM && s->limits.over == LUA_LIMIT_SYSTEM)
		return -ENOMEM;
	if (status == LUA_ERRMEM || s->limits.over == LUA_LIMIT_STEPS ||
	    s->limits.over == LUA_LIMIT_VARARGS) {
		snprintf(ret, HEAP_SCRIPT_ERROR_MAX, "%s%s%s", s->limits.where,
			 *s->limits.where ? ": " : "", lua_limits_text(s->limits.over));
		return -ECANCELED;
	}
	snprintf(ret, HEAP_SCRIPT_ERROR_MAX, "%s",
		 lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1)
						  : "an error that is no text");
	return -EINVAL;
}

static void own_keys(const struct heap_classifier *face, struct heap_view *v,
		     const struct heap_item *item, struct heap_keys *ret)
{
	const struct own_classifier *own = face->own;
	struct heap_script *s = own->script;
	struct call c = {.script = s, .classifier = own, .item = item, .keys = ret};
	char text[HEAP_SCRIPT_ERROR_MAX];
	uint32_t first = ret->count;
	int err;

	if (heap_memo_find(v, face, item->desc, ret))
		return;
	s->view.view = v;
	s->view.needs = face->needs;
	s->view.touched = false;
	err = call(s, run, &c, text);
	if (err == -EINVAL) {
		if (!*s->error)
			memcpy(s->error, text, sizeof(text));
		ret->count = first;
		heap_keys_add(ret, heap_view_text(v, "(error)", 7));
		err = 0;
	}
	if (err == -ECANCELED)
		memcpy(s->stopped, text, sizeof(text));
	if (!err && !ret->err && !s->view.touched && !first)
		err = heap_memo_add(v, face, item->desc, ret);
	if (err)
		ret->err = err;
}

static bool is_name(const char *name)
{
	size_t length = strlen(name);

	return length && length <= NAME_MAX_BYTES &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz_") == length;
}

static unsigned needs_of(lua_State *lua)
{
	unsigned needs = HEAP_NEEDS_DESC;

	if (lua_getfield(lua, 1, "needs") == LUA_TNIL)
		return needs;
	luaL_checktype(lua, -1, LUA_TTABLE);
	for (lua_Integer i = 1; lua_rawgeti(lua, -1, i) != LUA_TNIL; i++) {
		const char *word = luaL_checkstring(lua, -1);
		int bits = lua_object_needs(word);

		if (bits < 0)
			luaL_error(lua, "needs: there is no '%s'", word);
		needs |= (unsigned)bits;
		lua_pop(lua, 1);
	}
	return needs;
}

static enum heap_shape shape_of(lua_State *lua)
{
	static const char *const kinds[] = {"one", "many", "hierarchy", NULL};

	lua_getfield(lua, 1, "kind");
	return (enum heap_shape)luaL_checkoption(lua, -1, "one", kinds);
}

/* An option that is misspelt would be left out without a word. */
static void check_options(lua_State *lua)
{
	static const char *const known[] = {"name", "doc", "kind", "needs", "f"};

	for (lua_pushnil(lua); lua_next(lua, 1); lua_pop(lua, 1)) {
		const char *key = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "?";
		bool is_known = false;

		for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
			is_known |= !strcmp(known[i], key);
		if (!is_known)
			luaL_error(lua, "classifier has name, doc, kind, needs and f, no '%s'",
				   key);
	}
}

static bool is_taken(const struct heap_script *s, const char *name)
{
	for (unsigned i = 0; i < s->count; i++)
		if (!strcmp(s->all[i].name, name))
			return true;
	return heap_classifier_any(s->others, name, strlen(name)) != NULL;
}

/* classifier{name = "...", f = function(o) ... end} */
static int declare(lua_State *lua)
{
	struct heap_script *s = script_of(lua);
	struct own_classifier *own;
	const char *name, *doc;

	luaL_checktype(lua, 1, LUA_TTABLE);
	if (!s->loading)
		return luaL_error(lua, "classifiers are declared before they are called");
	check_options(lua);
	if (s->count == HEAP_SCRIPT_CLASSIFIERS_MAX)
		return luaL_error(lua, "more than %d classifiers", HEAP_SCRIPT_CLASSIFIERS_MAX);
	own = &s->all[s->count];
	lua_getfield(lua, 1, "name");
	lua_getfield(lua, 1, "doc");
	name = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "";
	doc = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : "of a script";
	if (!is_name(name))
		return luaL_error(lua, "a classifier's name is of a to z and _, %d bytes at most",
				  NAME_MAX_BYTES);
	if (is_taken(s, name))
		return luaL_error(lua, "there is a classifier '%s' already", name);
	snprintf(own->name, sizeof(own->name), "%s", name);
	snprintf(own->doc, sizeof(own->doc), "%s", doc);
	own->script = s;
	own->face = (struct heap_classifier){
		.name = own->name,
		.doc = own->doc,
		.shape = shape_of(lua),
		.needs = needs_of(lua),
		.label = own_label,
		.own_keys = own_keys,
		.own = own,
	};
	lua_getfield(lua, 1, "f");
	luaL_argcheck(lua, lua_isfunction(lua, -1), 1, "f is to be a function");
	own->function = luaL_ref(lua, LUA_REGISTRYINDEX);
	s->count++;
	return 0;
}

static int load(lua_State *lua)
{
	const struct call *c = lua_touserdata(lua, 1);

	lua_library_open(lua);
	lua_object_open(lua, &c->script->view);
	lua_pushlightuserdata(lua, c->script);
	lua_pushcclosure(lua, declare, 1);
	lua_setglobal(lua, "classifier");
	lua_library_seal(lua);
	lua_pushfstring(lua, "@%s", c->name);
	if (luaL_loadbufferx(lua, c->text, c->length, lua_tostring(lua, -1), "t"))
		return lua_error(lua);
	lua_call(lua, 0, 0);
	if (!c->script->count)
		return luaL_error(lua, "%s declares no classifier{...}", c->name);
	return 0;
}

int heap_script_new(const char *name, const char *text, size_t length,
		    const struct heap_own_classifiers *own, struct heap_script **ret,
		    char error[HEAP_SCRIPT_ERROR_MAX])
{
	struct heap_script *s = calloc(1, sizeof(*s));
	struct call c = {.script = s, .name = name, .text = text, .length = length};
	int err;

	if (!s)
		return -ENOMEM;
	s->others = own;
	s->loading = true;
	s->lua = lua_limits_open(&s->limits);
	err = s->lua ? call(s, load, &c, error) : -ENOMEM;
	s->loading = false;
	s->others = NULL;
	if (err) {
		heap_script_free(s);
		return err == -ENOMEM ? err : -EINVAL;
	}
	*ret = s;
	return 0;
}

void heap_script_free(struct heap_script *s)
{
	if (!s)
		return;
	if (s->lua)
		lua_close(s->lua);
	lua_object_view_free(&s->view);
	free(s);
}

const struct heap_classifier *heap_script_get(const struct heap_script *s, unsigned n)
{
	return n < s->count ? &s->all[n].face : NULL;
}

const char *heap_script_error(const struct heap_script *s)
{
	return *s->error ? s->error : NULL;
}

const char *heap_script_stopped(const struct heap_script *s)
{
	return *s->stopped ? s->stopped : NULL;
}
