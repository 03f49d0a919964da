/* report/model/label.h: how threads, locks and classes are called in a report. */
#pragma once

#include <stdint.h>

#include "analyze/groups/groups.h"

struct facet_cells;
struct log_method;
struct log_names;
struct labels;
struct stacks;

#define LABEL_MAX 512

/* names is lent until labels_free. NULL: no memory. */
struct labels *labels_new(const struct log_names *names);
void labels_free(struct labels *l);
/* Of which the cells are that are called by these labels; lent. NULL: of none, as at first. */
void labels_set_facets(struct labels *l, const struct facet_cells *facets);
const struct facet_cells *labels_facets(const struct labels *l);

/*
 * Text for a terminal, see print_text(); of a long name the begin, and "...". All return buf. A
 * thread whose name others have too gets its tid after it; holders that are no thread are
 * "(hand-over)" and "(unknown)".
 */
char *label_thread(const struct labels *l, uint64_t thread, char buf[LABEL_MAX]);
char *label_class(const struct labels *l, uint64_t lock, char buf[LABEL_MAX]);
/* "#3 hash 0x1b2c3d", "#4 monitor 0x7f0012345678". */
char *label_identity(const struct labels *l, uint64_t lock, char buf[LABEL_MAX]);
/* Class and identity. */
char *label_lock(const struct labels *l, uint64_t lock, char buf[LABEL_MAX]);
char *label_string(const struct labels *l, uint64_t string, const char *unknown,
		   char buf[LABEL_MAX]);
/* Any other text. */
char *label_clean(const char *text, char buf[LABEL_MAX]);

/* As they are, for JSON. Lent as log_names_*() lends them. */
const char *name_thread(const struct log_names *names, uint64_t thread, const char *unknown);
const char *name_class(const struct log_names *names, uint64_t lock);
/* "monitor", "juc", "other". */
const char *name_group(const struct log_names *names, uint64_t lock, bool monitor);

/* "a.b.Table.lookUp"; by number also "(unknown)" and "(unloaded code)". */
char *label_method_name(const struct log_method *m, char buf[LABEL_MAX]);
char *label_method(const struct stacks *s, uint32_t method, char buf[LABEL_MAX]);

/* The text of a group's key; of a call chain's, only whether there is none: "(unknown)" or
 * "(hand-over)", else "". */
char *label_group(const struct labels *l, const struct stacks *s, const struct group *g,
		  char buf[LABEL_MAX]);

/* The chain of a group by waiter_stack or owner_stack; 0: not known, or it is none of these. */
uint64_t group_stack(const struct stacks *s, const struct group *g);
