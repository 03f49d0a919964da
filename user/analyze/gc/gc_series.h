/* analyze/gc/gc_series.h: collections and their pauses one by one, and what the heap held around
 * each. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct event;
struct log_names;

/* What the pools of the heap had at one moment, in all. */
struct gc_heap {
	uint64_t used_bytes, committed_bytes;
	uint64_t survivor_bytes, old_bytes; /* of used_bytes */
};

/* A pause; or a cycle of a concurrent collector, whose pauses are rows of their own. Numbers are
 * those of strings; 0: not known. */
struct gc_row {
	uint64_t begin_ns, end_ns;
	uint64_t kind;      /* enum gc_kind; of a cycle GC_KIND_UNKNOWN */
	uint64_t collector; /* the memory manager that did the work */
	uint64_t operation; /* the VM operation; of a cycle 0 */
	uint64_t cause;     /* a patched JVM's */
	bool is_cycle;      /* the application went on meanwhile */
	bool is_minor;      /* a cycle of the young generation alone */
	bool after_gap;     /* what was before it is missing in the log */
	bool has_heap;      /* before and after are known, of all pools */
	bool has_old;       /* there is a pool of the old generation */
	bool has_survivor;  /* ... of survivors */
	uint8_t pools;      /* of the heap that were reported, before and after */
	struct gc_heap before, after;
};

struct gc_limits {
	uint64_t heap_bytes; /* the sum of the limits of the heap's pools, or the flag if that is
				less; 0: not known */
	uint64_t old_bytes;  /* of the old generation; 0: not known */
};

/* Rows that are kept; those that come later are counted. */
#define GC_ROWS_MAX (1u << 20)

struct gc_facts {
	uint64_t incomplete; /* pauses and cycles of which the begin or the end is not there */
	uint64_t left_out;   /* rows beyond GC_ROWS_MAX */
	struct gc_limits limits;
};

struct gc_series;

/* names is lent until gc_series_free, and complete up to the event at hand. heap_max_bytes: as the
 * JVM's flags have it; 0: not known. NULL: no memory. */
struct gc_series *gc_series_new(const struct log_names *names, uint64_t heap_max_bytes);
void gc_series_free(struct gc_series *s);

/* Events in time order; those of other kinds are ignored. 0 or -ENOMEM. */
int gc_series_add(struct gc_series *s, const struct event *e);
/* Parts of the recording are missing here: what is open has no end. */
void gc_series_hole(struct gc_series *s);
/* No more events. */
void gc_series_finish(struct gc_series *s);

/* After gc_series_finish, by their ends; lent until gc_series_free. */
const struct gc_row *gc_series_rows(const struct gc_series *s, uint32_t *ret_count);
struct gc_facts gc_series_facts(const struct gc_series *s);
