/* log/write/output.h: where the bytes of a log go: a file, standard output, files that rotate,
 * memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/format/block.h"

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
	/* Deletes what has been created: without a header it is of no use. Only close comes after
	 * it. May be NULL. */
	void (*discard)(struct log_output *o);
	/* Frees o, whatever it returns. */
	int (*close)(struct log_output *o);
};

/* What each implementation begins with. */
struct log_output {
	const struct log_output_ops *ops;
	uint64_t bytes;   /* there now, in all parts together */
	uint64_t written; /* in all, with what has been deleted since */
	uint32_t parts, parts_deleted;
	uint64_t reserve; /* set before write and part: bytes that must still find room after it */
	bool no_index;    /* offsets mean nothing here: neither index nor end of file are written */
};

/*
 * Creates the file as base/create.h has it, with mode 0600; "-" is standard output. part may be
 * called once. -EEXIST: it is there and overwrite is not set. -ESTALE, later: the file has been
 * deleted meanwhile. Others as of file_create() and write(2).
 */
int output_file_open(const char *path, bool overwrite, struct log_output **ret);
/*
 * Files app-000001.spoor, app-000002.spoor, ... of path app.spoor: a new one with each part. Before
 * they would have more than max_bytes, with what the last one needs to be closed, the oldest are
 * deleted. -EEXIST: there are such files and overwrite is not set; else those that are there are
 * deleted. -EFBIG, later: the last part alone has no room.
 */
int output_parts_open(const char *path, bool overwrite, uint64_t max_bytes,
		      struct log_output **ret);
/* True: there are files of such names. */
bool output_parts_exist(const char *path);
/* How much of path is in front of the parts' "-000001.spoor". */
size_t output_part_stem(const char *path);
/* The name of a part, in memory of its own; NULL: there is none left. */
char *output_part_path(const char *path, uint32_t number);

/* For implementations. */
int output_file_create(const char *path, bool overwrite, int *ret);
/* All of it, or an error and the file as long as before (size bytes). */
int output_append(int fd, uint64_t size, const uint8_t *bytes, size_t count);
