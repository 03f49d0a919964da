/* base/io.h: what a system call may do in part, done whole. */
#pragma once

#include <stddef.h>

/* All bytes, however many calls that takes. 0, or a negative errno: then some may be written. */
int write_all(int fd, const void *bytes, size_t count);
