/* base/text/glob.h: patterns with * for any bytes and ? for one, in bounded time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* In time of the product of both lengths at most, whoever has chosen them; fnmatch() may take any
 * power of it. */
bool glob_holds(const char *glob, size_t glob_length, const char *text, size_t length);
