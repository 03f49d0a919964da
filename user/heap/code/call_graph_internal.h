/* heap/code/call_graph_internal.h: the tables of a call graph. */
#pragma once

#include "base/tables/keymap.h"
#include "base/text/strbuf.h"
#include "heap/code/call_graph.h"

/* Texts are numbers: of names of classes, names and descriptors of methods. */
struct graph_class {
	uint32_t name;
	uint32_t supers, subs; /* 1 + the first link; 0: none. Superclass and interfaces */
	uint32_t super;        /* class; CALL_GRAPH_NONE */
	uint32_t access;
	uint32_t round, down_round; /* of the walks up and down that were here last */
	bool known;                 /* its file has been read */
	bool annotated;
};

struct graph_link {
	uint32_t class, next;
};

struct graph_method {
	uint32_t class, name, descriptor, access;
	uint32_t seen; /* 1 + caller; 0: none; GRAPH_SEEN_OTHER */
	bool read, annotated, asked;
	struct call_graph_caller caller; /* if asked; method CALL_GRAPH_NONE: not known */
};
#define GRAPH_SEEN_OTHER UINT32_MAX

struct graph_call {
	uint32_t caller, bci, class;
	uint32_t next; /* 1 + the next one of the same name and descriptor */
	uint8_t kind;
};

struct call_graph {
	struct keymap text_keys, class_keys, method_keys, call_keys, string_keys;
	size_t *text_at;
	struct strbuf texts;
	struct graph_class *classes;
	struct graph_link *links;
	struct graph_method *methods;
	struct graph_call *calls;
	uint32_t *first_call; /* by call_keys: 1 + call */
	uint32_t text_capacity, classes_capacity, links_capacity, methods_capacity, calls_capacity,
		first_capacity;
	uint32_t link_count, call_count, known_count;
	uint32_t class, method; /* that are being read; CALL_GRAPH_NONE */
	uint32_t round, down_round;
	bool incomplete;
};

static inline const char *graph_text(const struct call_graph *g, uint32_t text)
{
	return g->texts.text + g->text_at[text];
}

static inline uint32_t graph_method_find(const struct call_graph *g, uint32_t class, uint32_t name,
					 uint32_t descriptor)
{
	return keymap_find(&g->method_keys, (struct keymap_key){.a = class,
								.b = 1 + (uint64_t)name,
								.c = 1 + (uint64_t)descriptor});
}
