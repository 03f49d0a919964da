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
