/* cmd/parse.h: options that several commands have. */
#pragma once

struct argp_state;

/* --top: rows in each list, from 1 to 1000000; else it ends with the usage error. */
unsigned parse_top(const char *arg, struct argp_state *state);
