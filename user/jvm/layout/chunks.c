/*
 * The classes are the VM's own, and are loaded before any Java code runs. The piece of stack in a
 * StackChunk follows its fields: where an object without one would end, which is the class's layout
 * helper without its lowest bits (share/oops/instanceStackChunkKlass.hpp, share/oops/klass.hpp).
 */
#include "jvm/layout/chunks.h"

#include "jvm/target/mem.h"

#define LAYOUT_SLOW_PATH 7u /* bits */
#define FIELDS_BYTES_MAX 256

enum { THREAD, CONT, CHUNK, CLASSES };

bool chunks_possible(const struct jvm_layout *l)
{
	return l->java_thread_vthread >= 0 && l->stops_to_move && l->heap_gc_active &&
	       l->heap_collections;
}

/* JDK 21 has how many words at the end are arguments, later ones where these begin. */
static int bottom_find(const struct mem *m, const struct klass_shape *s, uint64_t klass,
		       struct jvm_layout *l)
{
	l->chunk.bottom_is_argsize = false;
	if (!klass_field(m, s, klass, "bottom", "I", &l->chunk.bottom))
		return 0;
	l->chunk.bottom_is_argsize = true;
	return klass_field(m, s, klass, "argsize", "I", &l->chunk.bottom);
}

static int fields_find(const struct mem *m, const struct klass_shape *s,
		       const struct klass_query classes[CLASSES], struct jvm_layout *l)
{
	const struct {
		int of;
		const char *name, *signature;
		int32_t *ret;
	} fields[] = {
		{THREAD, "cont", "Ljdk/internal/vm/Continuation;", &l->chunk.thread_cont},
		{CONT, "tail", "Ljdk/internal/vm/StackChunk;", &l->chunk.cont_tail},
		{CHUNK, "parent", "Ljdk/internal/vm/StackChunk;", &l->chunk.parent},
		{CHUNK, "size", "I", &l->chunk.size},
		{CHUNK, "sp", "I", &l->chunk.sp},
	};
	int err = bottom_find(m, s, classes[CHUNK].klass, l);

	for (size_t i = 0; !err && i < sizeof(fields) / sizeof(*fields); i++)
		err = klass_field(m, s, classes[fields[i].of].klass, fields[i].name,
				  fields[i].signature, fields[i].ret);
	return err;
}

int chunks_find(const struct mem *m, struct layout_source *s, struct jvm_layout *l)
{
	struct klass_query classes[CLASSES] = {
		[THREAD] = {"java/lang/Thread", 0},
		[CONT] = {"jdk/internal/vm/Continuation", 0},
		[CHUNK] = {"jdk/internal/vm/StackChunk", 0},
	};
	uint32_t helper;

	s->chunk_walk.seen = 0; /* all are there, or none */
	if (!s->klass_layout || klass_walk(m, &s->shape, &s->chunk_walk, classes, CLASSES) <= 0 ||
	    !classes[THREAD].klass || !classes[CONT].klass || !classes[CHUNK].klass ||
	    fields_find(m, &s->shape, classes, l) ||
	    mem_u32(m, classes[CHUNK].klass + s->klass_layout, &helper) ||
	    (s->entry_return && mem_u64(m, s->entry_return, &l->chunk.entry_return)))
		return 0;
	helper &= ~LAYOUT_SLOW_PATH;
	if (!helper || helper > FIELDS_BYTES_MAX)
		return 0;
	l->chunk.stack = helper;
	l->chunk.klass = classes[CHUNK].klass;
	l->chunk.ready = true;
	return 1;
}
