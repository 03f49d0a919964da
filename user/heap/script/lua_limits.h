/* heap/script/lua_limits.h: a Lua that can use neither more memory nor more steps than it may. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lua5.4/lua.h>

#define LUA_MEMORY_MAX (64u << 20)
#define LUA_STEPS_MAX 10000000u /* of a call */
#define LUA_STRING_MAX 4096u    /* bytes */
#define LUA_VARARGS_MAX 200
#define LUA_WHERE_MAX 128

enum lua_limit {
	LUA_LIMIT_NONE,
	LUA_LIMIT_STEPS,
	LUA_LIMIT_MEMORY,
	LUA_LIMIT_STRING,
	LUA_LIMIT_VARARGS,
	LUA_LIMIT_SYSTEM, /* malloc has no memory */
	LUA_LIMIT_COUNT,
};

struct lua_limits {
	lua_State *lua;
	size_t used;
	uint64_t left; /* steps */
	enum lua_limit over;
	char where[LUA_WHERE_MAX]; /* "file:line", if over; "" */
};

/* A Lua without any library; NULL: no memory. l is lent until lua_close, and must not move. */
lua_State *lua_limits_open(struct lua_limits *l);
/* A call begins: it may take LUA_STEPS_MAX steps. */
void lua_limits_begin(struct lua_limits *l);
/* What is about to be done takes so many steps: an error in Lua if they are not left. */
void lua_limits_charge(lua_State *lua, uint64_t steps);
/* "more than 10000000 steps in a call"; NULL: none. Static. */
const char *lua_limits_text(enum lua_limit limit);
