/* jvm/layout/layout.h: struct jvm_layout filled from vmStructs, and from the heap's and the
 * classes' state. */
#pragma once

#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/klass.h"

struct layout_rules;
struct mem;
struct vmstructs;

/* Where the parts that come later are read. */
struct layout_source {
	struct klass_shape shape;
	uint64_t collected_heap; /* address of Universe::_collectedHeap */
	uint64_t narrow_oop_base, narrow_oop_shift;
	uint64_t narrow_klass_base, narrow_klass_shift;
	struct klass_walk walk, chunk_walk;
	uint64_t entry_return; /* address of ContinuationEntry::_return_pc; 0: not in vmStructs */
	uint32_t klass_layout; /* Klass::_layout_helper; 0: not in vmStructs */
	uint32_t klass_super; /* Klass::_super; 0: not in vmStructs */
	int32_t holder_daemon;                    /* in Thread.holder; -1: there is none */
	int32_t heap_gc_active, heap_collections; /* in CollectedHeap; -1: not in vmStructs */
};

/* Nothing is known: the offsets of Java fields are -1. */
void layout_clear(struct jvm_layout *ret);
/* Where the parts of a byte[] are, by array_data and the kind of class pointers. */
void layout_arrays(struct jvm_layout *l);

/* How far the class pointer is shifted in a mark; 0: vmStructs does not say. */
uint32_t layout_mark_klass_shift(const struct vmstructs *v);

/* What does not change while the JVM runs. rules: of its version. -ENOTSUP: *ret_missing names what
 * is not there, or is strange. */
int layout_load(const struct vmstructs *v, const struct layout_rules *rules, struct jvm_layout *ret,
		struct layout_source *ret_source, const char **ret_missing);

/*
 * What comes later. 1: something new, 0: nothing, or a negative errno. compressed_*: the JVM's
 * flags, which are final once the heap is there.
 */
int layout_refresh(const struct mem *m, struct layout_source *s, bool compressed_oops,
		   bool compressed_klass, struct jvm_layout *l);

/* Whether everything that can be found has been found. */
bool layout_complete(const struct jvm_layout *l);
