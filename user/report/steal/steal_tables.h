/* report/steal/steal_tables.h: the tables of a steal report; for report/steal/steal_*.c. */
#pragma once

#include "report/model/findings.h"
#include "report/steal/steal_report.h"

enum steal_view { STEAL_VIEW_ONE = 1, STEAL_VIEW_BOTH = 2 }; /* methods */

/* All are to be freed with findings_free(); NULL, or an err in them: no memory. */
struct findings *steal_table_cpus(const struct steal_span *s);
/* The first most threads. */
struct findings *steal_table_threads(const struct steal_report *r, const struct steal_span *s,
				     size_t most);
/* One row of the same table. both: with proportional_ns. */
struct findings *steal_table_thread(const struct steal_report *r, const struct steal_span *s,
				    const struct steal_use *u, bool both);
struct findings *steal_table_top(const struct steal_report *r, const struct steal_report_total *t);
/* Thefts by how long they were; the longest. */
struct findings *steal_table_slots(const struct steal_thefts *t);
struct findings *steal_table_longest(const struct steal_report *r, const struct steal_thefts *t);
