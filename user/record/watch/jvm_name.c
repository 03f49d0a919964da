#include "record/watch/jvm_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool has_value(const char *option)
{
	static const char *const options[] = {"-cp",
					      "-classpath",
					      "--class-path",
					      "-p",
					      "--module-path",
					      "--add-modules",
					      "--add-exports",
					      "--add-opens",
					      "--add-reads",
					      "--limit-modules",
					      "--patch-module",
					      "--upgrade-module-path",
					      "--source",
					      "--enable-native-access"};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (!strcmp(option, options[i]))
			return true;
	return false;
}

/* The last part of a path, or of a name with dots or slashes; without ".jar". */
static void shorten(const char *text, bool path, char ret[JVM_NAME_MAX])
{
	const char *from = strrchr(text, '/');
	size_t n = 0, length;

	from = from ? from + 1 : text;
	length = strlen(from);
	if (path && length > 4 && !strcmp(from + length - 4, ".jar"))
		length -= 4;
	if (!path && strrchr(from, '.')) {
		from = strrchr(from, '.') + 1;
		length = strlen(from);
	}
	for (size_t i = 0; i < length && n < JVM_NAME_MAX - 1; i++) {
		bool plain = isalnum((unsigned char)from[i]) || strchr("._-", from[i]);

		/* A file name that begins with '-' or '.' is a nuisance. */
		if (!n && !isalnum((unsigned char)from[i]))
			plain = false;
		ret[n++] = plain ? from[i] : '_';
	}
	ret[n] = 0;
	if (!n)
		snprintf(ret, JVM_NAME_MAX, "java");
}

void jvm_name(const char *arguments, size_t length, char ret[JVM_NAME_MAX])
{
	const char *stop = arguments + length, *at = arguments;
	const char *end = memchr(at, 0, length);

	/* Past the program itself. */
	for (at = end ? end + 1 : stop; at < stop; at = end + 1) {
		end = memchr(at, 0, (size_t)(stop - at));
		if (!end)
			break;
		if (!strcmp(at, "-jar") || !strcmp(at, "-m") || !strcmp(at, "--module")) {
			if (memchr(end + 1, 0, (size_t)(stop - end - 1))) {
				shorten(end + 1, !strcmp(at, "-jar"), ret);
				return;
			}
			break;
		}
		if (has_value(at)) {
			end = memchr(end + 1, 0, (size_t)(stop - end - 1));
			if (!end)
				break;
		} else if (*at != '-' && *at != '@') {
			shorten(at, false, ret);
			return;
		}
	}
	snprintf(ret, JVM_NAME_MAX, "java");
}
