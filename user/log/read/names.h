/* log/read/names.h: what the numbers in a log mean, from its metadata events. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "log/format/event.h"

struct log_names;

struct log_thread {
	uint64_t tid;
	uint64_t ns_tid;
	uint64_t start_ns;
	uint64_t java_id;
	const char *name; /* never NULL */
	bool daemon;
	bool existed;
	bool is_virtual; /* it has no tid */
};

struct log_lock {
	uint64_t group;    /* enum lock_group, or what a newer spoor wrote */
	uint64_t class;    /* a class number; 0: not known */
	uint64_t identity; /* enum lock_identity, likewise */
	uint64_t address;
	uint64_t hash;
};

struct log_method {
	const char *class_name, *name, *signature;
	const char *source; /* "": not known */
	bool hidden;
};

/* One frame, and the number of its caller's chain; a caller's number is smaller than this one's
 * own. */
struct log_stack {
	uint64_t caller; /* 0: none */
	uint64_t frame;  /* enum frame_type, or what a newer spoor wrote */
	uint64_t method; /* 0: none */
	uint64_t bci, line;
	bool inferred;
	uint32_t depth; /* frames of the whole chain, this one included */
};

/* The recorder takes a few hundred frames. A chain that has more than this is cut, and says so
 * where it ends: each event that has it is printed with all of its frames. */
#define LOG_STACK_DEPTH_MAX 4096

enum log_names_kind {
	LOG_NAMES_THREAD,
	LOG_NAMES_CLASS,
	LOG_NAMES_LOCK,
	LOG_NAMES_STRING,
	LOG_NAMES_METHOD,
	LOG_NAMES_STACK,
	LOG_NAMES_KIND_COUNT,
};

/* NULL: no memory. */
struct log_names *log_names_new(void);
void log_names_free(struct log_names *n);

/*
 * Takes in a metadata event (copies its text); a later definition of the same number replaces the
 * earlier one. Other events and the number 0 are ignored. 0 or -ENOMEM.
 */
int log_names_add(struct log_names *n, const struct event *e);

/* NULL: not known. Lent until the next log_names_add. */
const struct log_thread *log_names_thread(const struct log_names *n, uint64_t id);
const struct log_lock *log_names_lock(const struct log_names *n, uint64_t id);
const struct log_method *log_names_method(const struct log_names *n, uint64_t id);
const struct log_stack *log_names_stack(const struct log_names *n, uint64_t id);
/* NULL: not known. The text is lent until log_names_free. */
const char *log_names_class(const struct log_names *n, uint64_t id);
const char *log_names_string(const struct log_names *n, uint64_t id);

/* How many numbers of a kind are known; the one at an index, 0 to count - 1, by arrival. */
unsigned log_names_count(const struct log_names *n, enum log_names_kind kind);
uint64_t log_names_id(const struct log_names *n, enum log_names_kind kind, unsigned index);
