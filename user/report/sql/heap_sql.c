/*
 * A query is somebody's own, and a heap is anybody's: SQLite may read the heap's tables, and
 * nothing else. It has a database in memory, in which nothing is. The authorizer, which SQLite asks
 * while it compiles a statement, knows three answers: SELECT, the columns of these tables,
 * functions that load nothing. It also sees which columns are read, and so what of the heap must be
 * computed.
 */
#include "report/sql/heap_sql.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/print.h"
#include "heap/classify/heap_tree.h"
#include "report/sql/sql_module.h"
#include "report/sql/sql_rows.h"

#define QUERY_BYTES_MAX 100000
#define VALUE_BYTES_MAX (16 << 20)
#define DEPTH_MAX 100

struct heap_sql {
	sqlite3 *db;
	sqlite3_stmt *statement; /* NULL: it is for a file */
	struct sql_heap heap;
	bool all;
	unsigned needs;
	bool groups, roots, threads; /* are asked for */
};

static void note_column(struct heap_sql *s, const char *table, const char *column)
{
	for (int i = 0; i < SQL_TABLE_COUNT; i++) {
		const struct sql_table *t = sql_table_get((enum sql_table_number)i);

		if (sqlite3_stricmp(t->name, table) != 0)
			continue;
		s->needs |= t->needs;
		s->groups |= i == SQL_GROUPS;
		s->roots |= i == SQL_ROOTS;
		s->threads |= i == SQL_OBJECTS && !sqlite3_stricmp(column, "thread");
		for (const struct sql_column *c = t->columns; c->name; c++)
			if (!sqlite3_stricmp(c->name, column))
				s->needs |= c->needs;
	}
}

