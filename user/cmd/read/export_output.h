/* cmd/read/export_output.h: where an export is written to. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct argp_state;
struct log_source;

/* output: NULL for stdout; with .gz at its end it is compressed. mode: 0 for 0600. NULL: it cannot
 * be opened, or is the log itself, and that has been said. */
FILE *export_output_open(const struct log_source *source, const char *output, mode_t mode);
/* Whether it is a file of the log, which is said. Only of a source that has been opened. */
bool export_output_is_log(const struct log_source *source, const char *output);
/* err: of writing. What else goes wrong at the end is said, and returned if err is not negative. */
int export_output_close(FILE *out, const char *output, int err);
/* Deletes what cannot be finished, if it is a file. */
void export_output_remove(const char *output);

/* output: of a page; "-" is stdout. It ends with the usage error if it is NULL, or a terminal. */
void page_output_check(const char *output, struct argp_state *state);
