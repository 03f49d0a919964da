/* record/identity/ids_internal.h: what the files of ids share. */
#pragma once

#include "base/tables/store.h"
#include "record/identity/ids.h"
#include "record/identity/memory.h"

struct class_id {
	uint64_t klass;
	uint32_t number;
	uint32_t flags;
	uint32_t blockers; /* of a patched JVM: objects of it that have a number */
	uint32_t pad;
	char *name; /* NULL: its number is not used any more */
};

struct lock_id;

struct thread_id {
	uint32_t tid;
	uint32_t number;
	uint32_t ns_tid;
	bool daemon, existed, seen, ended;
	uint64_t start_ns;
	uint64_t java_id;
	char *name;         /* NULL: there is none, or there was no room for it */
	struct lock_id *at; /* that it blocks on, or waits at */
	uint32_t at_number; /* as the log has it in the begin; of blockers */
};

/* Threads that have ended are forgotten in this order. */
struct ended {
	uint32_t order; /* counts up */
	uint32_t tid, number;
	uint32_t pad;
	uint64_t time_ns;
};

struct ids {
	struct log_writer *w;
	struct memory *memory; /* NULL: without bound */
	struct store *threads, *by_ns_tid, *ended;
	struct store *classes;
	struct store *locks, *infos, *hashes;
	struct store *strings;
	struct thread_id *last; /* the one that was asked for last; NULL: none */
	uint32_t ended_first, ended_next;
	uint32_t lock_shared, string_shared; /* their numbers; 0: not needed yet */
	uint32_t thread_count, class_count, lock_count, string_count;
	int err;
};

int ids_threads_new(struct ids *ids);
void ids_threads_free(struct ids *ids);
int ids_locks_new(struct ids *ids);
void ids_locks_free(struct ids *ids);

/* A part of the budget; NULL: without bound. */
struct budget *ids_budget(struct ids *ids, enum memory_part part);
/* store_add that keeps -ENOMEM in ids; NULL: there is no room (which is counted), or no memory. */
void *ids_add(struct ids *ids, struct store *s, const void *key, enum memory_kind kind);
void ids_count_forgotten(struct ids *ids, enum memory_kind kind);
void ids_count_shared(struct ids *ids, enum memory_kind kind);
#define IDS_TEXT_OVERHEAD 16 /* of malloc */

/* Takes bytes from a part of the budget, for which entries of that store may go. */
bool ids_take(struct ids *ids, struct store *s, enum memory_part part, uint64_t bytes);
/* A copy of the text; NULL: there is no room for it, even if others of that store go. */
char *ids_text_keep(struct ids *ids, struct store *s, enum memory_part part, const char *text);
void ids_text_drop(struct ids *ids, enum memory_part part, char *text);
/* From the target: modified UTF-8 (JVM specification 4.4.7) to UTF-8, with '?' for each byte that
 * is neither. */
void ids_text_clean(char *to, size_t size, const char *from, uint32_t length, bool dots);

/* What a thread does with a lock: it blocks on it or waits at it from now on, or not any more. */
void ids_thread_at(struct ids *ids, const struct wire_head *h, struct lock_id *l);

/* The blocker at which the thread parks is in the log by this number; what it is, 0: none. */
void ids_thread_parks(struct ids *ids, uint32_t tid, uint32_t number);
uint32_t ids_thread_parks_on(struct ids *ids, uint32_t tid, const struct lock_id *l);

/* NULL: it is not known, or BPF has never sent it. */
struct class_id *ids_class_find(struct ids *ids, uint64_t klass);
