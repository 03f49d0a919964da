/* jvm-hooks/objects.h: the ring of object events of a patched HotSpot: its memory, its words. */
#pragma once
#include <stdint.h>

/*
 * Plain C, for the patches, for readers and for tests. The ring is a memfd of the JVM of the name
 * SPOOR_OBJECTS_NAME, sealed against a change of its size; a reader opens it in /proc/PID/fd.
 * A stream is the events of one thread, in their order, cut into slots. A thread OWNS a slot,
 * fills it, hands it over as FULL, and takes a FREE one. The reader fills a FULL slot with zeros,
 * and then makes it FREE. The JVM believes no other word of the ring: whatever a reader writes, it
 * stays within the ring, and waits for SPOOR_OBJECTS_PATIENCE_NS at a time at most.
 *
 * A phase begins and ends with each collection that stops the world. At its begin the VM thread
 * writes MARK into each stream that has a slot, sets marked, and then head.phase: of a slot that is
 * still OWNED, marked bytes are complete. A slot's words have its phase until the first MARK, then
 * the MARK's. Phase n is complete when head.phase is above n. Within a phase streams have no order.
 */
#define SPOOR_OBJECTS_MAGIC 0x31736a626f727073ull /* "sprobjs1" */
#define SPOOR_OBJECTS_VERSION 1
#define SPOOR_OBJECTS_NAME "spoor-objects"
#define SPOOR_OBJECTS_PATIENCE_NS 1000000000ull

/* Bits of SpoorObjectsMode. EXACT: threads wait for a free slot, until one has waited for PATIENCE.
 * CHECK: each move is followed by SPOOR_EXT_CHECK. The others leave out. */
#define SPOOR_OBJECTS_EXACT 1
#define SPOOR_OBJECTS_CHECK 2
#define SPOOR_OBJECTS_NO_C1 4
#define SPOOR_OBJECTS_NO_C2 8
#define SPOOR_OBJECTS_NO_MOVES 16
#define SPOOR_OBJECTS_NO_CHAINS 32

/* At offset 0. An address in a word is (address - heap_base) >> heap_shift, in the heap's units. */
struct spoor_objects_head {
	uint64_t magic;
	uint32_t version, pid;
	uint64_t bytes;
	uint32_t slots, slot_bytes;
	uint64_t slot_table, slot_area, names; /* offsets: of structs, of slots, of names */
	uint64_t names_bytes, heap_base, heap_bytes;
	uint32_t heap_shift, mode;
	uint64_t names_used, phase; /* names_used: bytes of names that can be read */
	uint64_t ended; /* 1: the JVM has exited in good order, and written all */
	uint64_t patience_lost; /* CLOCK_MONOTONIC: since then EXACT waits no more; 0: it does */
	uint64_t waits, wait_ns, gaps, lost_bytes, lost_names;
	/* Of a ring that a recorder has asked for (probes.h, objects__start). switched: 1. on_ns:
	 * since when all is recorded, 0: the heap is being walked. off_ns: nothing more comes.
	 * found: objects in the heap, as births of SPOOR_TIER_HEAP. pause_ns: of the safepoint. */
	uint64_t switched, on_ns, off_ns, found, pause_ns, refused, graphs, graphs_lost, graph_ns;
	uint32_t pointers, pointers_can; /* pointers: a reader's word, see graph.h; can: 1 */
};

/* WALK: nobody has emptied the ring while the heap was walked. VM: its options leave no room. */
enum spoor_objects_refused { SPOOR_REFUSED_NOT, SPOOR_REFUSED_WALK, SPOOR_REFUSED_VM };
enum spoor_objects_state { SPOOR_SLOT_FREE, SPOOR_SLOT_OWNED, SPOOR_SLOT_FULL };

struct spoor_objects_slot {
	uint32_t state;
	uint32_t stream;          /* from 1; a number is not used again */
	uint64_t sequence, phase; /* from 0, in the stream; when it was taken */
	uint64_t begin_ns, end_ns;
	int64_t java_tid; /* 0: no Java thread */
	uint32_t tid;                 /* in the JVM's pid namespace */
	uint32_t used, marked, spare; /* bytes: once it is FULL; at the last MARK */
};

