/* log/set.h: which files are one recording, in which order, and what of it is not there. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct log_set;

struct log_set_file {
	const char *path;
	uint64_t part;     /* its number; 0: a log that is not in parts */
	uint64_t begin_ns; /* when it was begun; 0: not told */
};

/* Parts that are not there, between two that are, or before the first one. */
struct log_set_hole {
	uint64_t first, last; /* numbers */
	/* When the first of them began at the latest (0: with the recording), and the one after the
	 * last. In the clock of the events. */
	uint64_t from_ns, to_ns;
};

#define LOG_SET_WHY_MAX 1024

/*
 * Arguments of a command line: files, folders (all *.spoor in them), patterns such as "app-*.spoor",
 * "-" for standard input, which must be the only one. A file that is named twice counts once.
 * -ENOENT: no such file, or none in the folder. -EXDEV: of several recordings. -EINVAL: several
 * logs that are no parts. Else what opening the file said, as log_reader_open(). why says which and
 * what to do; "" where it has nothing to say beyond the error of the file *ret_path (lent: one of the
 * arguments, or until the next call).
 */
int log_set_open(const char *const *args, unsigned count, struct log_set **ret,
		 char why[LOG_SET_WHY_MAX]);
void log_set_free(struct log_set *s); /* accepts NULL */

/* In the order in which they are to be read; all lent until log_set_free. */
unsigned log_set_count(const struct log_set *s);
const struct log_set_file *log_set_file(const struct log_set *s, unsigned i);
const char *const *log_set_paths(const struct log_set *s);
unsigned log_set_holes(const struct log_set *s, const struct log_set_hole **ret);
