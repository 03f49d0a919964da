/* log/read/set.h: which files are one recording, in which order, and what of it is not there. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct log_set;

struct log_set_file {
	const char *path;
	uint64_t part;     /* its number; 0: a log that is not in parts */
	uint64_t begin_ns; /* when it was begun; 0: unknown */
};

/* Parts that are not there, between two that are, or before the first one. */
struct log_set_hole {
	uint64_t first, last; /* numbers */
	uint64_t from_ns;     /* when the part before ended, or the recording began */
	uint64_t to_ns;       /* when the part after began; both in the clock of the events */
};

struct log_set_error {
	char path[4096]; /* the argument, or the file that it stands for */
	char why[1024];  /* a sentence; "": the error says it, as those of log_reader_open() do */
};

/*
 * Arguments of a command line: files, folders (all *.spoor in them), patterns such as
 * "app-*.spoor", "-" for standard input, which must be the only one. A file that is named twice
 * counts once.
 * -ENOENT: no such file, or none in the folder. -EXDEV: of several recordings. -EINVAL: several
 * logs that are no parts, or "-" and others. Else what opening a file has failed with.
 */
int log_set_open(const char *const *args, unsigned count, struct log_set **ret,
		 struct log_set_error *error);
void log_set_free(struct log_set *s); /* accepts NULL */

/* In the order in which they are to be read; all lent until log_set_free. */
unsigned log_set_count(const struct log_set *s);
const struct log_set_file *log_set_file(const struct log_set *s, unsigned i);
const char *const *log_set_paths(const struct log_set *s);
unsigned log_set_holes(const struct log_set *s, const struct log_set_hole **ret);
/* The last one was closed: unless the event end is in it, the recording goes on after it. */
bool log_set_goes_on(const struct log_set *s);
