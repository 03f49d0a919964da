/* report/web/pack64.h: a FILE to write to, whose text goes on compressed and in base64. */
#pragma once

#include <stdio.h>

/* zlib's format (RFC 1950). NULL: no memory. What goes wrong with out is out's to tell; fclose()
 * fails if there was no memory. out is not closed. */
FILE *pack64_open(FILE *out);
