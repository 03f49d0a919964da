#include "base/io.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
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

#define DESCRIPTORS_MAX (1 << 20) /* fs.nr_open, unless it was raised */

int close_from(int first)
{
	struct rlimit files;
	int last = DESCRIPTORS_MAX;

	if (!syscall(SYS_close_range, first, ~0u, 0))
		return 0;
	if (errno != EPERM && errno != ENOSYS)
		return -errno;
	/* Descriptors beyond a limit that was lowered later are not looked for. */
	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < DESCRIPTORS_MAX)
		last = (int)files.rlim_cur;
	for (int fd = first; fd < last; fd++)
		close(fd);
	return 0;
}
