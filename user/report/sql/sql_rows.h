/* report/sql/sql_rows.h: the rows of a query as text, JSON and CSV. */
#pragma once

#include <sqlite3.h>
#include <stdio.h>

#include "report/heap/heap_report.h"

/* Rows of text: top at most; what follows is not computed. 0; -EIO: SQLite has an error; -ENOMEM.
 * */
int sql_rows_print(sqlite3_stmt *statement, enum heap_format format, unsigned top, FILE *out);
