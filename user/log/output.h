/* log/output.h: where the bytes of a log go: a file, standard output, files that rotate, memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/block.h"

/* A block as it goes into the file, with its own header, and what may be asked about it. */
struct sealed {
	const uint8_t *bytes;
	size_t count;
	enum block_kind kind;
	uint8_t flags; /* of packed blocks: enum block_flag; else 0 */
	uint32_t sequence, events;
	uint64_t first_ns, last_ns; /* of packed blocks; else 0 */
};

struct log_output;

/* All: 0 or a negative errno. They are called by one thread at a time, not always the same one. */
struct log_output_ops {
	/* Begins a log, or its next part, with these bytes: the magic and the header block. */
	int (*part)(struct log_output *o, const uint8_t *bytes, size_t count);
	/* Appends a whole block, or leaves everything as it was. */
	int (*write)(struct log_output *o, const struct sealed *block);
	/* Frees o, whatever it returns. */
	int (*close)(struct log_output *o);
};

/* What each implementation begins with. */
struct log_output {
	const struct log_output_ops *ops;
	uint64_t bytes;   /* there now, in all parts together */
	uint64_t written; /* in all, with what has been deleted since */
	uint32_t parts, parts_deleted;
	bool no_index; /* offsets mean nothing here: neither index nor end of file are written */
};

/*
 * Creates the file with mode 0600; "-" is standard output. part may be called once. -EEXIST: it is
 * there and overwrite is not set. -ESTALE, later: the file has been deleted meanwhile. Others as of
 * open(2) and write(2).
 */
int output_file_open(const char *path, bool overwrite, struct log_output **ret);
/* Deletes what it has created: of no use without a header. For use right before close. */
void output_file_discard(struct log_output *o);

/* For implementations: all of it, or an error. */
int output_write_all(int fd, const uint8_t *bytes, size_t count);
