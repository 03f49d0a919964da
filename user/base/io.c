#include "base/io.h"

#include <errno.h>
#include <unistd.h>

int write_all(int fd, const void *bytes, size_t count)
{
	const char *at = bytes;

	while (count) {
		ssize_t n = write(fd, at, count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		count -= (size_t)n;
	}
	return 0;
}

int read_all(int fd, void *to, size_t room, size_t *ret_count)
{
	char *at = to;

	*ret_count = 0;
	while (*ret_count < room) {
		ssize_t n = read(fd, at + *ret_count, room - *ret_count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		*ret_count += (size_t)n;
	}
	return 0;
}
