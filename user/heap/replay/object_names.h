/* heap/replay/object_names.h: classes, methods and sites of object events, and what is counted
 * of each pair of site and class. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tables/keymap.h"
#include "heap/replay/object_ids.h"

struct object_record;

struct object_class {
	uint64_t id;
	char *name;
	uint32_t klass;
	int32_t layout; /* HotSpot's layout helper */
};

struct object_method {
	uint64_t id;
	uint32_t class; /* index; INDEX_NONE: not known */
	char *name, *signature;
};

struct object_site {
	uint64_t id;
	uint32_t class; /* index; INDEX_NONE: known at run time only, or not known */
	uint32_t tier;  /* enum spoor_objects_tier */
	uint32_t kind;  /* of the object before; 0: no object yet */
	uint32_t first_frame, frame_count; /* in frames, innermost first */
	uint32_t inferred; /* of these, the outermost: nobody has seen them */
};

struct object_frame {
	uint32_t method; /* id */
	uint32_t bci;
};

struct object_tally {
	uint64_t count, bytes;
	uint64_t survived, survived_bytes; /* a collection has found them alive */
};

#define OBJECT_PART_NONE UINT32_MAX
#define OBJECT_PART_CARRIED (UINT32_MAX - 1) /* born before this part of the log */

/* What an object is to the analysis: who has allocated what. kinds[0] is none. */
struct object_kind {
	uint32_t site, class; /* indexes; INDEX_NONE: not known */
	uint32_t thread;      /* index; INDEX_NONE: threads are not distinguished */
	uint32_t part;        /* as whoever chooses births says; OBJECT_PART_NONE: not chosen */
	struct object_tally of;
};

/* Which class has an address, now and in the ring before. INDEX_NONE: none. */
struct object_key {
	uint32_t now, before;
};

struct object_names {
	struct keymap class_map, method_map, site_map, kind_map, key_map;
	struct object_class *classes;
	struct object_method *methods;
	struct object_site *sites;
	struct object_frame *frames;
	struct object_kind *kinds;
	struct object_key *class_of_key; /* by key_map */
	uint32_t classes_capacity, methods_capacity, sites_capacity, kinds_capacity, keys_capacity,
		frames_capacity, frame_count, kind_count;
	bool again; /* the ring that is read is not the first: object_names_again.c */
	struct object_ids class_ids, method_ids, site_ids;
	struct keymap same_map; /* methods by class, name and signature, to same */
	uint32_t *same, same_capacity, same_count, method_most;
};

/* 0 or -ENOMEM. */
int object_names_init(struct object_names *n);
void object_names_free(struct object_names *n);
/* A record that is a class, method, site, or the end of a class. 0 or -ENOMEM. */
int object_names_add(struct object_names *n, const struct object_record *r);

/* A further ring begins: it numbers its names anew. Rows stay: a class or a method that comes again
 * keeps its own. 0 or -ENOMEM. When nothing more is read of it, ids are those of the rows. */
int object_names_begin_again(struct object_names *n);
void object_names_end_again(struct object_names *n);

/* Callers of the outermost frame, innermost first, inferred from the code. 0 or -ENOMEM. */
int object_names_extend(struct object_names *n, uint32_t site, const struct object_frame *callers,
			uint32_t count);

/* Objects of this site, or kind, were there when events were switched on: nobody saw a birth. */
bool object_names_was_there(const struct object_names *n, uint32_t site);
bool object_names_was_found(const struct object_names *n, uint32_t kind);
/* Indexes; INDEX_NONE: not known. */
uint32_t object_names_site(const struct object_names *n, uint64_t id);
uint32_t object_names_class(const struct object_names *n, uint64_t id);
uint32_t object_names_class_at(const struct object_names *n, uint32_t klass);
/* The kind that is the same but for its tally. 0 or -ENOMEM. */
int object_names_kind(struct object_names *n, const struct object_kind *kind, uint32_t *ret);

#define OBJECT_KINDS_MAX (1u << 24) /* more are -ENOMEM */

/* In units of the heap; 0: the class is not known. */
uint64_t object_names_units(const struct object_names *n, uint32_t class, uint64_t length,
			    unsigned shift);
bool object_names_is_array(const struct object_names *n, uint32_t class);
/* "a.b.Table", "byte[]". Returns buf. */
char *object_class_text(const struct object_names *n, uint32_t class, char *buf, size_t size);
/* "a.b.Table.add:12", where 12 is the bytecode's index, which native methods have not; the frame of
 * a site, 0 is the innermost. An inferred one ends in " (inferred)". */
#define OBJECT_FRAME_INFERRED " (inferred)"
char *object_frame_text(const struct object_names *n, uint32_t site, uint32_t frame, char *buf,
			size_t size);
/* The same without the bytecode. */
char *object_method_text(const struct object_names *n, uint32_t site, uint32_t frame, char *buf,
			 size_t size);
/* The code that allocates there: "interpreter", "C2". Static. */
const char *object_code_text(const struct object_names *n, uint32_t site);
