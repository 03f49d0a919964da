/* tests/unit/record/names_log.h: a log that what is tested writes its metadata into, and what they say. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "log/read/names.h"
#include "log/read/reader.h"
#include "log/write/writer.h"

struct names_log {
	char path[64];
	struct log_writer *w; /* NULL: it is closed */
};

static inline void names_log_open(struct names_log *l)
{
	const struct log_writer_options options = {.path = l->path, .overwrite = true};
	json_t *header = json_object();

	snprintf(l->path, sizeof(l->path), "/tmp/names_log.%d.spoor", getpid());
	assert_int_equal(log_writer_open(&options, header, &l->w), 0);
	json_decref(header);
}

/* Closes the log; what is to be freed with log_names_free(). */
static inline struct log_names *names_log_read(struct names_log *l)
{
	struct log_names *n = log_names_new();
	struct log_reader *r;
	const struct event *e;

	assert_int_equal(log_writer_close(l->w), 0);
	l->w = NULL;
	assert_int_equal(log_reader_open(l->path, &r), 0);
	while (log_reader_next(r, &e) == 1)
		assert_int_equal(log_names_add(n, e), 0);
	log_reader_close(r);
	return n;
}

static inline void names_log_end(struct names_log *l)
{
	log_writer_close(l->w);
	unlink(l->path);
}