/*
 * Words of 32 bits; the kind is in the upper four. Objects of a thread follow each other in its
 * TLAB: the address is that of TLAB and the sizes of all objects since, but for an object that AT
 * stands before. klass: (address of the Klass >> 3), its lower 32 bits.
 */
enum spoor_objects_kind {
	SPOOR_OBJ_END,    /* nothing more in this slot */
	SPOOR_OBJ_NEW,    /* 28 site */
	SPOOR_OBJ_ARR,    /* 20 site, 8 length; if that is 255: length */
	SPOOR_OBJ_NEWK,   /* as NEW; klass: the site does not know it */
	SPOOR_OBJ_ARRK,   /* as ARR, klass before the length */
	SPOOR_OBJ_NEWSZ,  /* as NEW; size in units, not the class's (java.lang.Class) */
	SPOOR_OBJ_AT,     /* 28 + 32 address of the next object */
	SPOOR_OBJ_TLAB,   /* 28 + 32 address of the next object; units to the end; ns low, high */
	SPOOR_OBJ_RETIRE, /* 28 units left, for a filler; 32 low bits of their address */
	SPOOR_OBJ_MOVE,   /* 2 destination, 26 from - that of the last MOVE or MOVEX, signed */
	SPOOR_OBJ_MOVEX, /* 2 destination, 26 + 32 from; high, low to. MOVE of a destination goes to
			     where the last object moved there ends. A slot begins with none. */
	SPOOR_OBJ_RUN,   /* 28 + 32 from; high, low to; units: live objects; to may be from */
	SPOOR_OBJ_KEEP,  /* 28 + 32 address: stays where it was, within what is collected */
	SPOOR_OBJ_GC,    /* 4 enum spoor_objects_gc, 24: see there */
	SPOOR_OBJ_EXT = 15 /* 8 enum spoor_objects_ext, 8 words in all */
};

enum spoor_objects_gc {
	SPOOR_GC_MARK,  /* 24 phase, lower bits */
	SPOOR_GC_BEGIN, /* 8 flags, 8 words in all; id; ns low, high; collector, 0, cause, 0 */
	SPOOR_GC_END,   /* the same without the strings; flags: those that are known at the end */
	SPOOR_GC_SPACE  /* high, low address; units: what neither moves nor stays in it dies */
};
#define SPOOR_GC_ALL 1      /* flag: the whole heap is such a space */
#define SPOOR_GC_UNTRACED 2 /* flag: no moves are told (NO_MOVES): what is where is lost */

enum spoor_objects_ext {
	SPOOR_EXT_GAP,   /* low, high: bytes of events that were lost before this */
	SPOOR_EXT_CHECK, /* klass of the object that the event before has moved or kept */
	SPOOR_EXT_BYTES, /* low, high: what the VM says that the thread has allocated */
	SPOOR_EXT_TOP,   /* low, high address: the TLAB's next object, to compare */
	SPOOR_EXT_GRAPH, /* + 12, see graph.h: bytes of a graph */
	SPOOR_EXT_SITE   /* site of the ARRK that follows, for which 20 bits are too few */
};

/* Names: records, aligned to 8 bytes. {kind << 24 | bytes with this head, id}. Id 0: unknown.
 *  CLASS   klass, layout helper of HotSpot; name, 0
 *  METHOD  class id, spare; name, 0, signature, 0
 *  SITE    class id, tier << 16 | frames; then for each, innermost first: method id, bci
 *  GONE    spare, spare: the class of this id is gone, and its klass may be another's
 */
enum spoor_objects_name {
	SPOOR_NAME_CLASS = 1, SPOOR_NAME_METHOD, SPOOR_NAME_SITE, SPOOR_NAME_GONE
};
/* HEAP: no place allocates there; the object was found in the heap, alive or not. */
enum spoor_objects_tier {
	SPOOR_TIER_VM, SPOOR_TIER_INTERPRETER, SPOOR_TIER_C1, SPOOR_TIER_C2, SPOOR_TIER_HEAP
};
