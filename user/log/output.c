/*
 * A file gets whole blocks or nothing: where the kernel takes only a part of one (a full disk, a
 * limit), the file is cut back to the last whole block. Pipes and devices cannot be cut; their
 * reader meets a block that ends too early.
 */
#include "log/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct output_file {
	struct log_output o;
	int fd;
	bool linked;   /* it has a name, which somebody may delete */
	char *created; /* its name, if it was not there before */
};

int output_write_all(int fd, const uint8_t *bytes, size_t count)
{
	ssize_t n;

	while (count) {
		n = write(fd, bytes, count);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		bytes += n;
		count -= (size_t)n;
	}
	return 0;
}

static int append(struct output_file *f, const uint8_t *bytes, size_t count)
{
	struct stat st;
	int err;

	/* The kernel would take it all, and nobody could ever read it. */
	if (f->linked && !fstat(f->fd, &st) && !st.st_nlink)
		return -ESTALE;
	err = output_write_all(f->fd, bytes, count);
	if (err) {
		if (!ftruncate(f->fd, (off_t)f->o.bytes))
			lseek(f->fd, (off_t)f->o.bytes, SEEK_SET);
		return err;
	}
	f->o.bytes += count;
	f->o.written += count;
	return 0;
}

static int file_part(struct log_output *o, const uint8_t *bytes, size_t count)
{
	if (o->parts)
		return -EINVAL;
	o->parts = 1;
	return append((struct output_file *)o, bytes, count);
}

static int file_write(struct log_output *o, const struct sealed *block)
{
	return append((struct output_file *)o, block->bytes, block->count);
}

static int file_close(struct log_output *o)
{
	struct output_file *f = (struct output_file *)o;
	int err = 0;

	if (f->fd >= 0 && close(f->fd) && errno != EINTR)
		err = -errno;
	free(f->created);
	free(f);
	return err;
}

static const struct log_output_ops file_ops = {file_part, file_write, file_close};

/* Names are nobody else's business: 0600, also for a file that is overwritten. */
static int file_create(struct output_file *f, const char *path, bool overwrite)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC;
	struct stat st;

	f->created = strdup(path);
	if (!f->created)
		return -ENOMEM;
	f->fd = open(path, flags | O_EXCL, 0600);
	if (f->fd < 0 && errno == EEXIST && overwrite) {
		free(f->created);
		f->created = NULL;
		f->fd = open(path, flags | O_TRUNC, 0600);
	}
	if (f->fd < 0)
		return -errno;
	if (fstat(f->fd, &st))
		return 0;
	f->linked = st.st_nlink > 0;
	if (S_ISREG(st.st_mode))
		(void)!fchmod(f->fd, 0600);
	return 0;
}

int output_file_open(const char *path, bool overwrite, struct log_output **ret)
{
	struct output_file *f = calloc(1, sizeof(*f));
	int err = 0;

	if (!f)
		return -ENOMEM;
	f->o.ops = &file_ops;
	f->fd = -1;
	if (strcmp(path, "-"))
		err = file_create(f, path, overwrite);
	else if ((f->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) < 0)
		err = -errno;
	if (err) {
		file_close(&f->o);
		return err;
	}
	*ret = &f->o;
	return 0;
}

void output_file_discard(struct log_output *o)
{
	struct output_file *f = (struct output_file *)o;

	if (f->created)
		unlink(f->created);
}
