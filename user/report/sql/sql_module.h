/* report/sql/sql_module.h: makes a heap's tables readable to a connection of SQLite. */
#pragma once

#include "report/sql/sql_tables.h"

/* heap is lent until the connection is closed. The tables' names begin with prefix. 0 or SQLite's
 * error. */
int sql_module_add(sqlite3 *db, struct sql_heap *heap, const char *prefix);
