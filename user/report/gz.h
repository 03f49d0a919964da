/* report/gz.h: a FILE to write to, whose text is compressed into a file. */
#pragma once

#include <stdio.h>

/* NULL: it cannot be opened, see errno. Write errors show at fclose at the latest. */
FILE *gz_open(const char *path);
