/*
 * Whoever runs spoor as root in a folder to which others may write must not become the hand that
 * overwrites a file for them. O_NOFOLLOW is about the last name of a path only; for the names
 * before it, the walk here does what fs.protected_symlinks does where that is on: in a folder that
 * everybody may write to and that is sticky, a link leads on only if it is this user's own, or that
 * of the folder's owner.
 */
#include "base/create.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as in the kernel */

/* --- the folder ------------------------------------------------------------------------------- */

struct walk {
	int dir;
	unsigned links;
	char rest[2 * PATH_MAX];
};

static int walk_from(struct walk *w, const char *path)
{
	int dir = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return -errno;
	if (w->dir >= 0)
		close(w->dir);
	w->dir = dir;
	return 0;
}

static bool may_follow(const struct stat *folder, const struct stat *link)
{
	const mode_t open = S_ISVTX | S_IWOTH;

	return (folder->st_mode & open) != open || link->st_uid == geteuid() ||
	       link->st_uid == folder->st_uid;
}

/* What the link says comes before the rest of the path. */
static int walk_link(struct walk *w, int link, const char *name)
{
	char target[PATH_MAX], *rest;
	ssize_t n = readlinkat(link, "", target, sizeof(target) - 1);
	struct statfs fs;
	int dir;

	if (n <= 0)
		return n ? -errno : -ENOENT;
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	/* /proc/PID/cwd and the like are no texts: the kernel knows where they lead. */
	if (!fstatfs(link, &fs) && fs.f_type == PROC_SUPER_MAGIC) {
		dir = openat(w->dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0)
			return -errno;
		close(w->dir);
		w->dir = dir;
		return 0;
	}
	target[n] = '\0';
	rest = strdup(w->rest);
	if (!rest)
		return -ENOMEM;
	n = snprintf(w->rest, sizeof(w->rest), "%s/%s", target, rest);
	free(rest);
	if ((size_t)n >= sizeof(w->rest))
		return -ENAMETOOLONG;
	return *target == '/' ? walk_from(w, target) : 0;
}

static int walk_step(struct walk *w, const char *name)
{
	int fd = openat(w->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), err = 0;
	struct stat st, folder;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || fstat(w->dir, &folder)) {
		err = -errno;
	} else if (S_ISLNK(st.st_mode)) {
		err = may_follow(&folder, &st) ? walk_link(w, fd, name) : -ELOOP;
	} else if (S_ISDIR(st.st_mode)) {
		close(w->dir);
		w->dir = fd;
		return 0;
	} else {
		err = -ENOTDIR;
	}
	close(fd);
	return err;
}

int file_folder(const char *path, int *ret)
{
	const char *slash = strrchr(path, '/');
	struct walk w = {.dir = -1};
	char name[NAME_MAX + 1];
	size_t length;
	int err;

	if (slash && (size_t)(slash - path) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (slash)
		memcpy(w.rest, path, (size_t)(slash - path));
	err = walk_from(&w, path);
	while (!err) {
		memmove(w.rest, w.rest + strspn(w.rest, "/"),
			strlen(w.rest + strspn(w.rest, "/")) + 1);
		length = strcspn(w.rest, "/");
		if (!length)
			break;
		if (length > NAME_MAX) {
			err = -ENAMETOOLONG;
			break;
		}
		memcpy(name, w.rest, length);
		name[length] = '\0';
		memmove(w.rest, w.rest + length, strlen(w.rest + length) + 1);
		err = walk_step(&w, name);
	}
	if (!err)
		*ret = w.dir;
	else if (w.dir >= 0)
		close(w.dir);
	return err;
}

/* --- the file --------------------------------------------------------------------------------- */

static int create_new(int dir, const char *name, mode_t mode, int *ret)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dir, name, flags, CREATE_MODE), err = 0;

	if (fd < 0)
		return -errno;
	/* What umask has taken away was asked for. */
	if (mode != CREATE_MODE && fchmod(fd, mode)) {
		err = -errno;
		close(fd);
		unlinkat(dir, name, 0);
		return err;
	}
	*ret = fd;
	return 0;
}

static int is_ours(const struct stat *st)
{
	return st->st_uid != geteuid() ? -EPERM : st->st_nlink != 1 ? -EMLINK : 0;
}

int file_create_unique(int dir, const char *begin, mode_t mode, char **ret_name, int *ret)
{
	uint64_t random;
	char *name;
	int err;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	if (asprintf(&name, "%s%016llx", begin, (unsigned long long)random) < 0)
		return -ENOMEM;
	err = create_new(dir, name, mode, ret);
	if (err)
		free(name);
	else
		*ret_name = name;
	return err;
}

static int replace(int dir, const char *name, mode_t mode, int *ret)
{
	char *temporary;
	int fd, err = file_create_unique(dir, ".spoor-", mode, &temporary, &fd);

	if (err)
		return err;
	if (renameat(dir, temporary, dir, name)) {
		err = -errno;
		unlinkat(dir, temporary, 0);
		close(fd);
	} else {
		*ret = fd;
	}
	free(temporary);
	return err;
}

