/* record/session/notes.h: what the recorder has to say to readers of the log, as events of kind
 * note. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "jvm/layout/versions/support.h"

struct jvm;
struct log_writer;

/* level: enum note_level of the schema. */
void notes_write(struct log_writer *w, uint64_t level, const char *text);
/* What the log lacks because of the JVM's version: what has not been noted yet. Call chains are not
 * noted: the log's header says why there are none. */
void notes_support(struct log_writer *w, const struct jvm *j, bool noted[JVM_LIMIT_COUNT]);
/* For struct marks_options; writer is the struct log_writer. */
void notes_marks(void *writer, const char *path, const char *why);
