/* jvm-hooks/graph.h: who refers to whom after a collection, as a patched HotSpot writes it into
 * the ring of object events. */
#pragma once
#include <stdint.h>

/* head.pointers: after which collections a graph is wanted. 0: none; n: each nth; these. graphs:
 * those that are complete; graphs_lost: 1 if nobody has emptied the ring, and the last. */
#define SPOOR_POINTERS_FULL 0x10000  /* of the whole heap */
#define SPOOR_POINTERS_ASKED 0x20000 /* System.gc(), jcmd GC.run, GC.heap_dump and the like */

/* The 12 bits of SPOOR_EXT_GRAPH: how many of the bytes in its words count, and these. */
#define SPOOR_GRAPH_BYTES 0x3ff
#define SPOOR_GRAPH_FIRST 0x400 /* a graph begins with these words */
#define SPOOR_GRAPH_LAST 0x800

/*
 * The VM thread writes the words between SPOOR_GC_END and the end of the phase, while the world is
 * stopped. Their bytes, put together, are the graph: numbers in LEB128. ADDRESS: 0 is null, else
 * 1 + the address in units. SIGNED: 0, -1, 1, -2 are 0, 1, 2, 3. TEXT: how many bytes, and these.
 *
 *  SPOOR_GRAPH_VERSION, id of the collection
 *  classes, numbered from 1 on: 1, ADDRESS of the java.lang.Class, its units, ADDRESS of
 *    superclass, loader, signers, protection domain, SIGNED layout helper of HotSpot, TEXT name;
 *    static fields that are references: 1, TEXT name, ADDRESS; 0 ends them;
 *    the class's own instance fields that are references: 1, TEXT name; 0 ends them
 *  0
 *  objects as the heap is walked: class << 1 | moved; if moved: SIGNED units from the end of the
 *    object before (at first: the heap's base) to this one; of an array: its length; of an
 *    instance: a REFERENCE for each field, of the class, then of its superclass, and so on; of an
 *    array of references: one for each element, after each null how many more nulls follow it.
 *    Not there: the java.lang.Class of classes, which are above.
 *  0
 *  roots: enum spoor_graph_root, ADDRESS; if _has_thread(): the thread, numbered from 1 on in the
 *    order of the walk; if _has_frame(): how many Java frames are above it
 *  0, number of objects
 *
 * REFERENCE: 0 is null, else 1 + SIGNED units from the last object that this one has referred to
 * (at first: from itself) to the object that is meant.
 */
#define SPOOR_GRAPH_VERSION 1

/* Up to 8 as in .hprof; in brackets: what is written of it. */
enum spoor_graph_root {
	SPOOR_ROOT_JNI_GLOBAL = 1,
	SPOOR_ROOT_JNI_LOCAL,    /* (thread, frame) */
	SPOOR_ROOT_FRAME,        /* (thread, frame) */
	SPOOR_ROOT_NATIVE,       /* (thread) a handle of the VM's, an exception */
	SPOOR_ROOT_SYSTEM_CLASS, /* of the boot loader */
	SPOOR_ROOT_THREAD = 8,   /* (thread) its java.lang.Thread */
	SPOOR_ROOT_VM,           /* a global handle of the VM's */
	SPOOR_ROOT_CODE,         /* (thread, frame) a constant in compiled code that runs */
	SPOOR_ROOT_LOADER,       /* what loaders that are never unloaded keep for classes */
	SPOOR_ROOT_COUNT
};

static inline int spoor_graph_root_has_frame(unsigned kind)
{
	return kind == SPOOR_ROOT_JNI_LOCAL || kind == SPOOR_ROOT_FRAME || kind == SPOOR_ROOT_CODE;
}

static inline int spoor_graph_root_has_thread(unsigned kind)
{
	return spoor_graph_root_has_frame(kind) || kind == SPOOR_ROOT_NATIVE ||
	       kind == SPOOR_ROOT_THREAD;
}
