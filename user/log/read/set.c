/*
 * Of each file only the header is read, and of those before a hole also the heads of the blocks,
 * for the time at which the part ends. What is missing follows from the numbers of the parts:
 * before the first, parts may have been deleted as the recording went on, or have not been given.
 */
#include "log/read/set.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/tables/array.h"
#include "log/format/block.h"
#include "log/read/paths.h"
#include "log/read/reader.h"

struct file {
	struct log_set_file shown;
	char *path;
	char *recording; /* NULL: no part */
	uint64_t start_ns;
	dev_t device;
	ino_t inode;
};

struct log_set {
	struct file *files;
	const char **paths;
	unsigned count, capacity;
	struct log_set_hole *holes;
	unsigned hole_count;
	bool closed; /* the last one, as a part is that is followed by another, or by nothing */
};

void log_set_free(struct log_set *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->count; i++) {
		free(s->files[i].path);
		free(s->files[i].recording);
	}
	free(s->files);
	free(s->paths);
	free(s->holes);
	free(s);
}

static int fail(struct log_set_error *error, int err, const char *path, const char *why)
{
	snprintf(error->path, sizeof(error->path), "%s", path);
	snprintf(error->why, sizeof(error->why), "%s", why);
	return err;
}

static uint64_t uint_of(const json_t *object, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(object, key));

	return n > 0 ? (uint64_t)n : 0;
}

static int header_use(struct file *f, const json_t *header)
{
	const json_t *part = json_object_get(header, "part");
	const char *recording = json_string_value(json_object_get(part, "recording"));

	f->start_ns = uint_of(header, "start_mono_ns");
	f->shown.part = recording ? uint_of(part, "number") : 0;
	if (!f->shown.part)
		return 0;
	f->shown.begin_ns = uint_of(part, "begin_ns");
	f->recording = strdup(recording);
	return f->recording ? 0 : -ENOMEM;
}

static int header_read(struct file *f)
{
	static const struct log_reader_options options = {.jobs = 1};
	const char *path = f->path;
	struct log_reader *r;
	int err = log_reader_open_with(&path, 1, &options, &r);

	if (err)
		return err;
	err = header_use(f, log_reader_header(r));
	log_reader_close(r);
	return err;
}

static bool is_there(const struct log_set *s, const struct file *new)
{
	for (unsigned i = 0; i < s->count; i++)
		if (s->files[i].inode == new->inode && s->files[i].device == new->device)
			return true;
	return false;
}

/* Standard input cannot be looked into twice: its header is the reader's business. */
static int add_file(struct log_set *s, const char *path)
{
	struct file f = {0};
	struct stat st;
	int err;

	if (strcmp(path, "-")) {
		if (stat(path, &st))
			return -errno;
		f.device = st.st_dev;
		f.inode = st.st_ino;
		if (is_there(s, &f))
			return 0;
	}
	err = array_grow(&s->files, &s->capacity, s->count, sizeof(*s->files));
	if (err)
		return err;
	f.path = strdup(path);
	if (!f.path)
		return -ENOMEM;
	err = strcmp(path, "-") ? header_read(&f) : 0;
	if (err) {
		free(f.recording);
		free(f.path);
		return err;
	}
	s->files[s->count++] = f;
	return 0;
}

/* --- arguments -------------------------------------------------------------------------------- */

struct adding {
	struct log_set *set;
	struct log_set_error *error;
};

/* A file of a folder that is gone meanwhile was the oldest part of a recording that goes on. */
static int add_path(void *ctx, const char *path, bool of_folder)
{
	struct adding *a = ctx;
	int err = 0;

	if (!of_folder || !log_path_is_special(path))
		err = add_file(a->set, path);
	if (err == -ENOENT && of_folder)
		return 0;
	return err ? fail(a->error, err, path, "") : 0;
}

static int add_argument(struct log_set *s, const char *arg, struct log_set_error *error)
{
	struct adding adding = {s, error};
	const char *why;
	int err;

	error->path[0] = '\0';
	err = log_paths_each(arg, add_path, &adding, &why);
	/* Of a file, that has been reported already. */
	return err && !error->path[0] ? fail(error, err, arg, why) : err;
}

/* --- one recording, in order ------------------------------------------------------------------ */

static int is_behind(const void *a, const void *b)
{
	uint64_t one = ((const struct file *)a)->shown.part;
	uint64_t other = ((const struct file *)b)->shown.part;

	return (one > other) - (one < other);
}

