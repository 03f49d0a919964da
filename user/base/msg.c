#include "base/msg.h"

#include <stdarg.h>
#include <stdio.h>

static enum msg_level limit = MSG_INFO;

void msg_set_level(enum msg_level level)
{
	limit = level;
}

void msg(enum msg_level level, const char *format, ...)
{
	static const char *const prefix[] = {
		"spoor: ", "spoor: warning: ", "spoor: ", "spoor: debug: "};
	va_list ap;

	_Static_assert(sizeof(prefix) / sizeof(*prefix) == MSG_LEVEL_COUNT, "one prefix per level");
	if (level > limit)
		return;
	va_start(ap, format);
	flockfile(stderr);
	fputs(prefix[level], stderr);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
	funlockfile(stderr);
	va_end(ap);
}
