/*
 * A file gets whole blocks or nothing: where the kernel takes only a part of one (a full disk, a
 * limit), the file is cut back to the last whole block. Pipes and devices cannot be cut; their
 * reader meets a block that ends too early.
 */
#include "log/write/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/create.h"
#include "base/io.h"

struct output_file {
	struct log_output o;
	int fd;
	bool linked;   /* it has a name, which somebody may delete */
	char *created; /* its name, if it was not there before */
};

int output_append(int fd, uint64_t size, const uint8_t *bytes, size_t count)
{
	int err = write_all(fd, bytes, count);

	if (err && !ftruncate(fd, (off_t)size))
		lseek(fd, (off_t)size, SEEK_SET);
	return err;
}

int output_file_create(const char *path, bool overwrite, int *ret)
{
	return file_create(path, overwrite, CREATE_MODE, ret);
}

static int append(struct output_file *f, const uint8_t *bytes, size_t count)
{
	struct stat st;
	int err;

	/* The kernel would take it all, and nobody could ever read it. */
	if (f->linked && !fstat(f->fd, &st) && !st.st_nlink)
		return -ESTALE;
	err = output_append(f->fd, f->o.bytes, bytes, count);
	if (err)
		return err;
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

static void file_discard(struct log_output *o)
{
	struct output_file *f = (struct output_file *)o;

	if (f->created)
		unlink(f->created);
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

static const struct log_output_ops file_ops = {file_part, file_write, file_discard, file_close};

static int file_open(struct output_file *f, const char *path, bool overwrite)
{
	struct stat st;
	int err;

	f->created = strdup(path);
	if (!f->created)
		return -ENOMEM;
	err = output_file_create(path, false, &f->fd);
	if (err == -EEXIST && overwrite) {
		free(f->created);
		f->created = NULL;
		err = output_file_create(path, true, &f->fd);
	}
	f->linked = !err && !fstat(f->fd, &st) && st.st_nlink > 0;
	return err;
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
		err = file_open(f, path, overwrite);
	else if ((f->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) < 0)
		err = -errno;
	if (err) {
		file_close(&f->o);
		return err;
	}
	*ret = &f->o;
	return 0;
}
