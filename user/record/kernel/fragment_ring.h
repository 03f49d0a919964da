/* record/kernel/fragment_ring.h: the ring of stack fragments (bpf/wire/wire_fragment.h), and what
 * BPF knows that is needed to decode them. */
#pragma once

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

struct fragment_ring;
struct spoor_bpf;
struct wire_code;

struct fragment_ring_options {
	/* Gets each fragment, from fragment_ring_consume(), which it ends with a negative errno. */
	int (*fragment)(void *ctx, void *data, size_t size);
	void *ctx;
	uint32_t bytes; /* of the stack, with each sample; 0: there is no ring */
	bool callers;   /* samples outside of Java code come with their fragments only */
};

/* skel is loaded, and lent until fragment_ring_free. 0 or a negative errno. */
int fragment_ring_new(struct spoor_bpf *skel, const struct fragment_ring_options *o,
		      struct fragment_ring **ret);
void fragment_ring_free(struct fragment_ring *r);

/* Polls readable when much is waiting. -1: r is NULL. */
int fragment_ring_fd(const struct fragment_ring *r);
/* Hands what is waiting to the callback. */
void fragment_ring_consume(struct fragment_ring *r);
/* For which there was no room so far. */
uint64_t fragment_ring_lost(const struct fragment_ring *r);

/* What the walker in BPF knows, and counts of unloaded code and classes; BPF and the session write
 * them. Lent until fragment_ring_free. */
const struct wire_code *fragment_ring_code(const struct fragment_ring *r);
const volatile uint32_t *fragment_ring_code_epoch(const struct fragment_ring *r);
const volatile uint32_t *fragment_ring_class_epoch(const struct fragment_ring *r);