static int authorize(void *ctx, int action, const char *first, const char *second,
		     const char *database, const char *trigger)
{
	const struct heap_sql *s = ctx;

	(void)database;
	(void)trigger;
	/* SQLite declares a table by a change of its schema that it does not make. */
	if (s->heap.connects)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_READ:
		note_column(ctx, first, second);
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return sqlite3_stricmp(second, "load_extension") ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

/* -EINVAL, or -ENOMEM. */
static int failed(const struct heap_sql *s, int err, char error[HEAP_SQL_ERROR_MAX])
{
	int at = s->db ? sqlite3_error_offset(s->db) : -1, code;

	code = sqlite3_errcode(s->db);
	if (!s->db || (err & 0xff) == SQLITE_NOMEM || code == SQLITE_NOMEM)
		return -ENOMEM;
	if (code == SQLITE_AUTH)
		sqlite3_snprintf(HEAP_SQL_ERROR_MAX, error,
				 "only SELECT of the tables of the heap is possible (%s)",
				 sqlite3_errmsg(s->db));
	else if (at >= 0)
		sqlite3_snprintf(HEAP_SQL_ERROR_MAX, error, "%s, at character %d",
				 sqlite3_errmsg(s->db), at + 1);
	else
		sqlite3_snprintf(HEAP_SQL_ERROR_MAX, error, "%s", sqlite3_errmsg(s->db));
	return -EINVAL;
}

static int refuse(char error[HEAP_SQL_ERROR_MAX], const char *what)
{
	sqlite3_snprintf(HEAP_SQL_ERROR_MAX, error, "%s", what);
	return -EINVAL;
}

static int open_db(struct heap_sql *s, const char *path, int flags, const char *prefix)
{
	int err = sqlite3_open_v2(path, &s->db, flags | SQLITE_OPEN_NOFOLLOW, NULL);

	if (err)
		return err;
	sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(s->db, SQLITE_LIMIT_SQL_LENGTH, QUERY_BYTES_MAX);
	sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
	sqlite3_limit(s->db, SQLITE_LIMIT_EXPR_DEPTH, DEPTH_MAX);
	sqlite3_limit(s->db, SQLITE_LIMIT_WORKER_THREADS, 0);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	return sql_module_add(s->db, &s->heap, prefix);
}

int heap_sql_open(const char *select, struct heap_sql **ret, char error[HEAP_SQL_ERROR_MAX])
{
	struct heap_sql *s = calloc(1, sizeof(*s));
	const char *rest = "";
	int err;

	if (!s)
		return -ENOMEM;
	err = open_db(s, ":memory:", SQLITE_OPEN_READWRITE, "");
	if (!err)
		err = sqlite3_set_authorizer(s->db, authorize, s);
	if (!err)
		err = sqlite3_prepare_v2(s->db, select, -1, &s->statement, &rest);
	if (err)
		err = failed(s, err, error);
	else if (!s->statement || rest[strspn(rest, " \t\r\n;")])
		err = refuse(error, "one SELECT at a time is wanted");
	else if (!sqlite3_column_count(s->statement))
		err = refuse(error, "only SELECT of the tables of the heap is possible");
	if (err) {
		heap_sql_close(s);
		return err;
	}
	*ret = s;
	return 0;
}

int heap_sql_open_file(const char *path, bool all, struct heap_sql **ret,
		       char error[HEAP_SQL_ERROR_MAX])
{
	struct heap_sql *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->all = all;
	s->groups = s->roots = s->threads = true;
	s->needs = HEAP_NEEDS_GRAPH | (all ? HEAP_NEEDS_DOMINATORS : 0);
	err = open_db(s, path, SQLITE_OPEN_READWRITE, "heap_");
	if (err) {
		err = failed(s, err, error);
		heap_sql_close(s);
		return err;
	}
	*ret = s;
	return 0;
}

void heap_sql_close(struct heap_sql *s)
{
	if (!s)
		return;
	sqlite3_finalize(s->statement);
	sqlite3_close(s->db);
	free(s->heap.instances);
	free(s->heap.bytes);
	free(s->heap.keys.all);
	strbuf_free(&s->heap.label);
	free(s);
}

unsigned heap_sql_needs(const struct heap_sql *s)
{
	return s->needs;
}

bool heap_sql_pointers(const struct heap_sql *s)
{
	return s->roots || (s->needs & ~HEAP_NEEDS_OBJECTS);
}

bool heap_sql_threads(const struct heap_sql *s)
{
	return s->threads;
}

void heap_sql_without_pointers(struct heap_sql *s)
{
	s->needs = HEAP_NEEDS_OBJECTS;
}

bool heap_sql_groups(const struct heap_sql *s)
{
	return s->groups;
}

int heap_sql_set_source(struct heap_sql *s, const struct heap_sql_source *source)
{
	const struct heap_state *state = source->view->state;

	s->heap.source = *source;
	s->heap.instances = calloc(state->types.count + 1ul, sizeof(uint64_t));
	s->heap.bytes = calloc(state->types.count + 1ul, sizeof(uint64_t));
	if (!s->heap.instances || !s->heap.bytes)
		return -ENOMEM;
	for (uint32_t i = 0; i < state->desc_count; i++) {
		const struct heap_desc *d = &state->descs[i];

		s->heap.instances[d->type] += d->count;
		s->heap.bytes[d->type] += d->count * d->bytes;
	}
	return 0;
}

static int runtime_error(const struct heap_sql *s, char error[HEAP_SQL_ERROR_MAX])
{
	if (s->heap.err || sqlite3_errcode(s->db) == SQLITE_NOMEM)
		return -ENOMEM;
	sqlite3_snprintf(HEAP_SQL_ERROR_MAX, error, "%s", sqlite3_errmsg(s->db));
	return -EIO;
}

int heap_sql_print(struct heap_sql *s, enum heap_format format, unsigned top, FILE *out,
		   char error[HEAP_SQL_ERROR_MAX])
{
	int err = sql_rows_print(s->statement, format, top, out);

	return err == -EIO ? runtime_error(s, error) : err;
}

static int execute(struct heap_sql *s, const char *text)
{
	return sqlite3_exec(s->db, text, NULL, NULL, NULL);
}

/* "CREATE TABLE classes(id INTEGER PRIMARY KEY, ...); INSERT INTO classes SELECT id, ... FROM
 * heap_classes": of names of our own only. */
static int save_table(struct heap_sql *s, const struct sql_table *t, bool has_id)
{
	struct strbuf create = {0}, insert = {0};
	int err;

	strbuf_add(&create, "CREATE TABLE %s(", t->name);
	strbuf_add(&insert, "INSERT INTO %s SELECT ", t->name);
	for (const struct sql_column *c = t->columns; c->name; c++) {
		const char *comma = c == t->columns ? "" : ", ";

		if (c->hidden && (c->needs & s->needs) != c->needs)
			continue;
		strbuf_add(&create, "%s%s %s%s", comma, c->name, c->declared,
			   has_id && c == t->columns ? " PRIMARY KEY" : "");
		strbuf_add(&insert, "%s%s", comma, c->name);
	}
	strbuf_add(&create, ")");
	strbuf_add(&insert, " FROM heap_%s", t->name);
	err = create.err || insert.err ? SQLITE_NOMEM : execute(s, strbuf_text(&create));
	if (!err)
		err = execute(s, strbuf_text(&insert));
	strbuf_free(&create);
	strbuf_free(&insert);
	return err;
}

int heap_sql_save(struct heap_sql *s, char error[HEAP_SQL_ERROR_MAX])
{
	/* The file is new, and has no name that anybody looks for until all is in it. */
	int err = execute(s, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");

	bool pointers = s->needs & ~HEAP_NEEDS_OBJECTS;

	for (int i = 0; !err && i < SQL_TABLE_COUNT; i++)
		if (pointers || (i != SQL_REFS && i != SQL_ROOTS))
			err = save_table(s, sql_table_get((enum sql_table_number)i), i != SQL_REFS);
	if (!err && pointers)
		err = execute(s, "CREATE INDEX refs_from ON refs(from_id);"
				 "CREATE INDEX refs_to ON refs(to_id)");
	if (!err)
		err = execute(s, "CREATE INDEX objects_class ON objects(class_id); COMMIT");
	return err ? runtime_error(s, error) : 0;
}

void heap_sql_schema(FILE *out)
{
	for (int i = 0; i < SQL_TABLE_COUNT; i++) {
		const struct sql_table *t = sql_table_get((enum sql_table_number)i);

		print_text(out, "%-8s", t->name);
		for (const struct sql_column *c = t->columns; c->name; c++)
			print_text(out, "%s%s", c == t->columns ? " " : ", ", c->name);
		fputc('\n', out);
	}
}
