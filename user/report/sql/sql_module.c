/* Virtual tables of SQLite, which are there as soon as a query names them. A row is found by its
 * id, and a reference by the object that it is of; all else SQLite looks for in all rows. */
#include "report/sql/sql_module.h"

#include <stdlib.h>
#include <string.h>

#include "heap/graph/heap_graph.h"

#define ROWS_GUESS 1000000
#define REFS_GUESS 8

struct table {
	sqlite3_vtab base;
	struct sql_heap *heap;
	enum sql_table_number number;
};

struct module_of {
	struct sql_heap *heap;
	enum sql_table_number number;
};

struct cursor {
	sqlite3_vtab_cursor base;
	uint64_t row, end;
	/* Of references: row is the object. */
	struct heap_edges edges;
	struct heap_edge edge;
	sqlite3_int64 number;
};

static const struct sql_table *shape(const struct table *t)
{
	return sql_table_get(t->number);
}

static int declare_columns(sqlite3 *db, const struct sql_table *t)
{
	struct strbuf text = {0};
	int err;

	strbuf_add(&text, "CREATE TABLE x(");
	for (const struct sql_column *c = t->columns; c->name; c++)
		strbuf_add(&text, "%s%s %s%s", c == t->columns ? "" : ", ", c->name, c->declared,
			   c->hidden ? " HIDDEN" : "");
	strbuf_add(&text, ")");
	err = text.err ? SQLITE_NOMEM : sqlite3_declare_vtab(db, strbuf_text(&text));
	strbuf_free(&text);
	return err;
}

static int table_connect(sqlite3 *db, void *ctx, int argc, const char *const *argv,
			 sqlite3_vtab **ret, char **ret_error)
{
	const struct module_of *of = ctx;
	struct table *t = calloc(1, sizeof(*t));
	int err = SQLITE_NOMEM;

	(void)argc;
	(void)argv;
	(void)ret_error;
	if (t) {
		of->heap->connects = true;
		err = declare_columns(db, sql_table_get(of->number));
		of->heap->connects = false;
	}
	if (err) {
		free(t);
		return err;
	}
	t->heap = of->heap;
	t->number = of->number;
	*ret = &t->base;
	return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *base)
{
	free(base);
	return SQLITE_OK;
}

static int table_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct table *t = (const struct table *)base;

	info->estimatedRows = ROWS_GUESS;
	info->estimatedCost = ROWS_GUESS;
	for (int i = 0; i < info->nConstraint; i++) {
		bool is_id = info->aConstraint[i].iColumn <= 0;

		if (!info->aConstraint[i].usable || !is_id ||
		    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ ||
		    (t->number == SQL_REFS && info->aConstraint[i].iColumn < 0))
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->idxNum = 1;
		info->estimatedRows = t->number == SQL_REFS ? REFS_GUESS : 1;
		info->estimatedCost = t->number == SQL_REFS ? REFS_GUESS : 1;
		if (t->number != SQL_REFS)
			info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
		break;
	}
	return SQLITE_OK;
}

static int cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	struct cursor *c = calloc(1, sizeof(*c));

	(void)base;
	if (!c)
		return SQLITE_NOMEM;
	*ret = &c->base;
	return SQLITE_OK;
}

static int cursor_close(sqlite3_vtab_cursor *base)
{
	free(base);
	return SQLITE_OK;
}

/* To the next reference: of this object, or of the next one that has some. */
static void next_ref(const struct table *t, struct cursor *c)
{
	while (c->row < c->end) {
		while (heap_edges_next(&c->edges, &c->edge))
			if (c->edge.index != HEAP_NONE)
				return;
		if (++c->row < c->end)
			c->edges = heap_edges_of(t->heap->source.view->graph, (uint32_t)c->row);
	}
}

static int cursor_filter(sqlite3_vtab_cursor *base, int index, const char *text, int argc,
			 sqlite3_value **argv)
{
	const struct table *t = (const struct table *)base->pVtab;
	struct cursor *c = (struct cursor *)base;

	(void)text;
	c->row = 0;
	c->number = 0;
	c->end = shape(t)->count(t->heap);
	if (index && argc == 1) {
		sqlite3_int64 id = sqlite3_value_int64(argv[0]);

		if (sqlite3_value_type(argv[0]) != SQLITE_INTEGER || id < 0 ||
		    (uint64_t)id >= c->end)
			c->end = 0;
		else
			c->end = (c->row = (uint64_t)id) + 1;
	}
	if (t->number == SQL_REFS && c->row < c->end) {
		c->edges = heap_edges_of(t->heap->source.view->graph, (uint32_t)c->row);
		next_ref(t, c);
	}
	return SQLITE_OK;
}

static int cursor_next(sqlite3_vtab_cursor *base)
{
	const struct table *t = (const struct table *)base->pVtab;
	struct cursor *c = (struct cursor *)base;

	c->number++;
	if (t->number == SQL_REFS)
		next_ref(t, c);
	else
		c->row++;
	return SQLITE_OK;
}

static int cursor_eof(sqlite3_vtab_cursor *base)
{
	const struct cursor *c = (const struct cursor *)base;

	return c->row >= c->end;
}

static int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *ret, int column)
{
	const struct table *t = (const struct table *)base->pVtab;
	struct cursor *c = (struct cursor *)base;

	if (t->number == SQL_REFS)
		sql_ref_value(t->heap, (uint32_t)c->row, &c->edge, column, ret);
	else
		shape(t)->value(t->heap, c->row, column, ret);
	if (t->heap->label.err)
		t->heap->err = t->heap->label.err;
	return t->heap->err ? SQLITE_NOMEM : SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	const struct table *t = (const struct table *)base->pVtab;
	const struct cursor *c = (const struct cursor *)base;

	*ret = t->number == SQL_REFS ? c->number : (sqlite3_int64)c->row;
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.xConnect = table_connect,
	.xBestIndex = table_best_index,
	.xDisconnect = table_disconnect,
	.xOpen = cursor_open,
	.xClose = cursor_close,
	.xFilter = cursor_filter,
	.xNext = cursor_next,
	.xEof = cursor_eof,
	.xColumn = cursor_column,
	.xRowid = cursor_rowid,
};

int sql_module_add(sqlite3 *db, struct sql_heap *heap, const char *prefix)
{
	int err = SQLITE_OK;

	for (int i = 0; !err && i < SQL_TABLE_COUNT; i++) {
		struct module_of *of = malloc(sizeof(*of));
		char name[32];

		if (!of)
			return SQLITE_NOMEM;
		*of = (struct module_of){heap, (enum sql_table_number)i};
		sqlite3_snprintf(sizeof(name), name, "%s%s", prefix,
				 sql_table_get(of->number)->name);
		/* It frees of, also if it fails. */
		err = sqlite3_create_module_v2(db, name, &module, of, free);
	}
	return err;
}