/* The folder takes no other file, or the name is where a file is mounted. */
static int empty(int dir, const char *name, int *ret)
{
	int fd = openat(dir, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), err;
	struct stat st;

	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) ? -errno : S_ISREG(st.st_mode) ? is_ours(&st) : -ENXIO;
	if (!err && ftruncate(fd, 0))
		err = -errno;
	if (err)
		close(fd);
	else
		*ret = fd;
	return err;
}

/* Who made a FIFO reads what goes into it. */
static int open_special(int dir, const char *name, const struct stat *was, int *ret)
{
	struct stat st;
	int fd;

	if (S_ISFIFO(was->st_mode) && was->st_uid && was->st_uid != geteuid())
		return -EPERM;
	fd = openat(dir, name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_dev != was->st_dev || st.st_ino != was->st_ino) {
		close(fd);
		return -ESTALE;
	}
	*ret = fd;
	return 0;
}

static int create_over(int dir, const char *name, mode_t mode, int *ret)
{
	struct stat st;
	int err;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (S_ISLNK(st.st_mode) || S_ISDIR(st.st_mode))
		return S_ISLNK(st.st_mode) ? -ELOOP : -EISDIR;
	if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode))
		return open_special(dir, name, &st, ret);
	if (!S_ISREG(st.st_mode))
		return -ENXIO;
	err = is_ours(&st);
	if (err)
		return err;
	err = replace(dir, name, mode, ret);
	return err && err != -ENOSPC && err != -EDQUOT ? empty(dir, name, ret) : err;
}

/* -1: path is none of this process's descriptors. */
static int own_descriptor(const char *path)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	unsigned long n;
	char *end;

	if (!strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		if (strncmp(path, folders[i], strlen(folders[i])))
			continue;
		path += strlen(folders[i]);
		n = strtoul(path, &end, 10);
		return *path >= '0' && *path <= '9' && !*end && n < INT_MAX ? (int)n : -1;
	}
	return -1;
}

/* It is there already, and whoever started this process has opened it. What the standard outputs
 * have already stays. */
static int create_own(const char *path, int fd, bool overwrite, int *ret)
{
	struct stat st;
	int copy;

	if (!overwrite)
		return -EEXIST;
	if (fstat(fd, &st))
		return -errno;
	if (S_ISREG(st.st_mode) && fd > STDERR_FILENO)
		copy = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	else
		copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (copy < 0)
		return -errno;
	*ret = copy;
	return 0;
}

int file_create(const char *path, bool overwrite, mode_t mode, int *ret)
{
	int own = own_descriptor(path), dir = -1, err;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (own >= 0)
		return create_own(path, own, overwrite, ret);
	if (!*name)
		return *path ? -EISDIR : -ENOENT;
	err = file_folder(path, &dir);
	if (err)
		return err;
	err = create_new(dir, name, mode, ret);
	if (err == -EEXIST && overwrite)
		err = create_over(dir, name, mode, ret);
	close(dir);
	return err;
}

/* It has just been made, and may be another by now. */
static int folder_set_mode(int dir, const char *name, mode_t mode)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (st.st_uid != geteuid())
		err = -EPERM;
	else if (fchmod(fd, mode))
		err = -errno;
	close(fd);
	return err;
}

static int folder_make(int dir, const char *name, mode_t mode)
{
	mode_t search = (mode & 0444) >> 2; /* who may read may also look for names */
	struct stat st;

	if (!mkdirat(dir, name, 0700))
		return mode == CREATE_MODE ? 0 : folder_set_mode(dir, name, 0700 | mode | search);
	if (errno != EEXIST)
		return -errno;
	return !fstatat(dir, name, &st, 0) && !S_ISDIR(st.st_mode) ? -ENOTDIR : 0;
}

int folder_create(const char *path, mode_t mode)
{
	size_t length = strlen(path);
	char *trimmed, *slash;
	int dir, err;

	while (length > 1 && path[length - 1] == '/')
		length--;
	trimmed = strndup(path, length);
	if (!trimmed)
		return -ENOMEM;
	err = file_folder(trimmed, &dir);
	if (!err) {
		slash = strrchr(trimmed, '/');
		err = folder_make(dir, !slash ? trimmed : slash[1] ? slash + 1 : ".", mode);
		close(dir);
	}
	free(trimmed);
	return err;
}

const char *file_create_error(int err)
{
	switch (-err) {
	case ELOOP:
		return "it is a link, or a link of another user leads there, and spoor writes "
		       "through neither: name the file itself";
	case EPERM:
		return "it belongs to another user, and spoor does not write to it: choose another "
		       "name, or delete it";
	case EMLINK:
		return "it has a second name (a hard link), and spoor does not write to it: choose "
		       "another name, or delete it";
	case ENXIO:
		return "it is neither a file nor a pipe nor a character device";
	default:
		return strerror(-err);
	}
}
