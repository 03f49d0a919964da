/* cmd/record/record_output.h: options of `spoor record`: where the log goes, how large it gets. */
#pragma once

#include <argp.h>

#include "log/write/writer.h"
#include "record/session/recorder.h"

/* A child of the command's own parser; its input is a struct log_writer_options. */
extern const struct argp record_output_argp;

/* -o - with a terminal after it, and the like: ends with the usage error. */
void record_output_check(const struct log_writer_options *o, bool has_command,
			 struct argp_state *state);

/* The file, as messages call it. */
const char *record_output_name(const struct log_writer_options *o);

/* What has been written, and where: one or two lines. */
void record_output_summary(const struct log_writer_options *o, const struct recorder_stats *s);
/* What there is to say about object events; only if there are. */
void record_output_objects(const struct recorder_stats *s);
/* How to read it. */
void record_output_read_it(const struct log_writer_options *o);
