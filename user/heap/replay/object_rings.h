/* heap/replay/object_rings.h: the rings of a log, and what was lost in them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct object_collection;
struct object_emitter;
struct object_record;
struct object_replay;

/* As a ring says them, all but gap_bytes, which are in its words. */
struct object_lost {
	uint64_t waits, wait_ns, lost_bytes, lost_names, refused, gap_bytes;
};

/* object_rings.c: a ring's record; 0 or an error as object_replay_add. Is a record of this ring? A
 * phase's record, which says whether the heap has been walked. */
int object_rings_add(struct object_replay *r, const struct object_record *o);
bool object_rings_has(struct object_replay *r, const struct object_record *o);
void object_rings_phase(struct object_replay *r, const struct object_record *o);

/* object_losses.c: before the moves of a collection are applied, and after that. c: NULL: its begin
 * was lost. */
void object_losses_before(struct object_replay *r);
void object_losses_after(struct object_replay *r, struct object_collection *c);
/* Words of this thread are missing. */
void object_losses_of(struct object_replay *r, const struct object_emitter *t);
/* What a phase's record says of the ring. */
void object_losses_said(struct object_replay *r, const struct object_record *o);
/* A further ring begins. */
void object_losses_begin_again(struct object_replay *r);
/* Objects may be missing from the heap as it is now. */
bool object_losses_now(const struct object_replay *r);
