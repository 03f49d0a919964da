/* log/write/packer.h: msgpack-c's encoders, instantiated for a buffer that has room already
 * (msgpack/pack_template.h is made for that): each number is a store or two. The library's own
 * msgpack_pack_*() call a function through a pointer for each, and that looks for room. */
#pragma once

#include <msgpack.h>
#include <stddef.h>
#include <string.h>

/* The most bytes that a number, or the head of a string, an array or a map, can take. */
#define PACKER_NUMBER_MAX 9

struct packer {
	char *at; /* where the next byte goes; the caller has made room for it */
};

static inline int packer_append(struct packer *p, const void *bytes, size_t length)
{
	memcpy(p->at, bytes, length);
	p->at += length;
	return 0;
}

/* packer_uint64(), packer_int64(), packer_array(), packer_str(), ...: all return 0. */
#define msgpack_pack_inline_func(name) static inline int packer##name
#define msgpack_pack_inline_func_cint(name) static inline int packer##name
#define msgpack_pack_inline_func_fixint(name) static inline int packer_fix##name
#define msgpack_pack_user struct packer *
#define msgpack_pack_append_buffer(user, bytes, length) return packer_append(user, bytes, length)

#include <msgpack/pack_template.h>
