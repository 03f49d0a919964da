/* heap/state/heap_state.h: what is in a heap at one moment: objects by description, and one by one
 * if that is wanted. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "heap/state/heap_layout.h"
#include "heap/state/heap_objects.h"
#include "heap/state/heap_types.h"

/* What objects share: all that have the same description look the same to most classifiers. */
struct heap_desc {
	uint32_t type, length; /* length: of arrays */
	uint32_t of_class; /* of a java.lang.Class that stands for a class: its type; HEAP_NONE */
	uint64_t count, bytes; /* bytes: of each, when the state is finished */
	uint32_t origin;       /* 1 + index in origins; 0: not known */
};

/* How the text of a frame ends that nobody has seen. */
#define HEAP_FRAME_INFERRED " (inferred)"

/* Where objects come from, as only a log of object events has it; texts of types, HEAP_NONE. */
struct heap_origin {
	uint32_t site, method, code;       /* "a.b.Table.add:12", "a.b.Table.add", "C2" */
	uint32_t first_frame, frame_count; /* in frames: the site and its callers, outwards */
	uint32_t thread;                   /* HEAP_NONE: threads are not distinguished */
	uint32_t space;                    /* HEAP_NONE: not known */
	uint32_t age;                      /* collections survived, 15 at most */
};

/* Why an object is there though no object refers to it; the order is that of strength for people.
 */
enum heap_root_kind {
	HEAP_ROOT_UNKNOWN,
	HEAP_ROOT_JNI_GLOBAL,
	HEAP_ROOT_JNI_LOCAL,
	HEAP_ROOT_JAVA_FRAME,
	HEAP_ROOT_NATIVE_STACK,
	HEAP_ROOT_STICKY_CLASS,
	HEAP_ROOT_THREAD_BLOCK,
	HEAP_ROOT_MONITOR,
	HEAP_ROOT_THREAD,
	/* Of a log only; the others are those of .hprof. */
	HEAP_ROOT_VM,
	HEAP_ROOT_CODE,
	HEAP_ROOT_LOADER,
	HEAP_ROOT_KIND_COUNT,
};

struct heap_root {
	uint64_t address;
	uint32_t object; /* HEAP_NONE: not in the dump; set when the state is finished */
	uint32_t thread; /* its number in the dump; 0: of none */
	uint32_t frame;  /* of the thread's call chain, from the top; HEAP_NONE */
	uint8_t kind;
};

struct heap_loader {
	uint64_t id;
	uint32_t type; /* HEAP_NONE: its object is not in the dump */
};

struct heap_state {
	struct heap_types types;
	struct heap_desc *descs;
	struct heap_root *roots;
	struct heap_loader *loaders;
	struct heap_origin *origins;
	uint32_t *frames; /* of origins; texts of types */
	struct keymap desc_keys, loader_keys;
	uint32_t desc_count, root_count;
	uint32_t desc_capacity, root_capacity, loader_capacity, origin_capacity, origin_count,
		frame_count, frame_capacity;
	bool is_log;    /* sizes are known, and origins; references are not, but if */
	bool has_graph; /* ... pointers were recorded at this moment */
	/* Of a log: the moment is a collection's end, or its begin; else the log's end. */
	bool at_gc, before_gc;
	uint64_t gc;       /* the JVM's number */
	uint64_t at_ns;    /* of the moment, since the log began; 0: not known */
	uint64_t early_ns; /* before the time that was asked for; 0: no time was */
	bool with_objects; /* one by one */
	struct heap_objects objects;
	struct heap_layout layout;
	uint64_t object_count, bytes; /* bytes: when it is finished */
	uint64_t without_class;       /* objects of which the class was not known when they came */
	/* Of the object that came last, whose room ends at the next one at the latest. */
	struct heap_extent {
		uint64_t address;
		uint32_t type, length;
	} last;
	struct heap_class_address {
		uint64_t address;
		uint32_t type;
	} * class_addresses; /* by address, if they are sorted */
	uint32_t class_count, class_capacity, class_next;
	bool classes_sorted;
	uint8_t loader_bits[1024]; /* those that no loader has are none */
	uint64_t address_bits;     /* all addresses, or-ed */
};

int heap_state_init(struct heap_state *s, unsigned id_bytes, bool with_objects); /* -ENOMEM */
void heap_state_free(struct heap_state *s);

/* A class: its java.lang.Class, which is an object, too. With objects, its references follow. All
 * return 0, -ENOMEM or -EOVERFLOW. */
int heap_state_class(struct heap_state *s, uint32_t type);
int heap_state_object(struct heap_state *s, uint64_t address, uint32_t type, uint32_t length);
/* Of a log: what is known of the object, but for count. */
int heap_state_described(struct heap_state *s, uint64_t address, struct heap_desc desc);
/* Of a log: a class, of which the java.lang.Class has so many bytes. */
int heap_state_class_described(struct heap_state *s, uint32_t type, uint64_t bytes);
int heap_state_root(struct heap_state *s, struct heap_root root);
/* Sizes, references, roots: nothing comes after it. */
int heap_state_finish(struct heap_state *s);

/* Index in loaders of the class's loader; HEAP_NONE: the JVM's own. */
uint32_t heap_state_loader(const struct heap_state *s, uint32_t type);
