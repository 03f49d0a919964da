#include "cmd/read/replay/class_path.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text/format.h"
#include "base/text/msg.h"
#include "base/text/strbuf.h"
#include "heap/code/call_graph.h"
#include "heap/code/jar_file.h"
#include "heap/code/site_callers.h"
#include "heap/replay/object_replay.h"

#define FILE_BYTES_MAX (1ll << 30)
#define JARS_WITHIN_MAX 2 /* a jar in a jar, as programs are packed in one file */
#define NAME_BYTES 512

struct loader {
	struct call_graph *graph;
	const char *file; /* that is being read, for messages */
	unsigned within;
};

static int say(const struct loader *l, int err)
{
	if (err == -EBADMSG)
		msg_error("--classpath: %s is damaged, or is neither a jar nor a class file",
			  l->file);
	else if (err == -EFBIG)
		msg_error("--classpath: %s is too large", l->file);
	else
		msg_error("--classpath: cannot read %s: %s", l->file, strerror(-err));
	return err;
}

static int load_jar(struct loader *l, const uint8_t *bytes, size_t count);

static bool ends_in(const char *name, size_t length, const char *end)
{
	size_t n = strlen(end);

	return length >= n && !memcmp(name + length - n, end, n);
}

static int load_member(void *ctx, const char *name, uint32_t length, const uint8_t *bytes,
		       size_t count)
{
	struct loader *l = ctx;

	if (ends_in(name, length, ".class"))
		return ends_in(name, length, "module-info.class")
			       ? 0
			       : call_graph_add(l->graph, bytes, count);
	return l->within < JARS_WITHIN_MAX ? load_jar(l, bytes, count) : 0;
}

static int load_jar(struct loader *l, const uint8_t *bytes, size_t count)
{
	struct jar_visitor v = {.member = load_member, .ctx = l};
	int err;

	l->within++;
	err = jar_file_each(bytes, count, &v);
	l->within--;
	return err ? err : v.damaged ? -EBADMSG : 0;
}

/* *ret is to be freed. */
static int read_file(const char *path, uint8_t **ret, size_t *ret_count)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err = 0;
	struct stat st;
	uint8_t *bytes = NULL;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EINVAL;
	else if (st.st_size > FILE_BYTES_MAX)
		err = -EFBIG;
	if (!err) {
		bytes = malloc((size_t)st.st_size + 1);
		err = bytes ? read_all(fd, bytes, (size_t)st.st_size, ret_count) : -ENOMEM;
	}
	close(fd);
	if (err) {
		free(bytes);
		return err;
	}
	*ret = bytes;
	return 0;
}

static int load_file(struct loader *l, const char *path)
{
	static const uint8_t magic[4] = {0xca, 0xfe, 0xba, 0xbe};
	uint8_t *bytes;
	size_t count;
	int err = read_file(path, &bytes, &count);

	l->file = path;
	if (err)
		return say(l, err);
	if (count >= sizeof(magic) && !memcmp(bytes, magic, sizeof(magic)))
		err = call_graph_add(l->graph, bytes, count);
	else
		err = load_jar(l, bytes, count);
	free(bytes);
	return err ? say(l, err) : 0;
}

/* A file, or all class files and jars of a folder and of those within. */
static int load_path(struct loader *l, const char *path)
{
	char *const paths[] = {(char *)path, NULL};
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	FTSENT *e;
	int err = 0;

	if (!tree)
		return -errno;
	while (!err && (e = fts_read(tree))) {
		bool is_wanted = e->fts_level == FTS_ROOTLEVEL ||
				 ends_in(e->fts_name, e->fts_namelen, ".jar") ||
				 (ends_in(e->fts_name, e->fts_namelen, ".class") &&
				  strcmp(e->fts_name, "module-info.class") != 0);

		l->file = path;
		if (e->fts_info == FTS_NS || e->fts_info == FTS_DNR || e->fts_info == FTS_ERR)
			err = say(l, -e->fts_errno);
		else if (e->fts_info == FTS_F && is_wanted)
			err = load_file(l, e->fts_accpath);
	}
	fts_close(tree);
	return err;
}

static int load_all(struct loader *l, const char *paths)
{
	char *copy = strdup(paths), *rest = copy, *path;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (path = strsep(&rest, ":")))
		if (*path)
			err = load_path(l, path);
	free(copy);
	if (!err && !call_graph_classes(l->graph)) {
		msg_error("--classpath: no class file is in %s", paths);
		err = -ENOENT;
	}
	return err;
}

static void say_missing(const struct site_callers *s, const struct object_names *n)
{
	char text[SITE_CALLERS_NAMED * (NAME_BYTES + 2)] = "", name[NAME_BYTES];

	for (uint32_t i = 0; i < s->missing && i < SITE_CALLERS_NAMED; i++)
		buffer_add(text, sizeof(text), "%s%s", i ? ", " : "",
			   object_class_text(n, s->named[i], name, sizeof(name)));
	msg_warning("--classpath lacks %u classes of the log, such as %s: nobody knows whom they "
		    "call, so that only callers of private methods are inferred",
		    s->missing, text);
}

static int describe(const struct site_callers *s, uint32_t classes, char **ret)
{
	char extended[FORMAT_MAX], sites[FORMAT_MAX], frames[FORMAT_MAX], files[FORMAT_MAX];
	struct strbuf o = {0};

	strbuf_add(
		&o,
		"Whether callers marked (inferred) have called: they are the only ones in %s "
		"class files, and extend %s of %s sites by %s frames; reflection and native code "
		"are not seen.",
		count_format(classes, files), count_format(s->extended, extended),
		count_format(s->sites, sites), count_format(s->frames, frames));
	*ret = o.text;
	return o.err;
}

int class_path_extend(const char *path, struct object_replay *r, char **ret)
{
	struct loader l = {.graph = call_graph_new(), .file = path};
	struct object_names *names = object_replay_own_names(r);
	struct site_callers done;
	int err = l.graph ? load_all(&l, path) : -ENOMEM;

	if (!err)
		err = site_callers_extend(names, l.graph, &done);
	if (!err && done.missing)
		say_missing(&done, names);
	if (!err)
		err = describe(&done, call_graph_classes(l.graph), ret);
	if (err == -ENOMEM)
		msg_error("--classpath: out of memory; --max-memory allows more");
	call_graph_free(l.graph);
	return err;
}
