#include "jvm/target/mapped_file.h"

#include "jvm/target/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/*
 * The path in /proc/PID/maps is the target's word. In a user and mount namespace of its own, which
 * needs no right, a target can mount a FIFO or a device on it, with the same inode number. To open
 * a FIFO waits for ever, to open some devices does something. So:
 * - /proc/PID/map_files/START-END is the mapping's own file, whatever its path means by now, also
 * after it was deleted. It wants CAP_SYS_ADMIN, or from Linux 5.9 on CAP_CHECKPOINT_RESTORE.
 * - Without, the path is taken, below the target's root and without a symbolic link (the kernel
 * prints none). What is there counts only if it has the mapping's inode number and, unless the file
 * system shows another device to stat than to maps (overlayfs, btrfs), its device.
 * Either is first opened with O_PATH, which only looks; what is a regular file is then opened
 * through that descriptor. O_NONBLOCK: its owner may hold a lease on it, which an open waits for.
 */

static int map_files_look(pid_t pid, const struct process_lib *lib)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
		 lib->start, lib->end);
	fd = open(path, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Whether maps and stat name this file system's devices alike. */
static bool device_comparable(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type != OVERLAYFS_SUPER_MAGIC &&
	       fs.f_type != BTRFS_SUPER_MAGIC;
}

static int path_look(pid_t pid, const struct process_lib *lib)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
	char path[64];
	struct stat st;
	int root, fd;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, root, lib->path + 1, &how, sizeof(how));
	if (fd < 0)
		fd = -errno;
	close(root);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -ENOEXEC;
	}
	if (st.st_ino != lib->inode ||
	    (st.st_dev != makedev(lib->dev_major, lib->dev_minor) && device_comparable(fd))) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

static int reopen(int seen)
{
	struct stat before, after;
	char path[32];
	int fd;

	if (fstat(seen, &before))
		return -errno;
	if (!S_ISREG(before.st_mode))
		return -ENOEXEC;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", seen);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &after) || before.st_dev != after.st_dev || before.st_ino != after.st_ino ||
	    !S_ISREG(after.st_mode)) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

int mapped_file_open(pid_t pid, const struct process_lib *lib)
{
	int seen = map_files_look(pid, lib), fd;

	if (seen < 0 && !lib->deleted)
		seen = path_look(pid, lib);
	if (seen < 0)
		return seen;
	fd = reopen(seen);
	close(seen);
	return fd;
}
