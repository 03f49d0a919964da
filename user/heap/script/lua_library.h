/* heap/script/lua_library.h: the functions that a script has, apart from those of objects. */
#pragma once

struct lua_State;

/* Sets the globals of a state of lua_limits_open; errors are raised in Lua. */
void lua_library_open(struct lua_State *lua);
/* From here on the globals cannot be changed. */
void lua_library_seal(struct lua_State *lua);
