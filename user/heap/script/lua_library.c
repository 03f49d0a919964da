/*
 * What is left of Lua's own library: functions whose result depends on their arguments alone, and
 * whose time is bounded or charged for.
 *
 * Left out are what reads, writes or loads (io, os, package, load, require, print), what looks
 * behind the language (debug, string.dump, collectgarbage, raw*, metatables), what would catch
 * the error of a bound (pcall, coroutines), what differs from run to run (math.random;
 * table.sort, whose pivots depend on the clock; next and the order of pairs, as hashes of texts
 * have a random seed; addresses in tostring and %p), and patterns, whose time may grow with any
 * power of the text's length. glob() is there instead, and pairs() goes by order of keys.
 */
#include "heap/script/lua_library.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <lua5.4/lauxlib.h>
#include <lua5.4/lualib.h>

#include "base/text/glob.h"
#include "heap/script/lua_limits.h"

#define UNPACK_MAX 100

/* glob(text, "com.acme.*") */
static int library_glob(lua_State *lua)
{
	size_t length, glob_length;
	const char *text = luaL_checklstring(lua, 1, &length);
	const char *glob = luaL_checklstring(lua, 2, &glob_length);

	lua_limits_charge(lua, 1 + (uint64_t)length *
					       (memchr(glob, '*', glob_length) ? glob_length : 1) /
					       16);
	lua_pushboolean(lua, glob_holds(glob, glob_length, text, length));
	return 1;
}

static int library_find(lua_State *lua)
{
	size_t length, what_length;
	const char *text = luaL_checklstring(lua, 1, &length);
	const char *what = luaL_checklstring(lua, 2, &what_length), *found;
	lua_Integer from = luaL_optinteger(lua, 3, 1);

	if (!lua_toboolean(lua, 4))
		return luaL_error(lua, "there are no patterns: find(text, 1, true) looks for a "
				       "text, and glob(text, \"com.acme.*\") is there");
	if (from < 0)
		from = from < -(lua_Integer)length ? 1 : (lua_Integer)length + from + 1;
	if (from < 1)
		from = 1;
	lua_limits_charge(lua, 1 + length / 16);
	found = (size_t)from - 1 <= length
			? memmem(text + from - 1, length - (size_t)from + 1, what, what_length)
			: NULL;
	if (!found) {
		lua_pushnil(lua);
		return 1;
	}
	lua_pushinteger(lua, found - text + 1);
	lua_pushinteger(lua, found - text + (lua_Integer)what_length);
	return 2;
}

static int library_no_patterns(lua_State *lua)
{
	return luaL_error(lua, "there are no patterns; glob(text, \"com.acme.*\") is there, and "
			       "string.find with true as its fourth argument");
}

/* Only what has a text of its own: the address of a table is another one each time. */
static int library_tostring(lua_State *lua)
{
	luaL_checkany(lua, 1);
	switch (lua_type(lua, 1)) {
	case LUA_TNUMBER:
	case LUA_TSTRING:
	case LUA_TNIL:
	case LUA_TBOOLEAN:
		luaL_tolstring(lua, 1, NULL);
		break;
	default:
		lua_pushstring(lua, luaL_typename(lua, 1));
	}
	return 1;
}

static bool has_address(const char *format, size_t length)
{
	const char *end = format + length, *at = format;

	while ((at = memchr(at, '%', (size_t)(end - at)))) {
		at++;
		at += strspn(at, "-+ #0123456789.");
		if (*at == 'p')
			return true;
		at += at < end;
	}
	return false;
}

/* Upvalue 1: Lua's own. */
static int library_format(lua_State *lua)
{
	int count = lua_gettop(lua);
	size_t length;
	const char *format = luaL_checklstring(lua, 1, &length);

	if (has_address(format, length))
		return luaL_error(lua, "string.format has no %%p");
	for (int i = 2; i <= count; i++)
		if (lua_type(lua, i) > LUA_TSTRING || lua_type(lua, i) == LUA_TLIGHTUSERDATA)
			return luaL_argerror(lua, i, "neither a text nor a number");
	lua_limits_charge(lua, 8 * (uint64_t)count + length);
	lua_pushvalue(lua, lua_upvalueindex(1));
	lua_insert(lua, 1);
	lua_call(lua, count, 1);
	return 1;
}

/* One value for each byte. */
static int library_byte(lua_State *lua)
{
	lua_pushvalue(lua, lua_upvalueindex(1));
	lua_insert(lua, 1);
	lua_call(lua, lua_gettop(lua) - 1, LUA_MULTRET);
	lua_limits_charge(lua, 1 + (uint64_t)lua_gettop(lua));
	return lua_gettop(lua);
}

