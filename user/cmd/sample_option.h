/* cmd/sample_option.h: --sample of the commands that record. */
#pragma once

#include <stdbool.h>

struct argp_state;
struct sample_request;

/* [TIME][,jitter=off][,event=EVENT][,symbols], the last one if symbols; arg may be NULL. Else it
 * ends with the usage error. */
void parse_sample(const char *arg, bool symbols, struct sample_request *o,
		  struct argp_state *state);
