#include "record/session/notes.h"

#include <stdio.h>

#include "base/units.h"
#include "log/format/event.h"
#include "log/write/writer.h"

void notes_write(struct log_writer *w, uint64_t level, const char *text)
{
	struct event e = {.id = EVENT_NOTE, .time_ns = clock_mono_ns()};

	e.v[NOTE_LEVEL].u = level;
	e.v[NOTE_TEXT].s = text;
	log_write(w, &e);
}

void notes_marks(void *writer, const char *path, const char *why)
{
	char text[1024];

	snprintf(text, sizeof(text), "marks of %.700s are %srecorded%s%s", path, why ? "not " : "",
		 why ? ": " : "", why ? why : "");
	notes_write(writer, why ? NOTE_LEVEL_WARNING : NOTE_LEVEL_INFO, text);
}