static int library_rep(lua_State *lua)
{
	size_t length, separator = 0;
	lua_Integer n = luaL_checkinteger(lua, 2);

	luaL_checklstring(lua, 1, &length);
	luaL_optlstring(lua, 3, "", &separator);
	if (n > 0 &&
	    (length + separator > LUA_STRING_MAX ||
	     (uint64_t)n * (length + separator + 1) > 2ul * LUA_STRING_MAX || n > LUA_STRING_MAX))
		return luaL_error(lua, "a text of more than %d bytes", (int)LUA_STRING_MAX);
	lua_pushvalue(lua, lua_upvalueindex(1));
	lua_insert(lua, 1);
	lua_call(lua, lua_gettop(lua) - 1, 1);
	return 1;
}

/* table.insert, remove, concat: of Lua, in time of the table's length. */
static int library_of_table(lua_State *lua)
{
	luaL_checktype(lua, 1, LUA_TTABLE);
	lua_limits_charge(lua, 1 + lua_rawlen(lua, 1));
	lua_pushvalue(lua, lua_upvalueindex(1));
	lua_insert(lua, 1);
	lua_call(lua, lua_gettop(lua) - 1, LUA_MULTRET);
	return lua_gettop(lua);
}

static int library_unpack(lua_State *lua)
{
	lua_Integer from = luaL_optinteger(lua, 2, 1), to;

	luaL_checktype(lua, 1, LUA_TTABLE);
	to = luaL_optinteger(lua, 3, (lua_Integer)lua_rawlen(lua, 1));
	if (from > to)
		return 0;
	if ((lua_Unsigned)to - (lua_Unsigned)from >= UNPACK_MAX)
		return luaL_error(lua, "table.unpack gives %d values at most", UNPACK_MAX);
	luaL_checkstack(lua, UNPACK_MAX, NULL);
	for (lua_Integer i = from; i < to; i++)
		lua_geti(lua, 1, i);
	lua_geti(lua, 1, to);
	return (int)(to - from + 1);
}

struct key {
	const char *text; /* NULL: a number */
	size_t length;
	lua_Number number;
};

static int by_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int order;

	if (!x->text || !y->text)
		return x->text   ? 1
		       : y->text ? -1
				 : (x->number > y->number) - (x->number < y->number);
	order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
	return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* Upvalues: the keys, how many of them have been, the table. */
static int next_pair(lua_State *lua)
{
	lua_Integer n = lua_tointeger(lua, lua_upvalueindex(2)) + 1;

	lua_pushinteger(lua, n);
	lua_replace(lua, lua_upvalueindex(2));
	if (lua_rawgeti(lua, lua_upvalueindex(1), n) == LUA_TNIL)
		return 1;
	lua_pushvalue(lua, -1);
	lua_rawget(lua, lua_upvalueindex(3));
	return 2;
}

/* Numbers first, then texts, each in order. The texts stay where they are, as the table has them.
 */
static int library_pairs(lua_State *lua)
{
	struct key *keys;
	size_t count = 0, n = 0;

	luaL_checktype(lua, 1, LUA_TTABLE);
	for (lua_pushnil(lua); lua_next(lua, 1); lua_pop(lua, 1), count++)
		if (lua_type(lua, -2) != LUA_TNUMBER && lua_type(lua, -2) != LUA_TSTRING)
			return luaL_error(lua, "pairs: a key that is a %s has no place in an order",
					  luaL_typename(lua, -2));
	lua_limits_charge(lua, 1 + 8 * count);
	keys = lua_newuserdatauv(lua, (count + 1) * sizeof(*keys), 0);
	for (lua_pushnil(lua); lua_next(lua, 1) && n < count; lua_pop(lua, 1), n++) {
		keys[n] = (struct key){0};
		if (lua_type(lua, -2) == LUA_TSTRING)
			keys[n].text = lua_tolstring(lua, -2, &keys[n].length);
		else
			keys[n].number = lua_tonumber(lua, -2);
	}
	qsort(keys, n, sizeof(*keys), by_key);
	lua_createtable(lua, (int)n, 0);
	for (size_t i = 0; i < n; i++) {
		lua_Integer whole;

		if (keys[i].text)
			lua_pushlstring(lua, keys[i].text, keys[i].length);
		else if (lua_numbertointeger(keys[i].number, &whole) &&
			 (lua_Number)whole == keys[i].number)
			lua_pushinteger(lua, whole);
		else
			lua_pushnumber(lua, keys[i].number);
		lua_rawseti(lua, -2, (lua_Integer)i + 1);
	}
	lua_pushinteger(lua, 0);
	lua_pushvalue(lua, 1);
	lua_pushcclosure(lua, next_pair, 3);
	return 1;
}

