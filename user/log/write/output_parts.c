/*
 * AntTracks 4.7.2: n files of a share of the limit each; when there is no room for the next block,
 * the oldest goes. It goes as late as that, not when a new part begins, so that what is kept is
 * never less than the limit without one part. What the last file needs to be closed (its index) is
 * counted before it is written: at no moment is there more than the limit.
 */
#include "log/write/output.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/create.h"
#include "base/tables/array.h"

#define SUFFIX ".spoor"
#define DIGITS 6

struct output_parts {
	struct log_output o;
	char *path;
	int fd;         /* of the last one; -1: none */
	uint64_t bytes; /* of the last one */
	uint64_t max_bytes;
	uint64_t *
		sizes; /* of the parts that are complete and not deleted, from o.parts_deleted on */
	uint32_t capacity;
};

size_t output_part_stem(const char *path)
{
	size_t length = strlen(path), suffix = strlen(SUFFIX);

	return length > suffix && !strcmp(path + length - suffix, SUFFIX) ? length - suffix
									  : length;
}

char *output_part_path(const char *path, uint32_t number)
{
	size_t size = strlen(path) + 32;
	char *name = malloc(size);

	if (name)
		snprintf(name, size, "%.*s-%0*u" SUFFIX, (int)output_part_stem(path), path, DIGITS,
			 number);
	return name;
}

/* Is it the name of a part of path, both without their folders? */
static bool is_part(const char *name, const char *base)
{
	size_t stem = output_part_stem(base), digits = 0;

	if (strncmp(name, base, stem) || name[stem] != '-')
		return false;
	for (name += stem + 1; isdigit((unsigned char)name[digits]); digits++)
		;
	return digits >= DIGITS && !strcmp(name + digits, SUFFIX);
}

/* Calls with each part that is there, until it returns other than 0. */
static int each_part(const char *path, int (*call)(int dir, const char *name))
{
	const char *slash = strrchr(path, '/');
	int folder, fd, err = file_folder(path, &folder);
	struct dirent *entry;
	DIR *dir;

	if (err)
		return err;
	fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	err = dir ? 0 : -errno;
	close(folder);
	while (dir && !err && (entry = readdir(dir)))
		if (is_part(entry->d_name, slash ? slash + 1 : path))
			err = call(dirfd(dir), entry->d_name);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return err;
}

static int found(int dir, const char *name)
{
	(void)dir;
	(void)name;
	return -EEXIST;
}

static int delete_found(int dir, const char *name)
{
	return unlinkat(dir, name, 0) && errno != ENOENT ? -errno : 0;
}

bool output_parts_exist(const char *path)
{
	return each_part(path, found) == -EEXIST;
}

static int delete_part(const struct output_parts *p, uint32_t number)
{
	char *name = output_part_path(p->path, number), *slash;
	int dir, err;

	if (!name)
		return -ENOMEM;
	err = file_folder(name, &dir);
	if (!err) {
		slash = strrchr(name, '/');
		err = unlinkat(dir, slash ? slash + 1 : name, 0) ? -errno : 0;
		close(dir);
	}
	free(name);
	return err;
}

static int delete_oldest(struct output_parts *p)
{
	int err = delete_part(p, p->o.parts_deleted + 1);
	uint32_t left;

	/* Somebody may have moved it away, to keep it. */
	if (err && err != -ENOENT)
		return err;
	p->o.bytes -= p->sizes[0];
	p->o.parts_deleted++;
	left = p->o.parts - 1 - p->o.parts_deleted;
	memmove(p->sizes, p->sizes + 1, left * sizeof(*p->sizes));
	return 0;
}

static int make_room(struct output_parts *p, uint64_t count)
{
	int err = 0;

	while (!err && p->o.bytes + count > p->max_bytes) {
		if (p->o.parts_deleted + 1 >= p->o.parts)
			return -EFBIG;
		err = delete_oldest(p);
	}
	return err;
}

static int add_size(struct output_parts *p)
{
	uint32_t before = p->o.parts - p->o.parts_deleted - 1; /* complete ones */
	int err = array_grow(&p->sizes, &p->capacity, before, sizeof(*p->sizes));

	if (!err)
		p->sizes[before] = p->bytes;
	return err;
}

static int close_last(struct output_parts *p)
{
	int fd = p->fd;

	p->fd = -1;
	return fd >= 0 && close(fd) && errno != EINTR ? -errno : 0;
}

static int append(struct output_parts *p, const uint8_t *bytes, size_t count)
{
	struct stat st;
	int err;

	if (!fstat(p->fd, &st) && !st.st_nlink)
		return -ESTALE;
	err = output_append(p->fd, p->bytes, bytes, count);
	if (err)
		return err;
	p->bytes += count;
	p->o.bytes += count;
	p->o.written += count;
	return 0;
}

static int parts_part(struct log_output *o, const uint8_t *bytes, size_t count)
{
	struct output_parts *p = (struct output_parts *)o;
	char *name = output_part_path(p->path, o->parts + 1);
	int err = name ? 0 : -ENOMEM;

	if (!err)
		err = close_last(p);
	if (!err && o->parts)
		err = add_size(p);
	if (!err) {
		o->parts++;
		p->bytes = 0;
		err = make_room(p, count + o->reserve);
	}
	if (!err)
		err = output_file_create(name, false, &p->fd);
	if (!err)
		err = append(p, bytes, count);
	free(name);
	return err;
}

static int parts_write(struct log_output *o, const struct sealed *block)
{
	struct output_parts *p = (struct output_parts *)o;
	int err = make_room(p, block->count + o->reserve);

	return err ? err : append(p, block->bytes, block->count);
}

static void parts_discard(struct log_output *o)
{
	struct output_parts *p = (struct output_parts *)o;

	if (p->fd >= 0)
		delete_part(p, o->parts);
}

static int parts_close(struct log_output *o)
{
	struct output_parts *p = (struct output_parts *)o;
	int err = close_last(p);

	free(p->sizes);
	free(p->path);
	free(p);
	return err;
}

static const struct log_output_ops parts_ops = {parts_part, parts_write, parts_discard,
						parts_close};

int output_parts_open(const char *path, bool overwrite, uint64_t max_bytes, struct log_output **ret)
{
	struct output_parts *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->o.ops = &parts_ops;
	p->fd = -1;
	p->max_bytes = max_bytes;
	p->path = strdup(path);
	err = p->path ? each_part(path, overwrite ? delete_found : found) : -ENOMEM;
	if (err) {
		parts_close(&p->o);
		return err;
	}
	*ret = &p->o;
	return 0;
}
