/* report/sql/heap_sql.h: a heap as tables of SQL. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/heap/heap_report.h"

#define HEAP_SQL_ERROR_MAX 512

struct heap_sql;

/* What a query may read; set before the first row is asked for. All is lent until heap_sql_close.
 * */
struct heap_sql_source {
	struct heap_view *view;
	const struct heap_tree *tree; /* of heap_sql_groups(); NULL: none */
};

/*
 * A SELECT is understood before a heap is there, to know what of the heap must be computed. 0, and
 * *ret is to be closed; -EINVAL, and error says what is wrong; -ENOMEM.
 */
int heap_sql_open(const char *select, struct heap_sql **ret, char error[HEAP_SQL_ERROR_MAX]);
/* The same for heap_sql_save(), to a file at path that is there and empty. all: also the columns
 * that need dominators. */
int heap_sql_open_file(const char *path, bool all, struct heap_sql **ret,
		       char error[HEAP_SQL_ERROR_MAX]);
void heap_sql_close(struct heap_sql *s); /* accepts NULL */

/* Bits of enum heap_needs. */
unsigned heap_sql_needs(const struct heap_sql *s);
/* Whether it reads the table of groups. */
/* References or roots are asked for: of a log, a moment with pointers. Objects by thread are. */
bool heap_sql_pointers(const struct heap_sql *s);
bool heap_sql_threads(const struct heap_sql *s);
/* Of a file: there are none, and so no tables of them. */
void heap_sql_without_pointers(struct heap_sql *s);
bool heap_sql_groups(const struct heap_sql *s);
/* -ENOMEM. */
int heap_sql_set_source(struct heap_sql *s, const struct heap_sql_source *source);

/* The rows; text has at most top of them. 0; -EIO, and error says what went wrong; -ENOMEM. out's
 * error flag says the rest. */
int heap_sql_print(struct heap_sql *s, enum heap_format format, unsigned top, FILE *out,
		   char error[HEAP_SQL_ERROR_MAX]);
/* Writes all tables. The same. */
int heap_sql_save(struct heap_sql *s, char error[HEAP_SQL_ERROR_MAX]);
/* The tables and their columns, for people. */
void heap_sql_schema(FILE *out);
