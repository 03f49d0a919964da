/* steal/sources/procfile.h: reads files of /proc and /sys, whose size is not known before. */
#pragma once

#include <stddef.h>

struct procfile {
	char *text; /* of the last read, with a 0 after it; NULL: none yet */
	size_t capacity;
};

/* The number of bytes, which may hold zeros; or negative errno. */
int procfile_read(struct procfile *f, const char *path);
void procfile_free(struct procfile *f);
