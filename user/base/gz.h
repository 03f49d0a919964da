/* base/gz.h: a FILE to write to, whose text is compressed into a file. */
#pragma once

#include <stdio.h>

/* Takes over fd, also if it fails. NULL: see errno. Write errors show at fclose at the latest. */
FILE *gz_open(int fd);
