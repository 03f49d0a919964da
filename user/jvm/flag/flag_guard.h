/* jvm/flag/flag_guard.h: the guardian, a process that puts a flag back whatever happens to us. */
#pragma once

#include "jvm/flag/flag_byte.h"

#include <sys/types.h>

struct flag_guard;

/*
 * To be called before the process is large, has threads or descriptors of value: the guardian is a
 * fork of it that keeps nothing but one end of a socket. Until it is given a flag it waits for
 * that, or for the end of this process.
 */
int flag_guard_start(struct flag_guard **ret);
/* Ends it, if it has not ended by itself. Accepts NULL. */
void flag_guard_free(struct flag_guard *g);

/*
 * It turns the flag on, and looks after it until flag_guard_return, the end of this process in
 * whatever way, or the end of the process of pidfd. *ret is what it found. Descriptors are lent.
 * Errors as flag_byte_take; -ECHILD: the guardian is no more; what it had begun is undone.
 */
int flag_guard_give(struct flag_guard *g, const struct flag_byte *b, int pidfd,
		    enum flag_kind *ret);

/* What came of it. */
struct flag_guard_end {
	enum flag_kind kind; /* at the end */
	uint32_t found_off;  /* how many times somebody else had turned the flag off meanwhile */
};

/* It puts the flag back. -ECHILD: it is no more, and has perhaps not done so. */
int flag_guard_return(struct flag_guard *g, struct flag_guard_end *ret);
