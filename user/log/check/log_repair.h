/* log/check/log_repair.h: makes a clean log of a damaged one. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct log_check;
struct log_rewrite;

struct log_repair_options {
	const char *path;
	const char *output; /* another file; "-": standard output */
	bool overwrite;
	const json_t *header; /* in place of one that is damaged; NULL: one is made anew */
	const char *spoor;    /* version of the program, for the header */
	/* Not NULL: of a sound log, another one whose texts are other ones. */
	const struct log_rewrite *rewrite;
};

struct log_repair {
	uint64_t blocks, events; /* that were kept */
	uint64_t blocks_dropped; /* their checksums are right, but not what is in them */
	uint64_t holes;          /* in what is left; a note in the log reports each */
	uint64_t bytes;          /* of the new log */
	bool opened;             /* the output has been made, or emptied */
	bool write_failed;       /* the error is the output's, not that of the log that is read */
};

/*
 * sum is what log_check has said of the file. Blocks are kept or dropped as wholes: of one whose
 * contents are damaged nothing can be vouched for. They are numbered anew; preambles, index and end
 * of file are made anew; the header says "repaired". A block of synchronization after a hole
 * becomes one of events: a reader would have taken it for what was lost. The events "end" is not
 * made up.
 *
 * -EEXIST: there is such a file and overwrite is not set. -EINVAL: header is none. -EFBIG: with the
 * other texts a block is too long. Others are those of reading and writing; what has been written
 * of the output then is a log. *ret is filled whatever is returned.
 */
int log_repair(const struct log_repair_options *o, const struct log_check *sum,
	       struct log_repair *ret);
