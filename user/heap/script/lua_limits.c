/*
 * A script may be wrong or hostile, and must neither fill the memory nor run for ever. Lua's count
 * hook sees the instructions of Lua's own code, and nothing of what happens within one instruction
 * or within a function in C. So time is counted in steps of three kinds:
 *
 * - instructions, by the hook, a hundred at a time;
 * - memory that is asked for, 64 bytes a step: copies of texts and growing tables pay for their
 *   length where the hook does not look;
 * - what functions in C do, which charge for it beforehand (lua_library.c).
 *
 * What is then left within one instruction is bounded: a text has at most LUA_STRING_MAX bytes,
 * which bounds comparisons and hashes; a call has at most LUA_VARARGS_MAX variable arguments, which
 * an instruction copies. Nothing can catch an error, as there is no pcall; there are no finalizers,
 * during which Lua calls no hooks, as there is no setmetatable.
 */
#include "heap/script/lua_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lua5.4/lauxlib.h>

#define HOOK_STEPS 100
#define BYTES_PER_STEP 64
#define TYPE_BITS 0x0f /* of the number of a kind of value, without its variant */

static struct lua_limits *limits_of(lua_State *lua)
{
	void *l;

	lua_getallocf(lua, &l);
	return l;
}

/* Reads Lua's records of calls only: also where no memory can be had. */
static void note(struct lua_limits *l, enum lua_limit limit)
{
	lua_Debug at = {0};

	l->over = limit;
	l->where[0] = '\0';
	for (int level = 0; l->lua && lua_getstack(l->lua, level, &at); level++) {
		lua_getinfo(l->lua, "Sl", &at);
		if (at.currentline < 0)
			continue;
		snprintf(l->where, sizeof(l->where), "%s:%d", at.short_src, at.currentline);
		return;
	}
}

static void pay(struct lua_limits *l, uint64_t steps)
{
	l->left = l->left > steps ? l->left - steps : 0;
}

/* old_bytes without old: the kind of value that the memory is for. What gets smaller must not
 * fail. */
static void *allocate(void *ctx, void *old, size_t old_bytes, size_t bytes)
{
	struct lua_limits *l = ctx;
	size_t had = old ? old_bytes : 0;
	void *got;

	if (!bytes) {
		free(old);
		l->used -= had;
		return NULL;
	}
	if (!old && (old_bytes & TYPE_BITS) == LUA_TSTRING && bytes > LUA_STRING_MAX + 64) {
		note(l, LUA_LIMIT_STRING);
		return NULL;
	}
	if (bytes > had && bytes - had > LUA_MEMORY_MAX - l->used) {
		note(l, LUA_LIMIT_MEMORY);
		return NULL;
	}
	got = realloc(old, bytes);
	if (!got && bytes > had) {
		note(l, LUA_LIMIT_SYSTEM);
		return NULL;
	}
	if (bytes > had)
		pay(l, bytes / BYTES_PER_STEP);
	l->used = l->used - had + bytes;
	return got ? got : old;
}

static void stop(lua_State *lua, enum lua_limit limit)
{
	note(limits_of(lua), limit);
	lua_pushnil(lua);
	lua_error(lua);
}

void lua_limits_charge(lua_State *lua, uint64_t steps)
{
	struct lua_limits *l = limits_of(lua);

	pay(l, steps);
	if (!l->left)
		stop(lua, LUA_LIMIT_STEPS);
}

static void hook(lua_State *lua, lua_Debug *at)
{
	if (at->event == LUA_HOOKCOUNT) {
		lua_limits_charge(lua, HOOK_STEPS);
	} else if (lua_getlocal(lua, at, -LUA_VARARGS_MAX - 1)) {
		lua_pop(lua, 1);
		stop(lua, LUA_LIMIT_VARARGS);
	}
}

lua_State *lua_limits_open(struct lua_limits *l)
{
	*l = (struct lua_limits){.left = LUA_STEPS_MAX};
	l->lua = lua_newstate(allocate, l);
	if (l->lua)
		lua_sethook(l->lua, hook, LUA_MASKCOUNT | LUA_MASKCALL, HOOK_STEPS);
	return l->lua;
}

void lua_limits_begin(struct lua_limits *l)
{
	l->left = LUA_STEPS_MAX;
	l->over = LUA_LIMIT_NONE;
	l->where[0] = '\0';
}

const char *lua_limits_text(enum lua_limit limit)
{
	static const char *const texts[] = {
		NULL,
		"the script takes more than 10,000,000 steps for one object; does a loop never "
		"end?",
		"the script needs more than 64 MiB of memory",
		"the script makes a text of more than 4,096 bytes",
		"the script gives a function more than 200 variable arguments",
		"no memory is left for the script",
	};

	_Static_assert(sizeof(texts) / sizeof(*texts) == LUA_LIMIT_COUNT, "a text for each");
	return texts[limit];
}
