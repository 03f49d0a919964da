#include "base/text/msg.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/print.h"

/* Whole lines only, as several processes may write: into the room that there is, or as much as is
 * needed. What is formatted is made visible on the way: see base/text/print.h. */
static char *line_make(const char *prefix, const char *format, va_list args, char *room,
		       size_t size, size_t *ret)
{
	size_t begin = strlen(prefix), needed;
	char *line = room, *grown;

	strcpy(line, prefix);
	needed = begin + (size_t)print_bufferv(line + begin, size - begin - 1, format, args) + 2;
	grown = needed > size ? malloc(needed) : NULL;
	if (grown) {
		line = grown;
		strcpy(line, prefix);
		print_bufferv(line + begin, needed - begin - 1, format, args);
	}
	*ret = strlen(line);
	line[(*ret)++] = '\n';
	return line;
}

void msg(enum msg_level level, const char *format, ...)
{
	static const char *const kinds[] = {"", "warning: ", ""};
	char room[2048], prefix[128], *line;
	va_list args;
	size_t length;

	_Static_assert(sizeof(kinds) / sizeof(*kinds) == MSG_LEVEL_COUNT, "one per level");
	snprintf(prefix, sizeof(prefix), "%.100s: %s", program_invocation_short_name, kinds[level]);
	va_start(args, format);
	line = line_make(prefix, format, args, room, sizeof(room), &length);
	va_end(args);
	fwrite(line, 1, length, stderr);
	if (line != room)
		free(line);
}
