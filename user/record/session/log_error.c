#include "record/session/log_error.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/create.h"
#include "log/format/event.h"
#include "log/write/output.h"
#include "log/write/writer.h"

static const struct {
	int err;
	const char *text;
} texts[] = {
	{ENOSPC, "the disk is full (no space left on device)"},
	{EDQUOT, "the disk quota is used up"},
	{EROFS, "the file system is read-only"},
	{EFBIG, "the file has reached the size limit (ulimit -f, or the file system's)"},
	{EPIPE, "nobody reads the pipe any more"},
	{ESTALE, "the file has been deleted, or its file system has gone"},
	{EIO, "the disk, or the way to it, has failed (input/output error)"},
	{ENOMEM, "out of memory"},
};

const char *log_error_text(int err)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].err == -err)
			return texts[i].text;
	return file_create_error(err);
}

bool log_exists(const struct log_writer_options *o)
{
	if (o->overwrite || o->keep_ns || !strcmp(o->path, "-"))
		return false;
	return o->max_bytes ? output_parts_exist(o->path) : !access(o->path, F_OK);
}

const char *log_exists_text(const struct log_writer_options *o, char text[LOG_EXISTS_MAX])
{
	snprintf(text, LOG_EXISTS_MAX,
		 o->max_bytes ? "there are parts of %.400s already; -f deletes them"
			      : "%.400s exists already; -f overwrites it",
		 o->path);
	return text;
}

void log_note_less(struct log_writer *w, uint64_t now_ns)
{
	struct event e = {.id = EVENT_NOTE, .time_ns = now_ns};
	struct log_writer_stats s;
	char text[128];

	log_writer_stats(w, &s);
	if (!s.blocks_less)
		return;
	snprintf(text, sizeof(text),
		 "%llu blocks are compressed less than asked for: the log could not be written as "
		 "fast as it came",
		 (unsigned long long)s.blocks_less);
	e.v[NOTE_LEVEL].u = NOTE_LEVEL_INFO;
	e.v[NOTE_TEXT].s = text;
	log_write(w, &e);
}
