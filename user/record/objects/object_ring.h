/* record/objects/object_ring.h: the ring of object events of a patched JVM, mapped into this
 * process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "jvm-hooks/objects.h"

/*
 * What the head said when the ring was opened: checked against the size of the memory, and never
 * read again. The memory itself is the target's, which may change any byte of it at any time: each
 * word of it is read once, and used only after it has been compared with these bounds. The file
 * cannot be cut (its seals say so), so that reading it raises no SIGBUS.
 */
struct object_ring {
	uint8_t *memory; /* NULL: closed */
	int file;        /* holds the lock; 0: none */
	bool switched;   /* a recorder has asked for it, and it goes with that one */
	size_t bytes;
	uint32_t slots, slot_bytes;
	uint64_t slot_table, slot_area, names, names_bytes;
	uint64_t heap_base, heap_bytes;
	uint32_t version, pid, heap_shift, mode;
};

#define OBJECT_RING_BYTES_MAX (4ull << 30)
#define OBJECT_SLOT_BYTES_MAX (64u << 10)

/*
 * -ENOENT: the process has no such ring. -EAGAIN: it is not set up yet. -EPROTO: the memory is no
 * ring of this version, or what its head says makes no sense. -EBUSY: another one reads it; a ring
 * has one reader. Others as of open(2) and mmap(2). ret is a closed ring then.
 */
int object_ring_open(pid_t pid, struct object_ring *ret);
/* The same of a descriptor, which stays the caller's. */
int object_ring_map(int fd, struct object_ring *ret);
void object_ring_close(struct object_ring *r);

/* The JVM has been switched off, and has written all. */
bool object_ring_is_off(const struct object_ring *r);

static inline struct spoor_objects_head *object_ring_head(const struct object_ring *r)
{
	return (struct spoor_objects_head *)(void *)r->memory;
}

static inline struct spoor_objects_slot *object_ring_slot(const struct object_ring *r, uint32_t i)
{
	return (struct spoor_objects_slot *)(void *)(r->memory + r->slot_table) + i;
}

static inline uint8_t *object_ring_words(const struct object_ring *r, uint32_t i)
{
	return r->memory + r->slot_area + (uint64_t)i * r->slot_bytes;
}
