/* record/session/log_error.h: what is wrong with the file of a log, in the user's terms. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct log_writer;
struct log_writer_options;

/* A negative errno of the log's writer. Static text. */
const char *log_error_text(int err);

/* There is something in the way that must not be overwritten; and what to do about it. */
bool log_exists(const struct log_writer_options *o);
#define LOG_EXISTS_MAX 512
const char *log_exists_text(const struct log_writer_options *o, char text[LOG_EXISTS_MAX]);

/* Notes in the log why it is larger than it could be. */
void log_note_less(struct log_writer *w, uint64_t now_ns);
