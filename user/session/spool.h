/* session/spool.h: what comes out of a pipe, in a file that has no name, to be read more than
 * once. */
#pragma once

/*
 * name: of what in reads, for messages. Says what goes wrong. 0: *ret is the caller's to close; or
 * negative errno.
 */
int spool_copy(int in, const char *name, int *ret);
