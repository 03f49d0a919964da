/* record/session/notes.h: what the recorder has to say to readers of the log, as events of kind
 * note. */
#pragma once

#include <stdint.h>

struct log_writer;

/* level: enum note_level of the schema. */
void notes_write(struct log_writer *w, uint64_t level, const char *text);
/* For struct marks_options; writer is the struct log_writer. */
void notes_marks(void *writer, const char *path, const char *why);
