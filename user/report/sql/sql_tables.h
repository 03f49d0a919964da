/* report/sql/sql_tables.h: the tables that SQLite reads of a heap. */
#pragma once

#include <sqlite3.h>

#include "heap/state/heap_state.h"
#include "report/sql/heap_sql.h"

enum sql_table_number {
	SQL_CLASSES,
	SQL_OBJECTS,
	SQL_REFS,
	SQL_ROOTS,
	SQL_GROUPS,
	SQL_TABLE_COUNT
};

struct sql_heap {
	struct heap_sql_source source;
	uint64_t *instances, *bytes; /* by type */
	struct heap_keys keys;
	struct strbuf label;
	bool connects; /* a table is being declared, which asks for rights of its own */
	int err;       /* -ENOMEM */
};

struct sql_column {
	const char *name; /* NULL: the end */
	const char *declared;
	unsigned needs; /* beyond those of the table: bits of enum heap_needs */
	bool hidden;    /* of SELECT *: it takes long */
};

struct sql_table {
	const char *name;
	unsigned needs;
	const struct sql_column *columns;
	/* How many rows; of refs: objects, which have some each. */
	uint64_t (*count)(const struct sql_heap *h);
	/* A value of a row, by the number of the column. */
	void (*value)(struct sql_heap *h, uint64_t row, int column, sqlite3_context *ret);
};

const struct sql_table *sql_table_get(enum sql_table_number n);
/* One value of a reference from an object: edge is a struct heap_edge. */
struct heap_edge;
void sql_ref_value(struct sql_heap *h, uint32_t from, const struct heap_edge *edge, int column,
		   sqlite3_context *ret);
