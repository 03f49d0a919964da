/* jvm/flag/flag_hold.h: keeps a bool flag of a JVM on, and puts it back for certain. */
#pragma once

#include "jvm/flag/flag_byte.h"
#include "jvm/flag/flag_guard.h"

struct jvm;

/* Whether flag_hold() could write it, without writing: 0, or its error. */
int flag_hold_possible(const struct jvm *j, const char *name);

/* What the flag is now. -ENOENT: this JVM has no such flag. */
int flag_hold_state(const struct jvm *j, const char *name, enum flag_state *ret);

struct flag_hold;

struct flag_hold_end {
	uint32_t found_off; /* how many times somebody else had turned it off meanwhile */
	bool others;        /* it was to be turned off, but others hold it on */
};

/*
 * Keeps a bool flag of the target on until flag_hold_release, or until this process ends in
 * whatever way: the guardian g, lent, puts it back. Several holders, in any process, share one
 * flag: it goes back with the last. *ret_found: what it was before. -ENOENT: no such flag. -EINVAL:
 * not a bool. -EACCES, -EPERM: the target may not be written. -ESRCH: it has ended. -ECHILD: g was
 * killed.
 */
int flag_hold(const struct jvm *j, const char *name, struct flag_guard *g, struct flag_hold **ret,
	      enum flag_kind *ret_found);
/*
 * 0, or a negative errno when the flag could not be put back (the target having ended is not an
 * error); -EBUSY: it was put back, and yet it is on. *ret is filled in any case; both may be NULL.
 */
int flag_hold_release(struct flag_hold *h, struct flag_hold_end *ret);

/* Turns off what a killed recorder has left behind. -EBUSY: somebody is recording. -ENODATA:
 * nothing was left behind. -ENOENT: no such flag. -EACCES, -EPERM, -ESRCH as flag_hold. */
int flag_hold_repair(const struct jvm *j, const char *name);
