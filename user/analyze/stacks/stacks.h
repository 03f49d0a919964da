/* analyze/stacks/stacks.h: which call chains are the same to a reader, and which method each is
 * about. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cell_kinds;
struct log_method;
struct log_names;
struct log_stack;
struct stacks;

/* Stands for all chains of which there were too many: see cells.h. No log has it. */
#define STACK_OTHERS UINT64_MAX

/* The chains that names knows by now; names is lent until stacks_free. NULL: no memory. */
struct stacks *stacks_new(const struct log_names *names);
void stacks_free(struct stacks *s);
const struct log_names *stacks_names(const struct stacks *s);

/*
 * Chains have the same number if they differ in nothing but bytecode indices, frame types, hidden
 * frames and class loaders. 0: not known.
 */
uint32_t stacks_chain(const struct stacks *s, uint64_t stack);

/* Methods are by class and name: overloads are one. */
#define STACKS_METHOD_UNKNOWN 0
#define STACKS_METHOD_UNLOADED 1 /* its code was gone before it was named */
#define STACKS_METHOD_OTHERS 2   /* of STACK_OTHERS */

/*
 * The method that a blocked thread is in: the innermost that is not internal; of nothing but
 * internal ones, the outermost. A holder's is the innermost outside the JDK, else as a waiter's.
 */
uint32_t stacks_waiter_method(const struct stacks *s, uint64_t stack);
uint32_t stacks_holder_method(const struct stacks *s, uint64_t stack);
/* The method of the innermost frame, whatever it is. */
uint32_t stacks_frame_method(const struct stacks *s, uint64_t stack);
/* One of those of that number; NULL: it is one of the three above. */
const struct log_method *stacks_method(const struct stacks *s, uint32_t number);

/* Pools and packages of all that s knows. Empty before the first stacks_fill_kinds(), which is 0 or
 * -ENOMEM. */
const struct cell_kinds *stacks_kinds(const struct stacks *s);
int stacks_fill_kinds(const struct stacks *s);

/* Whether a method of the chain is one in which threads wait for new work, as idle_methods.h has
 * them. */
bool stacks_waits(const struct stacks *s, uint64_t stack);

enum stacks_kind {
	STACKS_METHOD,
	STACKS_UNKNOWN_METHOD, /* the log has lost its name */
	STACKS_UNLOADED,
	STACKS_CUT,     /* there are more frames than are recorded */
	STACKS_IN_HEAP, /* a virtual thread's other frames are in the heap */
	STACKS_MISSING, /* the callers could not be recorded, or the log has lost them */
	STACKS_OTHERS,  /* of STACK_OTHERS */
};

struct stacks_frame {
	enum stacks_kind kind;
	const struct log_method *method; /* of STACKS_METHOD, else NULL */
	const struct log_stack *frame;   /* NULL: lost */
	bool internal; /* how a lock works, not what for: hidden, or of java.util.concurrent, ... */
	bool jdk;      /* of the JDK's own classes */
};

/* The frame at a stack number, which becomes that of the caller. false: it was 0. */
bool stacks_next(const struct stacks *s, uint64_t *stack, struct stacks_frame *ret);
