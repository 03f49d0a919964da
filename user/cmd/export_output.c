#include "cmd/export_output.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/msg.h"
#include "report/gz.h"

/* A log must not be overwritten by what is made of it. */
static bool is_same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return !stat(a, &of_a) && !stat(b, &of_b) && of_a.st_dev == of_b.st_dev &&
	       of_a.st_ino == of_b.st_ino;
}

FILE *export_output_open(const char *path, const char *output)
{
	size_t length;
	FILE *out;

	if (!output)
		return stdout;
	if (is_same_file(path, output)) {
		msg_error("%s: this is the log itself; choose another FILE for -o", output);
		return NULL;
	}
	length = strlen(output);
	out = length > 3 && !strcmp(output + length - 3, ".gz") ? gz_open(output)
								: fopen(output, "we");
	if (!out)
		msg_error("%s: cannot write it: %s", output, strerror(errno));
	return out;
}

int export_output_close(FILE *out, const char *output, int err)
{
	if (out == stdout || !fclose(out) || err < 0)
		return err;
	msg_error("%s: cannot write it: %s", output, strerror(errno));
	return -EIO;
}
