/* record/decode/chains.h: the call chains that BPF sends, resolved, numbered and written into a
 * log. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chains;
struct code;
struct log_writer;
struct memory;
struct wire_run_sample;
struct wire_stack;

/*
 * w and memory (NULL: without bound) are lent until chains_free. class_epoch counts class
 * unloading; BPF writes it while this runs. 0 or -ENOMEM.
 */
int chains_new(struct log_writer *w, struct memory *memory, const volatile uint32_t *class_epoch,
	       struct chains **ret);
void chains_free(struct chains *c);
/* What resolves frames; lent until chains_free. Without it all frames are unresolved. */
void chains_resolve_by(struct chains *c, struct code *code);
/* -ENOMEM of any call so far. */
int chains_error(const struct chains *c);

/* A record of size bytes; false: its length makes no sense. */
bool chains_add(struct chains *c, const struct wire_stack *r, size_t size);
/* The log's number of a chain by BPF's id; 0: there is none. */
uint32_t chains_number(const struct chains *c, uint32_t id);
/* The same of a sample: of the frame where the thread was interrupted, if it has one, with its
 * callers. */
uint32_t chains_sampled(struct chains *c, const struct wire_run_sample *r);

/* The log's number of the method that a compiler thread compiles, which becomes known by this; 0:
 * none, or its name cannot be read any more. */
uint32_t chains_compiling(struct chains *c, const struct wire_run_sample *r);

/* Into memory: what is counted elsewhere. */
void chains_count(struct chains *c);

/* Chains of which a part turned out to be wrong, or could not be named any more. */
uint64_t chains_bad_return_pc(const struct chains *c);
uint64_t chains_unresolved(const struct chains *c);
