/* report/heap/heap_report.h: what is in a heap, as text, JSON or CSV. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "heap/classify/heap_tree.h"
#include "heap/image/hprof.h"

struct findings;
struct pool_agreement;
struct heap_filter;
struct heap_state;
struct strbuf;

enum heap_format { HEAP_TEXT, HEAP_JSON, HEAP_CSV, HEAP_FORMAT_COUNT };

/* A heap, and where it comes from. All is lent. */
struct heap_source {
	const char *name;
	const struct heap_state *state;
	const struct hprof_result *result;
	const struct pool_agreement *agreement; /* of a log; else NULL */
	const char *callers; /* of a log whose call chains were extended, whence; else NULL */
};

struct heap_report {
	struct heap_source source;
	struct heap_view *view;
	const struct heap_tree *tree;
	const uint64_t *retained; /* of heap_tree_retained; NULL: not asked for */
	const char *where;        /* NULL: all objects */
	unsigned top;             /* groups for people */
	const char *find; /* people see groups of such names, and those around them; NULL: all */
	bool collapse; /* people see a group and the only one in it, which has all of it, as one */
	enum heap_format format;
};

/* The heading of whatever is made of a heap. */
void heap_report_head(const struct heap_source *s, FILE *out);
/* 0 or -ENOMEM; out's error flag says the rest. */
int heap_report_tree(const struct heap_report *r, FILE *out);
/* Who keeps objects: r has no tree. With a condition: the ways to those that it chooses; else the
 * objects that hold the most others; r's view has dominators then. */
int heap_report_keep(const struct heap_report *r, struct heap_filter *filter, FILE *out);
/* What there is to group by; own may be NULL. */
int heap_report_classifiers(const struct heap_own_classifiers *own, enum heap_format format,
			    FILE *out);
