/* heap/code/site_samples.h: who has called the methods of allocation sites, as samples of running
 * threads show it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/tables/keymap.h"

struct log_names;
struct object_names;

#define SITE_SAMPLES_DEPTH_MAX 16 /* callers of callers */
#define SITE_SAMPLES_ENOUGH 20    /* samples at the site's own bytecodes; with fewer all count */
#define SITE_CALLER_TOP UINT32_MAX

/* Samples by call chain: numbers of log_names. All zero at first. */
struct stack_samples {
	struct keymap stacks;
	uint32_t *count;
	uint32_t capacity;
	uint64_t all; /* also those without a chain */
};

/* 0 or -ENOMEM. */
int stack_samples_add(struct stack_samples *s, uint64_t stack);
void stack_samples_free(struct stack_samples *s);

/* A caller of what its parent is, or of the outermost method that the sites of the tree know
 * themselves. */
struct site_caller {
	uint32_t tree, parent; /* parent: an index of callers, a lower one; SITE_CALLER_TOP */
	uint64_t method, bci;  /* method: of log_names; 0: the rest of the chain is not known */
	uint32_t samples;
};

struct site_samples {
	uint32_t *tree_of; /* by index of names->sites; INDEX_NONE: the site knows no method */
	/* Sites of which the same samples are have one tree. */
	struct site_tree {
		uint32_t site; /* one of them */
		uint32_t samples;
		bool at_bytecode; /* all of them at the site's own bytecodes */
		uint32_t next;    /* 1 + another of the same method; 0: none */
	} *trees;
	struct site_caller *callers;
	uint32_t tree_count, tree_capacity, caller_count, caller_capacity;
	uint64_t left_out; /* samples for which there was no room */
};

/*
 * A sample is of a site if it is in the site's outermost method, called from there as the site has
 * it; or, if there are enough of these, at exactly its bytecodes. 0 or -ENOMEM; to be freed in any
 * case.
 */
int site_samples_make(const struct object_names *names, const struct log_names *log,
		      const struct stack_samples *samples, struct site_samples *ret);
void site_samples_free(struct site_samples *s);
