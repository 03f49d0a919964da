/* log/write/writer_thread.h: a thread that compresses blocks and writes them, off the path of the
 * events. */
#pragma once

#include <msgpack.h>
#include <stdbool.h>
#include <stdint.h>

#include "log/format/block.h"
#include "log/format/codec.h"
#include "log/write/output.h"
#include "log/write/writer.h"

struct writer_thread;

/* What is handed over: a body of packed events, or what a part begins with. */
struct packet {
	struct packet *next;
	msgpack_sbuffer buf; /* PACKET_ROOM bytes, then the body; of a part: magic and header */
	bool part;
	enum block_kind kind; /* BLOCK_KIND_PACKED or BLOCK_KIND_OBJECTS, unless it is a part */
	uint32_t events;
	uint8_t flags;
	uint64_t first_ns, last_ns;
};

#define PACKET_ROOM (BLOCK_HEADER_BYTES + PREAMBLE_BYTES)

/* Bodies that wait, in bytes: the more, the more is lost when the process is killed. */
#define DELIVER_QUEUE_BYTES (2u * 1024 * 1024)

/* out is the thread's from now on, if this succeeds. It has its first header, of so many bytes. */
int writer_thread_new(struct log_output *out, const struct log_compression *compression,
		      uint64_t bytes, struct writer_thread **ret);

/* An empty one, with room for the headers; NULL: no memory. packet_free accepts NULL. */
struct packet *writer_thread_packet(struct writer_thread *d);
void packet_free(struct packet *p);

/* Takes the packet. Waits only while the queue is full. */
void writer_thread_put(struct writer_thread *d, struct packet *p);
/* Waits until all is written. The first error of all. */
int writer_thread_wait(struct writer_thread *d);
int writer_thread_error(const struct writer_thread *d); /* the first one, without waiting */

struct writer_thread_room {
	uint64_t used;   /* bytes of this part: written, and index and end that it will need */
	uint64_t queued; /* that the packets on the way will take at most */
};
void writer_thread_room(struct writer_thread *d, struct writer_thread_room *ret);
/* All but the events. */
void writer_thread_stats(struct writer_thread *d, struct log_writer_stats *ret);

/* Waits, writes index and end of file. Nothing may be put after it. The first error. */
int writer_thread_finish(struct writer_thread *d);
/* Calls with the output when all has been written, while nothing else is. */
int writer_thread_call(struct writer_thread *d, int (*call)(struct log_output *, void *),
		       void *ctx);
/* Writes what waits, ends the thread, closes the output. The first error. Accepts NULL. */
int writer_thread_free(struct writer_thread *d);
