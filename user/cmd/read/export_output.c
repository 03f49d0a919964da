#include "cmd/read/export_output.h"

#include <argp.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/create.h"
#include "base/gz.h"
#include "base/text/msg.h"
#include "session/log_source.h"

/* A log must not be overwritten by what is made of it. */
static bool is_same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return !stat(a, &of_a) && !stat(b, &of_b) && of_a.st_dev == of_b.st_dev &&
	       of_a.st_ino == of_b.st_ino;
}

bool export_output_is_log(const struct log_source *s, const char *output)
{
	for (unsigned i = 0; s->set && i < log_set_count(s->set); i++) {
		if (!is_same_file(log_set_paths(s->set)[i], output))
			continue;
		msg_error("%s: this is the log itself; choose another FILE for -o", output);
		return true;
	}
	return false;
}

FILE *export_output_open(const struct log_source *source, const char *output, mode_t mode)
{
	size_t length;
	FILE *out = NULL;
	int fd, err;

	if (!output)
		return stdout;
	if (export_output_is_log(source, output))
		return NULL;
	err = file_create(output, true, mode ? mode : CREATE_MODE, &fd);
	length = strlen(output);
	if (!err && length > 3 && !strcmp(output + length - 3, ".gz")) {
		out = gz_open(fd);
	} else if (!err) {
		out = fdopen(fd, "w");
		if (!out)
			close(fd);
	}
	err = err || out ? err : -errno;
	if (err)
		msg_error("%s: cannot write it: %s", output, file_create_error(err));
	return out;
}

void export_output_remove(const char *output)
{
	struct stat st;

	if (!lstat(output, &st) && S_ISREG(st.st_mode))
		unlink(output);
}

int export_output_close(FILE *out, const char *output, int err)
{
	if (out == stdout || (!fclose(out) && err != -ENOMEM))
		return err;
	/* Of a log that there is no memory for, nothing is left that looks like an export. */
	if (err == -ENOMEM)
		export_output_remove(output);
	if (err < 0)
		return err;
	msg_error("%s: cannot write it: %s", output, strerror(errno));
	return -EIO;
}

void page_output_check(const char *output, struct argp_state *state)
{
	if (!output)
		argp_error(state, "where to? -o FILE.html is the page; - is standard output");
	else if (!strcmp(output, "-") && isatty(STDOUT_FILENO))
		argp_error(state, "a page is for a browser: not to a terminal");
}