static int check(const struct log_set *s, struct log_set_error *error)
{
	char why[sizeof(error->why)];
	const struct file *first = s->files;

	for (const struct file *f = first + 1; f < first + s->count; f++) {
		if (f->recording && first->recording && strcmp(f->recording, first->recording)) {
			snprintf(why, sizeof(why),
				 "this is of another recording than %.900s: one at a time",
				 first->path);
			return fail(error, -EXDEV, f->path, why);
		}
		if (f->recording && first->recording)
			continue;
		snprintf(why, sizeof(why),
			 "this and %.800s are not parts of one recording: one at a time",
			 first->path);
		return fail(error, -EINVAL, f->path, why);
	}
	return 0;
}

static int check_numbers(const struct log_set *s, struct log_set_error *error)
{
	char why[sizeof(error->why)];

	for (unsigned i = 1; i < s->count; i++) {
		if (s->files[i].shown.part != s->files[i - 1].shown.part)
			continue;
		snprintf(why, sizeof(why), "this is the same part as %.900s: one of them is enough",
			 s->files[i - 1].path);
		return fail(error, -EINVAL, s->files[i].path, why);
	}
	return 0;
}

/* --- what is missing -------------------------------------------------------------------------- */

/*
 * Hops from head to head. The time of the last event as far as the blocks follow one another; and
 * whether the last one is the end of the file.
 */
static uint64_t last_time(const char *path, bool *ret_closed)
{
	uint8_t bytes[BLOCK_HEADER_BYTES + PREAMBLE_BYTES];
	uint64_t offset = LOG_MAGIC_BYTES, last_ns = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct preamble p;
	struct block b;
	ssize_t n;

	*ret_closed = false;
	if (fd < 0)
		return 0;
	while ((n = pread(fd, bytes, sizeof(bytes), (off_t)offset)) >= BLOCK_HEADER_BYTES) {
		if (block_parse(bytes, &b))
			break;
		if (b.kind == BLOCK_KIND_PACKED && n == sizeof(bytes) &&
		    !preamble_get(bytes + BLOCK_HEADER_BYTES, b.length, &p) && p.last_ns > last_ns)
			last_ns = p.last_ns;
		*ret_closed = b.kind == BLOCK_KIND_END;
		offset += BLOCK_HEADER_BYTES + b.length;
	}
	close(fd);
	return last_ns;
}

static void hole_add(struct log_set *s, uint64_t first, const struct file *before,
		     const struct file *after)
{
	struct log_set_hole *hole = &s->holes[s->hole_count++];
	bool closed;

	*hole = (struct log_set_hole){.first = first, .last = after->shown.part - 1};
	hole->to_ns = after->shown.begin_ns;
	hole->from_ns = before ? last_time(before->path, &closed) : after->start_ns;
	if (before && hole->from_ns < before->shown.begin_ns)
		hole->from_ns = before->shown.begin_ns;
}

static int find_holes(struct log_set *s)
{
	s->holes = calloc(s->count, sizeof(*s->holes));
	if (!s->holes)
		return -ENOMEM;
	for (unsigned i = 0; i < s->count; i++) {
		uint64_t expected = i ? s->files[i - 1].shown.part + 1 : 1;

		if (s->files[i].shown.part > expected)
			hole_add(s, expected, i ? &s->files[i - 1] : NULL, &s->files[i]);
	}
	if (s->files[s->count - 1].shown.part)
		last_time(s->files[s->count - 1].path, &s->closed);
	return 0;
}

int log_set_open(const char *const *args, unsigned count, struct log_set **ret,
		 struct log_set_error *error)
{
	struct log_set *s = calloc(1, sizeof(*s));
	int err = 0;

	if (!s)
		return fail(error, -ENOMEM, args[0], "");
	for (unsigned i = 0; i < count && !err; i++)
		err = add_argument(s, args[i], error);
	if (!err && !s->count)
		err = fail(error, -ENOENT, args[0], LOG_PATHS_NONE);
	if (err)
		goto out;
	qsort(s->files, s->count, sizeof(*s->files), is_behind);
	err = check(s, error);
	if (!err)
		err = check_numbers(s, error);
	if (err)
		goto out;
	s->paths = calloc(s->count, sizeof(*s->paths));
	err = s->paths ? find_holes(s) : -ENOMEM;
	if (err) {
		fail(error, err, args[0], "");
		goto out;
	}
	for (unsigned i = 0; i < s->count; i++) {
		s->paths[i] = s->files[i].path;
		s->files[i].shown.path = s->files[i].path;
	}
	*ret = s;
	return 0;
out:
	log_set_free(s);
	return err;
}

unsigned log_set_count(const struct log_set *s)
{
	return s->count;
}

const struct log_set_file *log_set_file(const struct log_set *s, unsigned i)
{
	return &s->files[i].shown;
}

const char *const *log_set_paths(const struct log_set *s)
{
	return s->paths;
}

unsigned log_set_holes(const struct log_set *s, const struct log_set_hole **ret)
{
	*ret = s->holes;
	return s->hole_count;
}

bool log_set_goes_on(const struct log_set *s)
{
	return s->closed;
}
