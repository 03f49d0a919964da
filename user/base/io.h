/* base/io.h: what a system call may do in part, done whole. */
#pragma once

#include <stddef.h>

/* All bytes, however many calls that takes. 0, or a negative errno: then some may be written. */
int write_all(int fd, const void *bytes, size_t count);
/* Up to the end of the file, or until there is no room. 0, or a negative errno. */
int read_all(int fd, void *to, size_t room, size_t *ret_count);
/* Closes all descriptors from first on, also where a seccomp profile does not know close_range(2).
 * 0, or a negative errno. */
int close_from(int first);
