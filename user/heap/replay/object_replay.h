/* heap/replay/object_replay.h: rebuilds what a JVM has allocated and moved from the records of
 * its object events. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heap/replay/object_lifetimes.h"
#include "heap/replay/object_names.h"
#include "heap/replay/object_sums.h"

struct object_choice;
struct object_record;
struct object_replay;

/* heap_bytes: for the map of the heap at most; beyond it only births are known. NULL: no memory. */
struct object_replay *object_replay_new(uint64_t heap_bytes);
void object_replay_free(struct object_replay *r);
/* 0; -ENOMEM; -EFBIG: more words wait for their turn than any ring can hold. */
int object_replay_add(struct object_replay *r, const struct object_record *record);
/* What waits for words that do not come. 0 or -ENOMEM. */
int object_replay_finish(struct object_replay *r);

/* To be called before the first record: what is only of use at the end is not kept, which would
 * grow with the recording. */
void object_replay_online(struct object_replay *r);
/* Bytes of words that wait for others, or their phase. */
uint64_t object_replay_waiting(const struct object_replay *r);
/* All that the records after these need of them, as records: what the next part of a log begins
 * with. 0 or what emit returned, which is lent the record for the call. Not of a replay that has
 * seen a further ring: whoever writes parts begins a new replay with each. */
int object_replay_carry(struct object_replay *r,
			int (*emit)(void *ctx, const struct object_record *o), void *ctx);

/* Nothing after this collection (its index) counts, or, before, neither itself. To be called before
 * the first record. */
void object_replay_stop(struct object_replay *r, uint32_t collection, bool before);
bool object_replay_stopped(const struct object_replay *r);

/* Who looks at the heap at the end of each collection. */
struct object_watch {
	/* A part of the heap that is collected, as it is reported; before the collection's end. */
	void (*space)(void *ctx, uint64_t address, uint64_t bytes);
	/* object_replay_next has what this collection, an index, has left. Not called if the heap
	 * is not known then, or if looking would take longer than the log allows. 0 or -errno,
	 * which ends it. */
	int (*end)(void *ctx, uint32_t collection);
	void *ctx;
};
/* w is copied. To be called before the first record. */
void object_replay_watch(struct object_replay *r, const struct object_watch *w);

/* Keeps the graph of the last collection that has one. To be called before the first record. */
void object_replay_keep_graph(struct object_replay *r);
/* Its bytes, those of jvm-hooks/graph.h, if the last collection has one; else NULL. */
const uint8_t *object_replay_graph(const struct object_replay *r, size_t *ret_bytes);

/* An object that is in the heap. */
struct object_found {
	uint64_t address, bytes, length; /* length: of an array */
	uint32_t kind, class;            /* indexes of names; class INDEX_NONE: not known */
	uint32_t birth, age;             /* as in object_entry */
};

/* Objects of different threads are different kinds. To be called before the first record. */
void object_replay_by_thread(struct object_replay *r);
/* Only births that are chosen count, and they and what survives of them by their parts. Lent until
 * object_replay_finish; to be called before the first record. */
void object_replay_choose(struct object_replay *r, const struct object_choice *c);
/* The next one by address, from *unit on, which is 0 at first. false: there is none. To be called
 * after object_replay_finish, or from object_watch.end. */
bool object_replay_next(const struct object_replay *r, uint64_t *unit, struct object_found *ret);
/* Where the heap begins. */
uint64_t object_replay_base(const struct object_replay *r);
/* Was there ever an object within the MB of this address? */
bool object_replay_ever(const struct object_replay *r, uint64_t address);
/* Has the collection that was the last to end told what it collects, and left this address out? */
bool object_replay_left_out(const struct object_replay *r, uint64_t address);

/* Lent until object_replay_free. lifetimes: complete after object_replay_finish; kinds as those of
 * names. */
const struct object_lifetimes *object_replay_lifetimes(const struct object_replay *r);
const struct object_names *object_replay_names(const struct object_replay *r);
/* The same, to be extended (object_names_extend) once the replay is finished. */
struct object_names *object_replay_own_names(struct object_replay *r);
const struct object_sums *object_replay_sums(const struct object_replay *r);
uint32_t object_replay_thread_count(const struct object_replay *r);
const struct object_thread *object_replay_thread(const struct object_replay *r, uint32_t i);
const struct object_collection *object_replay_collections(const struct object_replay *r,
							  uint32_t *ret_count);
/* Collections that have ended: what has been born since has so many as its birth. */
uint32_t object_replay_ended(const struct object_replay *r);
