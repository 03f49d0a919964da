/* heap/replay/object_replay_internal.h: what the files of the replay share. */
#pragma once

#include <errno.h>

#include "heap/addresses/object_collect.h"
#include "heap/addresses/object_heap.h"
#include "heap/replay/object_choice.h"
#include "heap/replay/object_replay.h"
#include "heap/replay/object_rings.h"
#include "heap/replay/object_stream.h"
#include "log/format/object_record.h"

#define OBJECT_DESTINATIONS 4
#define OBJECT_WAITING_MAX (1ull << 30)  /* bytes of words that wait; a ring is smaller */
#define OBJECT_WAITING_MANY (64ull << 20) /* then words of a collection do not wait, either */

/* The thread that has emitted the words of a stream, as they say. */
struct object_emitter {
	struct object_stream in;
	struct object_thread thread;
	uint64_t phase, tlab, tlab_end, at; /* phase: of the next word */
	bool has_tlab, has_at;
	uint32_t site; /* of the next birth, if that is an array's without one; 0: none */
	uint64_t last_from, next_to[OBJECT_DESTINATIONS]; /* UINT64_MAX: nobody knows */
	uint32_t moved_kind; /* of what the event before has moved; 0: not known */
	uint32_t run;        /* 1 + the run that the event before has made; 0: none */
	uint64_t ns;         /* the next birth is not before that */
	uint64_t dated, dated_bytes; /* births since then that their time matters for */
	bool due;            /* is in due[]: words have come since they were looked at */
};

struct object_replay {
	struct object_names names;
	struct object_sums sums;
	struct object_heap heap;
	struct object_lifetimes lifetimes;
	const struct object_choice *choice; /* NULL: all is chosen */
	uint64_t heap_bytes_max, heap_base, ring[RING_NUMBERS];
	struct keymap streams;
	struct object_emitter *emitters;
	struct object_collection *collections;
	struct object_run *runs;
	struct object_space *spaces;
	uint32_t *due; /* indexes of emitters */
	uint32_t emitters_capacity, collections_capacity, collection_count;
	uint32_t runs_capacity, run_count, spaces_capacity, space_count, due_capacity, due_count;
	uint32_t last_space_count; /* of the collection before, until the next one has any */
	uint64_t done;    /* all phases below this one have been gone through */
	uint64_t waiting; /* bytes of words */
	uint64_t waiting_many; /* more than these are looked at */
	uint64_t effort;  /* steps that may still be taken in vain */
	bool begun, collecting, forget_all;
	/* object_losses.c */
	uint64_t losses_seen;
	bool lossy, incomplete, moves_lost;
	struct object_lost before; /* in the rings before this one */
	/* object_rings.c */
	uint32_t ring_number, astray;  /* astray: one whose begin is missing */
	uint32_t first_emitter;        /* of this ring */
	uint64_t phase_ns;             /* of the last phase of which the heap was known */
	bool walking;                  /* not all of the heap has been walked */
	struct object_watch watch;
	bool keep_graph;
	struct {
		uint8_t *bytes; /* NULL: none */
		size_t count, room;
		bool begun, whole;
	} graph;          /* of the last collection */
	bool by_thread, online;
	bool in_state, skip_state; /* skip: the parts before were there */
	struct keymap desc_map; /* of the state: by number, to state_descs */
	struct object_desc *state_descs;
	uint32_t state_descs_capacity;
	uint32_t stop_at; /* collections; 0: never */
	bool stop_before, stopped;
	int err;
};

/* object_moves.c: within a collection. All but end apply to the heap as it was before. */
void object_moves_begin(struct object_replay *r, const uint32_t *words, uint32_t count);
void object_moves_finish_words(struct object_replay *r, const uint32_t *words);
void object_moves_space(struct object_replay *r, uint64_t at, uint64_t units);
void object_moves_one(struct object_replay *r, struct object_emitter *t, uint64_t from, uint64_t to,
		      int destination);
void object_moves_run(struct object_replay *r, struct object_emitter *t, uint64_t from, uint64_t to,
		      uint64_t units);
void object_moves_end(struct object_replay *r);
void object_replay_give_up_heap(struct object_replay *r);

/* object_graph.c: bytes of a graph, in the words of an event. */
void object_graph_begin(struct object_replay *r);
void object_graph_cut(struct object_replay *r); /* words are missing */
void object_graph_words(struct object_replay *r, const uint32_t *words, uint32_t count);

/* object_choice.c: all births of the thread that come are not before this, and all that have come
 * were not after. */
void object_replay_date(struct object_replay *r, struct object_emitter *t, uint64_t ns);
/* The part that a birth counts for, of which the caller knows what its word says. */
uint32_t object_replay_part(struct object_replay *r, struct object_emitter *t,
			    struct object_birth *b);
/* object_restore.c: a record of what a part needs of those before. 0 or -ENOMEM. */
int object_replay_carried(struct object_replay *r, const struct object_record *o);
/* object_replay.c: all births that are known of the phase that is not complete yet. */
void object_replay_catch_up(struct object_replay *r);
/* object_events.c: one event at words, of which 256 can be read; how many words it has, 0: nothing
 * more. */
uint32_t object_event(struct object_replay *r, struct object_emitter *t, const uint32_t *words);

/* A stream, made if need be. 0 or -ENOMEM. */
static inline int object_replay_emitter(struct object_replay *r, uint64_t stream, uint32_t *ret)
{
	uint32_t known = r->streams.count;
	int err = keymap_add_row(&r->streams, (struct keymap_key){.a = stream}, &r->emitters,
				 &r->emitters_capacity, sizeof(*r->emitters), ret);

	if (!err && *ret == known)
		r->emitters[*ret].thread.stream = stream;
	return err;
}
