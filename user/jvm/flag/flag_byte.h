/* jvm/flag/flag_byte.h: a bool flag's byte in a target, and where those who hold it on meet. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct flag_byte {
	int mem;         /* /proc/PID/mem; writable but for flag_byte_look */
	uint64_t addr;   /* of the value */
	uint64_t origin; /* of JVMFlag::_flags; 0: this JVM's tables do not have it */
};

/* What a holder found, and so what it owes: off: 0 again; left: 0 as well; on: nothing. */
enum flag_kind { FLAG_WAS_OFF, FLAG_WAS_LEFT, FLAG_WAS_ON };

enum flag_state {
	FLAG_OFF,
	FLAG_SET,     /* on, set by somebody for the JVM */
	FLAG_HELD,    /* on, for a recorder */
	FLAG_LEFT,    /* on, nobody has set it, nobody holds it: a killed recorder's */
	FLAG_UNKNOWN, /* on, and this JVM's tables do not say who set it */
};

/* All: 0 or a negative errno. -ESRCH: the address space is gone. -EINVAL: the byte is no bool. */

/* Turns it on, and is counted among its holders until flag_byte_give_back or until the open file
 * b->mem is closed everywhere. These functions make system calls only. */
int flag_byte_take(const struct flag_byte *b, enum flag_kind *ret);
/* Looks after it: 1: somebody had turned it off, it is on again (and *kind may change). */
int flag_byte_keep(const struct flag_byte *b, enum flag_kind *kind);
/* Turns it off, unless it was on before all holders or others hold it. */
int flag_byte_give_back(const struct flag_byte *b, enum flag_kind kind);
int flag_byte_look(const struct flag_byte *b, enum flag_state *ret);
/* Turns off what was left behind. -EBUSY: others hold it. -ENODATA: nothing was left behind. */
int flag_byte_repair(const struct flag_byte *b);
