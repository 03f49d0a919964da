/* jvm/layout/chunk_layout.h: where the frames of a virtual thread are that are in the heap. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* JDK 21 on; offsets in bytes unless said otherwise. */
struct chunk_layout {
	uint64_t klass;           /* address of jdk.internal.vm.StackChunk's */
	uint64_t entry_return;    /* where frames return to enterSpecial; 0: unknown (JDK 21) */
	int32_t thread_cont;      /* Thread.cont: the Continuation that runs on it */
	int32_t cont_tail;        /* jdk.internal.vm.Continuation */
	int32_t parent, size, sp; /* of a StackChunk */
	int32_t bottom;           /* up to where frames are; or from there to the end: */
	bool bottom_is_argsize;   /* JDK 21 */
	uint32_t stack;           /* where the piece of stack begins */
	bool ready;               /* all of it is known */
};
