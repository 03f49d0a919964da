/* cmd/export_output.h: where an export is written to. */
#pragma once

#include <stdio.h>

struct log_source;

/* output: NULL for stdout; with .gz at its end it is compressed. NULL: it cannot be opened, or is
 * the log at path itself, and that has been said. */
FILE *export_output_open(const struct log_source *source, const char *output);
/* err: of writing. What else goes wrong at the end is said, and returned if err is not negative. */
int export_output_close(FILE *out, const char *output, int err);
