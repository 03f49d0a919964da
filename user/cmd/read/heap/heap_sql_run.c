#include "cmd/read/heap/heap_sql_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/create.h"
#include "base/text/msg.h"
#include "base/text/strbuf.h"
#include "cmd/read/heap/heap_dump.h"
#include "heap/classify/heap_filter.h"
#include "report/sql/heap_sql.h"
#include "session/analyze_log.h"

struct sql_run {
	const struct heap_sql_options *o;
	struct heap_sql *sql;
	struct heap_dump dump;
	struct heap_view view;
	struct heap_filter *filter;
	struct heap_tree tree;
	/* Of the file that is made: its folder, and its name until all is in it. */
	int folder;
	char *name;
	char error[HEAP_SQL_ERROR_MAX];
};

static unsigned needs_of(const struct sql_run *r)
{
	unsigned needs = heap_sql_needs(r->sql);

	if (!heap_sql_groups(r->sql))
		return needs;
	needs |= heap_condition_needs(r->o->condition, r->o->own);
	for (unsigned i = 0; i < r->o->level_count; i++)
		needs |= r->o->levels[i]->needs;
	return needs;
}

static int prepare(struct sql_run *r, unsigned needs)
{
	struct heap_sql_source source = {.view = &r->view};
	int err = heap_view_init(&r->view, &r->dump.state, needs);

	r->view.own = r->o->own;
	if (!err && heap_sql_groups(r->sql)) {
		r->tree = (struct heap_tree){.level_count = r->o->level_count};
		memcpy(r->tree.levels, r->o->levels, sizeof(r->tree.levels));
		err = heap_filter_new(r->o->condition, &r->view, &r->filter);
		if (!err)
			err = heap_tree_build(&r->view, r->filter, &r->tree);
		source.tree = &r->tree;
	}
	return err ? err : heap_sql_set_source(r->sql, &source);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A new file beside the one that is wanted; *ret is its path. */
static int create(struct sql_run *r, struct strbuf *ret)
{
	const char *path = r->o->save, *last = last_part(path);
	int fd, err = file_folder(path, &r->folder);

	if (!err && !faccessat(r->folder, last, F_OK, AT_SYMLINK_NOFOLLOW))
		err = -EEXIST;
	if (!err)
		err = file_create_unique(r->folder, ".spoor-", CREATE_MODE, &r->name, &fd);
	if (err)
		return err;
	close(fd);
	strbuf_put(ret, path, (size_t)(last - path));
	strbuf_add(ret, "%s", r->name);
	return ret->err;
}

/* It gets its name if nothing else has it meanwhile. */
static int finish_file(struct sql_run *r)
{
	if (linkat(r->folder, r->name, r->folder, last_part(r->o->save), 0))
		return -errno;
	return 0;
}

static int say(const struct sql_run *r, int err)
{
	if (err == -EINVAL || err == -EIO)
		msg_error("%s%s%s", r->o->save ? r->o->save : "the query", ": ", r->error);
	else if (err == -EEXIST)
		msg_error("%s is there already; it is not overwritten", r->o->save);
	else if (err)
		msg_error("%s: cannot report on it: %s", r->o->dump, heap_dump_error(err));
	return err;
}

static int open_sql(struct sql_run *r)
{
	struct strbuf path = {0};
	int err;

	if (!r->o->save)
		return say(r, heap_sql_open(r->o->select, &r->sql, r->error));
	err = create(r, &path);
	if (err && err != -EEXIST && err != -ENOMEM)
		msg_error("cannot create %s: %s", r->o->save, file_create_error(err));
	else if (err)
		say(r, err);
	else
		err = say(r, heap_sql_open_file(strbuf_text(&path), r->o->retained, &r->sql,
						r->error));
	strbuf_free(&path);
	return err;
}

/* The error of a classifier of the user's has been noted, and is said by who has called. */
static int answer(struct sql_run *r)
{
	int err = prepare(r, needs_of(r));

	if (!err && r->o->save) {
		err = heap_sql_save(r->sql, r->error);
		if (!err)
			err = finish_file(r);
	} else if (!err) {
		const struct heap_source source = heap_dump_source(&r->dump);

		if (r->dump.is_log && r->o->format == HEAP_TEXT)
			heap_report_head(&source, stdout);
		err = heap_sql_print(r->sql, r->o->format, r->o->top, stdout, r->error);
		if (!err)
			return finish_output(stdout);
	}
	return err == -ECANCELED ? err : say(r, err);
}

/* What is sorted may need files; SQLite would take /var/tmp, where this process may not write. */
static void use_temporary_folder(void)
{
	const char *folder = getenv("TMPDIR");

	setenv("SQLITE_TMPDIR", folder && *folder ? folder : "/tmp", 1);
}

static int open_dump(struct sql_run *r)
{
	const struct heap_sql_options *o = r->o;
	bool objects = needs_of(r) != HEAP_NEEDS_DESC;
	bool pointers = heap_sql_pointers(r->sql) || (needs_of(r) & ~HEAP_NEEDS_OBJECTS);
	const struct heap_dump_log log = {.at = o->at,
					  .objects = objects,
					  .threads = heap_sql_threads(r->sql),
					  .graph = pointers && !o->save,
					  .graph_if_any = pointers && o->save,
					  .jobs = o->jobs,
					  .class_path = o->class_path,
					  .force = o->force};
	int damaged;

	if (!heap_dump_is_log(o->dump))
		return heap_dump_open(o->dump, objects, o->force, &r->dump);
	damaged = heap_dump_open_log(o->dump, &log, &r->dump);
	if (damaged < 0)
		return damaged;
	if (o->save && !r->dump.state.has_graph)
		heap_sql_without_pointers(r->sql);
	if (heap_dump_differs(&r->dump) && (o->save || o->format != HEAP_TEXT))
		msg_warning("%s: collections do not agree with the JVM's pools, so that the answer "
			    "may be wrong: see spoor heap check %s",
			    o->dump, o->dump);
	return damaged || heap_dump_differs(&r->dump);
}

int heap_sql_run(const struct heap_sql_options *o)
{
	struct sql_run r = {.o = o, .folder = -1};
	int damaged = 0, err;

	use_temporary_folder();
	err = open_sql(&r);

	if (!err) {
		damaged = open_dump(&r);
		err = damaged < 0 ? damaged : answer(&r);
	}
	heap_sql_close(r.sql);
	heap_tree_free(&r.tree);
	heap_filter_free(r.filter);
	heap_view_free(&r.view);
	heap_dump_close(&r.dump);
	if (r.name)
		unlinkat(r.folder, r.name, 0);
	if (r.folder >= 0)
		close(r.folder);
	free(r.name);
	return err ? err : damaged;
}
