/* cmd/record/record_command.h: option of `spoor record`: what of command lines goes into
 * the log. */
#pragma once

#include <argp.h>
#include <jansson.h>

#include "record/session/recorder.h"

/* A child of the command's own parser; its input is a struct recorder_options. */
extern const struct argp record_command_argp;

/* spoor's own command line, for the header; the caller's. NULL: none is wanted, or no memory. */
json_t *record_command_json(const struct recorder_options *o, int argc, char *const *argv);
