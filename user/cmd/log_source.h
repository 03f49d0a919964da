/* cmd/log_source.h: the files of a recording that a command line names, read as one log. */
#pragma once

#include <stdbool.h>

#include "cmd/range.h"
#include "log/set.h"

struct argp_state;
struct log_reader;

/* All zero at first. */
struct log_source {
	const char **args; /* each lent */
	unsigned count;
	char name[256]; /* for messages: "a.spoor", or "a.spoor and others" */
	struct log_set *set;
	struct range range; /* of the time: only blocks that are needed for it are read */
};

/* For a parser of options: what is no option. */
void log_source_add(struct log_source *s, const char *arg, struct argp_state *state);

/* Says on stderr what went wrong. To be called for each pass. 0 or negative errno. */
int log_source_open(struct log_source *s, struct log_reader **ret);
/* The same for passes of which each must see all: a pipe cannot be read twice. what: "tables". */
int log_source_open_again(struct log_source *s, const char *what, struct log_reader **ret);
void log_source_free(struct log_source *s);

/* The file's name without its folders, or name. Lent. */
const char *log_source_title(const struct log_source *s);
