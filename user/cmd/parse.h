/* cmd/parse.h: options that several commands have. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct argp;
struct argp_state;

/* argp_parse() of a command's options: wrong usage ends the program with CMD_USAGE. True: it has no
 * memory, which has been said. */
bool parse_arguments(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/* --top: rows in each list, from 1 to 1000000; else it ends with the usage error. */
unsigned parse_top(const char *arg, struct argp_state *state);

/* --mode: as chmod has it, in octal; the owner may read and write. Else it ends with the usage
 * error. */
mode_t parse_mode(const char *arg, struct argp_state *state);

/* -p: the process id; 0: it is a name. Else it ends with the usage error. */
pid_t parse_jvm(const char *arg, struct argp_state *state);

/* Which of the words arg is; -1: none. */
int word_index(const char *const *words, int count, const char *arg);
/* The index of a word among these, of which NULL is the last; else it ends with the usage error,
 * which lists them. option: without its dashes. */
int parse_word(const char *option, const char *arg, const char *const *words,
	       struct argp_state *state);
/* --format, of commands that have these two: is it JSON? */
bool parse_is_json(const char *arg, struct argp_state *state);

/* What a look-up has made of a word; below 0: nothing, and it ends with the usage error, which says
 * what there is. option: without its dashes. */
int parse_found(const char *option, const char *arg, int found, const char *all,
		struct argp_state *state);

/* --event: NAME[,NAME...]; arg is cut up. Sets selected[id] of each, or ends with the usage
 * error. */
void parse_events(char *arg, bool *selected, struct argp_state *state);
/* --sample: its period in ns; arg NULL: 10 ms. Else it ends with the usage error. */
uint64_t parse_period(const char *arg, struct argp_state *state);
/* --window: 1 ms at least. */
uint64_t parse_window(const char *arg, struct argp_state *state);
