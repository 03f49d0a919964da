#include "session/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text/msg.h"
#include "session/max_memory.h"

#define CHUNK_BYTES (256 * 1024)

static const char *folder(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

/* Not every file system has files without a name from the begin. The folder is the user's choice,
 * by TMPDIR; in one to which everybody may write nobody else can take a name that mkostemp() has
 * found, nor open what has it. */
static int open_nameless(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *path;

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	if (asprintf(&path, "%s/spoor.XXXXXX", dir) < 0) {
		errno = ENOMEM;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

/* 0; *reading: it was in that failed. */
static int copy(int in, int out, char *buffer, bool *reading)
{
	ssize_t n;
	int err = 0;

	while (!err) {
		n = read(in, buffer, CHUNK_BYTES);
		if (!n)
			return 0;
		if (n < 0 && errno == EINTR)
			continue;
		*reading = n < 0;
		err = n < 0 ? -errno : write_all(out, buffer, (size_t)n);
	}
	return err;
}

static void report(const char *name, int err, bool reading)
{
	if (reading)
		msg_error("%s: cannot read it: %s", name, max_memory_error(err));
	else if (err == -ENOSPC || err == -EDQUOT || err == -EFBIG)
		msg_error("%s: it is read twice, and %s has no room to keep what comes out of the "
			  "pipe: set TMPDIR to a folder that has, or put the log into a file",
			  name, folder());
	else
		msg_error("%s: it is read twice, and what comes out of the pipe cannot be kept in "
			  "%s: %s; set TMPDIR to another folder, or put the log into a file",
			  name, folder(), strerror(-err));
}

int spool_copy(int in, const char *name, int *ret)
{
	char *buffer = malloc(CHUNK_BYTES);
	bool reading = false;
	int fd = -1, err = buffer ? 0 : -ENOMEM;

	if (!err) {
		fd = open_nameless(folder());
		err = fd < 0 ? -errno : copy(in, fd, buffer, &reading);
	}
	free(buffer);
	if (!err) {
		*ret = fd;
		return 0;
	}
	report(name, err, reading);
	if (fd >= 0)
		close(fd);
	return err;
}
