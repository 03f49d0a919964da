/* heap/check/heap_check.h: the heap that object events make beside a dump of the same moment,
 * address by address, both ways. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_state;
struct object_replay;

enum heap_check_kind {
	CHECK_OTHER_CLASS,  /* at the same address */
	CHECK_OTHER_LENGTH, /* an array of the same class */
	CHECK_ONLY_LOG,
	CHECK_ONLY_DUMP,
	CHECK_DIFFERENCES, /* those before are differences, those from here on are explained */
	/* Only the log has it: a java.lang.Class, of which a dump has those of classes that are
	 * loaded wholly. */
	CHECK_CLASS_OBJECT = CHECK_DIFFERENCES,
	/* Only the dump has it: an int[] or a java.lang.Object to which nothing refers, with which
	 * collectors fill gaps. */
	CHECK_FILLER,
	/* Only the dump has it, with G1, in a MB of the heap in which the log has never had an
	 * object: G1 maps the objects of an archive of classes (CDS) into regions of their own. */
	CHECK_ARCHIVED,
	/* Only the log has it, with G1, after a full collection: it was in the heap when the log
	 * began, no collection has found it since, and this one has left its region out, as it does
	 * with archives alone. What it does not mark there is dead, stays, and is in no dump. */
	CHECK_ARCHIVED_DEAD,
	CHECK_KIND_COUNT,
};

#define CHECK_EXAMPLES_MAX 1000

struct heap_check_example {
	uint64_t address;
	enum heap_check_kind kind;
	uint32_t class, type; /* of the log's names, of the dump's types; UINT32_MAX: not there */
	uint64_t log_length, dump_length; /* of arrays */
};

struct heap_check {
	uint64_t log_objects, dump_objects, equal;
	uint64_t kinds[CHECK_KIND_COUNT];
	/* Of the equal ones: those of which the log has another size than the dump's layout has,
	 * which is inferred. */
	uint64_t other_size;
	struct heap_check_example *examples; /* of differences, by address */
	uint32_t example_count, example_capacity;
};

/* dump: with objects, finished. g1: the JVM's collector is G1. 0 or -ENOMEM; *ret is to be freed in
 * any case. */
int heap_check(const struct object_replay *log, const struct heap_state *dump, bool g1,
	       struct heap_check *ret);
void heap_check_free(struct heap_check *c);
uint64_t heap_check_differences(const struct heap_check *c);
