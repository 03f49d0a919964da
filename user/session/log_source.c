#include "session/log_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/tables/array.h"
#include "base/text/msg.h"
#include "base/version.h"
#include "log/read/reader.h"
#include "session/max_memory.h"
#include "session/owner.h"
#include "session/spool.h"

void log_report_open(const char *path, int err)
{
	if (err == -EPROTO)
		msg_error("%s: this is not a spoor log; 'spoor record -o FILE' writes one", path);
	else if (err == -ENOTSUP)
		msg_error("%s: a newer spoor wrote this log (this is %s); read it with that one",
			  path, SPOOR_VERSION);
	else if (err == -EBADMSG)
		msg_error("%s: the log is damaged at its beginning, in the header, and cannot be "
			  "read",
			  path);
	else if (err == -ENOENT)
		msg_error("%s: there is no such file; 'spoor record -o FILE' writes one", path);
	else
		msg_error("%s: cannot read it: %s", path, max_memory_error(err));
}

int log_source_add(struct log_source *s, const char *arg)
{
	int err = array_grow(&s->args, &s->capacity, s->count, sizeof(*s->args));

	if (err)
		return err;
	s->args[s->count++] = arg;
	snprintf(s->name, sizeof(s->name), "%.200s%s", s->args[0],
		 s->count > 1 ? " and others" : "");
	return 0;
}

/* What the user calls a file. */
static const char *called(const struct log_source *s, const char *path)
{
	for (unsigned i = 0; s->spools && i < s->count; i++)
		if (s->spools[i].fd && !strcmp(s->spools[i].path, path))
			return s->args[i];
	return path;
}

static void report(const struct log_source *s, const struct log_set_error *error, int err)
{
	if (error->why[0])
		msg_error("%s: %s", called(s, error->path), error->why);
	else
		log_report_open(called(s, error->path), err);
}

/* The arguments, as they are to be opened: each lent. What is returned is the caller's, or NULL. */
static const char **paths_of(const struct log_source *s)
{
	const char **paths = calloc(s->count, sizeof(*paths));

	for (unsigned i = 0; paths && i < s->count; i++)
		paths[i] = s->spools && s->spools[i].fd ? s->spools[i].path : s->args[i];
	return paths;
}

static int check_owners(const struct log_source *s)
{
	int err = 0;

	for (unsigned i = 0; i < s->count && !err && !s->force; i++)
		err = owner_check(s->args[i]);
	return err;
}

static int find_files(struct log_source *s)
{
	struct log_set_error error;
	const char **paths;
	int err;

	if (s->set)
		return 0;
	/* What has been copied has been looked at before. */
	err = s->spools ? 0 : check_owners(s);
	if (err)
		return err;
	paths = paths_of(s);
	if (!paths) {
		msg_error("%s: cannot read it: %s", s->name, max_memory_error(-ENOMEM));
		return -ENOMEM;
	}
	err = log_set_open(paths, s->count, &s->set, &error);
	if (err)
		report(s, &error, err);
	free(paths);
	return err;
}

static int limit(struct log_source *s, struct log_reader *r)
{
	int err = 0;

	if (!range_is_given(&s->range))
		return 0;
	err = range_resolve(&s->range, log_reader_header(r));
	if (err)
		return err;
	err = log_reader_limit(r, s->range.read_from_ns, s->range.read_to_ns);
	if (err)
		msg_error("%s: cannot read it: %s", s->name, max_memory_error(err));
	return err;
}

int log_source_open(struct log_source *s, struct log_reader **ret)
{
	const struct log_reader_options options = {.jobs = s->jobs, .holes = s->holes};
	int err = find_files(s);

	if (err)
		return err;
	err = log_reader_open_with(log_set_paths(s->set), log_set_count(s->set), &options, ret);
	if (err) {
		log_report_open(called(s, log_set_paths(s->set)[0]), err);
		return err;
	}
	err = limit(s, *ret);
	if (err) {
		log_reader_close(*ret);
		*ret = NULL;
	}
	return err;
}

/* A path to the file without a name that has what the pipe gave; files that can be read twice have
 * none. */
static int spool(struct log_source *s, unsigned i)
{
	bool is_stdin = !strcmp(s->args[i], "-");
	int in = is_stdin ? STDIN_FILENO : -1, err;
	struct stat st;

	if (is_stdin ? fstat(in, &st) : stat(s->args[i], &st))
		return 0; /* opening reports it */
	if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		return 0;
	if (!is_stdin)
		in = open(s->args[i], O_RDONLY | O_CLOEXEC);
	if (in < 0) {
		err = -errno;
		log_report_open(s->args[i], err);
		return err;
	}
	err = spool_copy(in, s->args[i], &s->spools[i].fd);
	if (!is_stdin)
		close(in);
	snprintf(s->spools[i].path, sizeof(s->spools[i].path), "/dev/fd/%d", s->spools[i].fd);
	return err;
}

int log_source_open_again(struct log_source *s, struct log_reader **ret)
{
	int err = 0;

	if (!s->spools) {
		err = check_owners(s);
		if (err)
			return err;
		s->spools = calloc(s->count, sizeof(*s->spools));
		if (!s->spools) {
			msg_error("%s: cannot read it: %s", s->name, max_memory_error(-ENOMEM));
			return -ENOMEM;
		}
		for (unsigned i = 0; i < s->count && !err; i++)
			err = spool(s, i);
	}
	return err ? err : log_source_open(s, ret);
}

void log_source_free(struct log_source *s)
{
	log_set_free(s->set);
	for (unsigned i = 0; s->spools && i < s->count; i++)
		if (s->spools[i].fd > 0)
			close(s->spools[i].fd);
	free(s->spools);
	free(s->args);
	*s = (struct log_source){0};
}

const char *log_source_title(const struct log_source *s)
{
	const char *slash = strrchr(s->name, '/');

	return slash && slash[1] ? slash + 1 : s->name;
}
