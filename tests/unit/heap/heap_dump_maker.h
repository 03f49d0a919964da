/* tests/unit/heap/heap_dump_maker.h: heap dumps of which everything is known. */
#pragma once

#include <stdint.h>
#include <string.h>
#include <sys/types.h>

struct maker {
	uint8_t bytes[1 << 20];
	size_t used, at;
	unsigned id_bytes;
	size_t segment; /* where the length of the open record is; 0: none is open */
};

static inline void put(struct maker *m, uint64_t n, unsigned bytes)
{
	while (bytes--)
		m->bytes[m->used++] = (uint8_t)(n >> 8 * bytes);
}

static inline void put_id(struct maker *m, uint64_t id)
{
	put(m, id, m->id_bytes);
}

static inline void maker_begin(struct maker *m, unsigned id_bytes)
{
	*m = (struct maker){.id_bytes = id_bytes};
	memcpy(m->bytes, "JAVA PROFILE 1.0.2", 19);
	m->used = 19;
	put(m, id_bytes, 4);
	put(m, 1700000000000, 8);
}

static inline void record_begin(struct maker *m, unsigned tag)
{
	put(m, tag, 1);
	put(m, 0, 4);
	m->segment = m->used;
	put(m, 0, 4);
}

static inline void record_end(struct maker *m)
{
	size_t used = m->used;

	m->used = m->segment;
	put(m, used - m->segment - 4, 4);
	m->used = used;
	m->segment = 0;
}

static inline void make_text(struct maker *m, uint64_t id, const char *text)
{
	record_begin(m, 0x01);
	put_id(m, id);
	memcpy(m->bytes + m->used, text, strlen(text));
	m->used += strlen(text);
	record_end(m);
}

/* A class, the id of whose name is its own plus 1. */
static inline void make_class_name(struct maker *m, uint64_t id, const char *name)
{
	make_text(m, id + 1, name);
	record_begin(m, 0x02);
	put(m, 1, 4);
	put_id(m, id);
	put(m, 0, 4);
	put_id(m, id + 1);
	record_end(m);
}

/* Its fields follow: put_id(name), put(value, 1) for each. */
static inline void make_class(struct maker *m, uint64_t id, uint64_t super, uint64_t loader,
			      unsigned fields)
{
	put(m, 0x20, 1);
	put_id(m, id);
	put(m, 0, 4);
	put_id(m, super);
	put_id(m, loader);
	for (int i = 0; i < 4; i++)
		put_id(m, 0);
	put(m, 0, 4);
	put(m, 0, 2);
	put(m, 0, 2);
	put(m, fields, 2);
}

static inline void make_field(struct maker *m, uint64_t name, unsigned value)
{
	put_id(m, name);
	put(m, value, 1);
}

/* bytes of fields follow. */
static inline void make_instance(struct maker *m, uint64_t id, uint64_t of, uint32_t bytes)
{
	put(m, 0x21, 1);
	put_id(m, id);
	put(m, 0, 4);
	put_id(m, of);
	put(m, bytes, 4);
}

static inline void make_object_array(struct maker *m, uint64_t id, uint64_t of, uint32_t count)
{
	put(m, 0x22, 1);
	put_id(m, id);
	put(m, 0, 4);
	put(m, count, 4);
	put_id(m, of);
}

static inline void make_primitive_array(struct maker *m, uint64_t id, unsigned element,
					uint32_t count)
{
	put(m, 0x23, 1);
	put_id(m, id);
	put(m, 0, 4);
	put(m, count, 4);
	put(m, element, 1);
}

static inline void make_root(struct maker *m, unsigned kind, uint64_t id)
{
	put(m, kind, 1);
	put_id(m, id);
}

/* As dump_read. */
static inline ssize_t maker_read(void *ctx, void *to, size_t room)
{
	struct maker *m = ctx;
	size_t count = m->used - m->at;

	if (count > room)
		count = room;
	memcpy(to, m->bytes + m->at, count);
	m->at += count;
	return (ssize_t)count;
}