/* Of the library on top of the stack, what is not named goes. */
static void keep(lua_State *lua, const char *const *names, const char *new_name)
{
	lua_newtable(lua);
	for (; *names; names++) {
		lua_getfield(lua, -2, *names);
		lua_setfield(lua, -2, *names);
	}
	lua_remove(lua, -2);
	if (new_name) {
		lua_pushvalue(lua, -1);
		lua_setglobal(lua, new_name);
	}
}

/* Puts a function of ours around Lua's own in the library on top of the stack. */
static void wrap(lua_State *lua, const char *name, lua_CFunction f)
{
	lua_getfield(lua, -1, name);
	lua_pushcclosure(lua, f, 1);
	lua_setfield(lua, -2, name);
}

static void open_string(lua_State *lua)
{
	static const char *const kept[] = {"byte", "char",    "format", "len",   "lower",
					   "rep",  "reverse", "sub",    "upper", NULL};
	static const char *const patterns[] = {"match", "gmatch", "gsub", NULL};

	luaL_requiref(lua, LUA_STRLIBNAME, luaopen_string, 0);
	keep(lua, kept, LUA_STRLIBNAME);
	wrap(lua, "byte", library_byte);
	wrap(lua, "format", library_format);
	wrap(lua, "rep", library_rep);
	lua_pushcfunction(lua, library_find);
	lua_setfield(lua, -2, "find");
	for (const char *const *p = patterns; *p; p++) {
		lua_pushcfunction(lua, library_no_patterns);
		lua_setfield(lua, -2, *p);
	}
	/* That of texts: text:upper(). */
	lua_pushliteral(lua, "");
	lua_getmetatable(lua, -1);
	lua_pushvalue(lua, -3);
	lua_setfield(lua, -2, "__index");
	lua_pop(lua, 3);
}

static void open_table(lua_State *lua)
{
	static const char *const kept[] = {"concat", "insert", "pack", "remove", NULL};

	luaL_requiref(lua, LUA_TABLIBNAME, luaopen_table, 0);
	keep(lua, kept, LUA_TABLIBNAME);
	wrap(lua, "concat", library_of_table);
	wrap(lua, "insert", library_of_table);
	wrap(lua, "remove", library_of_table);
	lua_pushcfunction(lua, library_unpack);
	lua_setfield(lua, -2, "unpack");
	lua_pop(lua, 1);
}

static void open_math(lua_State *lua)
{
	static const char *const kept[] = {"abs",        "ceil", "exp", "floor",      "fmod",
					   "huge",       "log",  "max", "maxinteger", "min",
					   "mininteger", "modf", "pi",  "sqrt",       "tointeger",
					   "type",       "ult",  NULL};

	luaL_requiref(lua, LUA_MATHLIBNAME, luaopen_math, 0);
	keep(lua, kept, LUA_MATHLIBNAME);
	lua_pop(lua, 1);
}

void lua_library_open(lua_State *lua)
{
	static const char *const kept[] = {"assert", "error",    "ipairs", "select",
					   "type",   "tonumber", NULL};

	luaL_requiref(lua, LUA_GNAME, luaopen_base, 0);
	keep(lua, kept, NULL);
	lua_pushcfunction(lua, library_pairs);
	lua_setfield(lua, -2, "pairs");
	lua_pushcfunction(lua, library_tostring);
	lua_setfield(lua, -2, "tostring");
	lua_pushcfunction(lua, library_glob);
	lua_setfield(lua, -2, "glob");
	/* The globals are this table from now on. */
	lua_rawseti(lua, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
	open_string(lua);
	open_table(lua);
	open_math(lua);
	/* What the libraries have left there for require. */
	lua_pushnil(lua);
	lua_setfield(lua, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
}

static int refuse(lua_State *lua)
{
	return luaL_error(lua, "globals and libraries cannot be changed: local %s = ...",
			  lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "x");
}

/* In place of the table on top of the stack: an empty one through which that one is read. */
static void read_only(lua_State *lua)
{
	lua_newtable(lua);
	lua_createtable(lua, 0, 2);
	lua_pushvalue(lua, -3);
	lua_setfield(lua, -2, "__index");
	lua_pushcfunction(lua, refuse);
	lua_setfield(lua, -2, "__newindex");
	lua_setmetatable(lua, -2);
	lua_remove(lua, -2);
}

void lua_library_seal(lua_State *lua)
{
	static const char *const libraries[] = {LUA_STRLIBNAME, LUA_TABLIBNAME, LUA_MATHLIBNAME};

	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
		lua_getglobal(lua, libraries[i]);
		read_only(lua);
		lua_setglobal(lua, libraries[i]);
	}
	lua_pushglobaltable(lua);
	read_only(lua);
	lua_rawseti(lua, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
}
