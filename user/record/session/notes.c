#include "record/session/notes.h"

#include <stdio.h>

#include "base/text/units.h"
#include "jvm/jvm.h"
#include "log/format/event.h"
#include "log/write/writer.h"

void notes_write(struct log_writer *w, uint64_t level, const char *text)
{
	struct event e = {.id = EVENT_NOTE, .time_ns = clock_mono_ns()};

	e.v[NOTE_LEVEL].u = level;
	e.v[NOTE_TEXT].s = text;
	log_write(w, &e);
}

void notes_support(struct log_writer *w, const struct jvm *j, bool noted[JVM_LIMIT_COUNT])
{
	struct jvm_support s;

	jvm_support(j, &s);
	for (int i = 0; s.level != JVM_FULL && i < JVM_LIMIT_COUNT; i++) {
		if (i == JVM_LIMIT_STACKS || !*s.text[i] || noted[i])
			continue;
		noted[i] = true;
		notes_write(w, NOTE_LEVEL_WARNING, s.text[i]);
	}
}

void notes_marks(void *writer, const char *path, const char *why)
{
	char text[1024];

	snprintf(text, sizeof(text), "marks of %.700s are %srecorded%s%s", path, why ? "not " : "",
		 why ? ": " : "", why ? why : "");
	notes_write(writer, why ? NOTE_LEVEL_WARNING : NOTE_LEVEL_INFO, text);
}
