/* heap/code/call_graph.h: which method has a single caller, as class files say. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "heap/code/class_file.h"

#define CALL_GRAPH_CALLS_MAX (1u << 26)
#define CALL_GRAPH_NONE UINT32_MAX
#define CALL_GRAPH_BCI_NONE UINT32_MAX

struct call_graph;

/* NULL: no memory. */
struct call_graph *call_graph_new(void);
void call_graph_free(struct call_graph *g);
/* A class file. 0; -EBADMSG: it is damaged, and the graph is incomplete; -EFBIG; -ENOMEM. */
int call_graph_add(struct call_graph *g, const uint8_t *bytes, size_t count);
/* There is code that the graph does not have: only private methods have known callers. */
void call_graph_incomplete(struct call_graph *g);
uint32_t call_graph_classes(const struct call_graph *g);

/* Indexes; CALL_GRAPH_NONE: no class file has it. Names as in class files. */
uint32_t call_graph_class(const struct call_graph *g, const char *name);
uint32_t call_graph_method(const struct call_graph *g, uint32_t class, const char *name,
			   const char *descriptor);
/* Somebody has seen this caller, CALL_GRAPH_NONE: one that is in no class file. */
void call_graph_seen(struct call_graph *g, uint32_t method, uint32_t caller);

struct call_graph_caller {
	uint32_t method;
	uint32_t bci; /* CALL_GRAPH_BCI_NONE: it calls from several sites */
};
/* The only method that can call this one. 0; -ENOENT: there may be another, or none. */
int call_graph_caller(struct call_graph *g, uint32_t method, struct call_graph_caller *ret);

/* What a method is called; lent until the graph is freed. */
struct call_graph_name {
	const char *class, *name, *descriptor;
};
struct call_graph_name call_graph_name(const struct call_graph *g, uint32_t method);
