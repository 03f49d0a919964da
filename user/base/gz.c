#include "base/gz.h"

#include <errno.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK_MAX (1u << 30)

static void error_set(gzFile file)
{
	int err;

	gzerror(file, &err);
	if (err != Z_ERRNO || !errno)
		errno = err == Z_MEM_ERROR ? ENOMEM : err == Z_ERRNO ? EIO : EINVAL;
}

/* 0 is an error here. */
static ssize_t gz_write(void *cookie, const char *text, size_t length)
{
	gzFile file = cookie;
	int written = gzwrite(file, text, length < CHUNK_MAX ? (unsigned)length : CHUNK_MAX);

	if (written <= 0)
		error_set(file);
	return written > 0 ? written : 0;
}

static int gz_close(void *cookie)
{
	int err = gzclose(cookie);

	if (!err)
		return 0;
	if (err != Z_ERRNO || !errno)
		errno = EIO;
	return -1;
}

FILE *gz_open(int fd)
{
	gzFile file = gzdopen(fd, "wb");
	FILE *out =
		file ? fopencookie(file, "w",
				   (cookie_io_functions_t){.write = gz_write, .close = gz_close})
		     : NULL;

	if (out)
		return out;
	if (file)
		gzclose(file);
	else
		close(fd);
	errno = ENOMEM;
	return NULL;
}
