/* record/decode/fragments.h: stack fragments (record --fragments): chains are found in copies of
 * stacks, by the walker of BPF compiled for the host, and compared with what BPF has found. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fragments;
struct log_writer;
struct mem;
struct wire_code;
struct wire_native_rule;
struct wire_run_sample;
struct wire_stack;

/* All that is pointed to is lent until fragments_free(). */
struct fragments_options {
	const struct wire_code *code; /* as BPF has it; not ready: nothing is decoded */
	const struct mem *mem;        /* of the target: what is not on its stacks */
	/* How to get out of native code; asked once for an address while there is room, or,
	 * where the answer has WIRE_RULE_ASKED, each time. */
	void (*native_rule)(void *ctx, uint64_t pc, bool is_return, struct wire_native_rule *ret);
	void *ctx;
	/* Of unloading; BPF writes them while this runs. */
	const volatile uint32_t *code_epoch, *class_epoch;
	uint32_t bytes; /* of a fragment, at most */
	bool callers;   /* native callers are wanted */
};

/* Takes up to 16 MB: it is for comparisons. 0 or -ENOMEM. */
int fragments_new(const struct fragments_options *o, struct fragments **ret);
void fragments_free(struct fragments *f);
/* -ENOMEM of any call so far. */
int fragments_error(const struct fragments *f);

/* A chain that BPF has sent, a record of size bytes. */
void fragments_chain(struct fragments *f, const struct wire_stack *r, size_t size);
/* Whether the chain of this fragment has been seen, or will never be: it has been sent before. */
bool fragments_knows_chain(const struct fragments *f, const void *record, size_t size);

#define FRAGMENT_CALLERS_MAX 64

/* What is left to be told; lent until the next call. */
struct fragment_found {
	uint32_t result;                      /* enum fragment_result of events.json */
	const struct wire_run_sample *sample; /* NULL: it was sent otherwise */
	/* The native callers of what was interrupted, from the inside out: addresses in them. Of
	 * a sample in the kernel those in the kernel come first. */
	const uint64_t *callers;
	uint32_t caller_count;
	const struct wire_stack *chain; /* that the sample names; NULL: it has been sent */
	size_t chain_size;
};

/* A fragment, a record of size bytes: decoded, compared, counted. */
void fragments_decode(struct fragments *f, const void *record, size_t size,
		      struct fragment_found *ret);

/* The counts that have changed since. lost: fragments for which there was no room, so far. */
void fragments_write(struct fragments *f, uint64_t lost, struct log_writer *w);
