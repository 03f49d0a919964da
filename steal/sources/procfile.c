#include "steal/sources/procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/tables/array.h"

#define FIRST_BYTES 4096

static int grow(struct procfile *f)
{
	size_t more = f->capacity ? f->capacity * 2 : FIRST_BYTES;

	return more < INT_MAX ? bytes_reserve(&f->text, &f->capacity, more) : -ENOMEM;
}

int procfile_read(struct procfile *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	size_t length = 0;
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	while (!err && n) {
		if (length + 1 >= f->capacity) {
			err = grow(f);
			continue;
		}
		n = read(fd, f->text + length, f->capacity - 1 - length);
		if (n > 0)
			length += (size_t)n;
		else if (n < 0 && errno == EINTR)
			n = 1;
		else if (n < 0)
			err = -errno;
	}
	close(fd);
	if (err)
		return err;
	f->text[length] = 0;
	return (int)length;
}

void procfile_free(struct procfile *f)
{
	free(f->text);
	f->text = NULL;
	f->capacity = 0;
}
