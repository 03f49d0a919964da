/* jvm/code/code.h: what a frame of Java code is: method, bytecode index, line, inlined callers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "jvm/layout/code_layout.h"

struct budget;
struct code;
struct mem;

#define CODE_FRAMES_MAX                                                                            \
	64 /* inlined into one compiled frame; HotSpot inlines 15 levels by default */

/* Interned: two methods of equal text and class are one; lent until the next call. */
struct code_method {
	const char *class_name;                /* as Class.getName(): with dots */
	const char *name, *signature, *source; /* source: "" where it is not known */
	bool hidden;
	/* 0, 1, 2, ... in the order in which they were first seen; never used for another one. A
	 * method that was forgotten for want of room has a new one when it comes again. */
	uint32_t number;
};

enum code_frame_type {
	CODE_FRAME_INTERPRETED,
	CODE_FRAME_C1,
	CODE_FRAME_C2,
	CODE_FRAME_INLINED, /* into the frame after it */
	CODE_FRAME_NATIVE,
};

struct code_frame {
	const struct code_method *method;
	enum code_frame_type type;
	uint32_t bci;
	uint32_t line; /* 0: not known */
	bool inferred; /* see events.json, stack.inferred */
};

/* m and l are lent until code_free. 0 or -ENOMEM. */
int code_new(const struct mem *m, const struct code_layout *l, struct code **ret);
void code_free(struct code *c);
/* What may be remembered from now on; lent until code_free. At first 256 MB. */
void code_bound(struct code *c, struct budget *budget);
/* How many methods have been forgotten for want of room. */
uint64_t code_forgotten(const struct code *c);

/* How the thread came to be at a pc. */
enum code_at {
	CODE_AT_ANY, /* interrupted: the nearest PcDesc is taken, the frames marked as inferred */
	CODE_AT_RETURN, /* it is a return address: there must be a PcDesc of exactly this pc */
	CODE_AT_UNLOCK, /* it releases a lock, in a call without a PcDesc: see unlock.c */
};

/*
 * The frames at pc in the nmethod with this compile id (CODE_ID_OSR is set in an OSR nmethod's),
 * innermost first; their number, at most CODE_FRAMES_MAX. Frames are marked as inferred unless the
 * PcDesc is exact. Known ones are found without a read of the target.
 * -ESTALE: the code is not there any more: it was replaced, unloaded, or is being. -EPROTO: what is
 * there makes no sense, or there is no PcDesc. -ESRCH: the process has ended. -ENOSPC: there is no
 * room for its names. -ENOMEM.
 */
#define CODE_ID_OSR 0x80000000u
int code_compiled(struct code *c, uint64_t pc, uint32_t id, enum code_at at,
		  struct code_frame ret[CODE_FRAMES_MAX]);

/* The frame of an interpreted method. 0, -ESTALE (there is no Method at the address), -EPROTO, ...
 */
int code_interpreted(struct code *c, uint64_t method, uint32_t bci, struct code_frame *ret);

/* Classes have been unloaded: addresses of Methods may be used anew. (What is known of compile ids
 * stays: they are not used again.) */
void code_forget(struct code *c);
