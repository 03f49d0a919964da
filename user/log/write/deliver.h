/* log/write/deliver.h: a thread that compresses blocks and writes them, off the path of the
 * events. */
#pragma once

#include <msgpack.h>
#include <stdbool.h>
#include <stdint.h>

#include "log/format/block.h"
#include "log/format/codec.h"
#include "log/write/output.h"
#include "log/write/writer.h"

struct deliver;

/* What is handed over: a body of packed events, or what a part begins with. */
struct packet {
	struct packet *next;
	msgpack_sbuffer buf; /* PACKET_ROOM bytes, then the body; of a part: magic and header */
	bool part;
	uint32_t events;
	uint8_t flags;
	uint64_t first_ns, last_ns;
};

#define PACKET_ROOM (BLOCK_HEADER_BYTES + PREAMBLE_BYTES)

/* Bodies that wait, in bytes: the more, the more is lost when the process is killed. */
#define DELIVER_QUEUE_BYTES (2u * 1024 * 1024)

/* out is the thread's from now on, if this succeeds. It has its first header, of so many bytes. */
int deliver_new(struct log_output *out, const struct log_compression *compression, uint64_t bytes,
		struct deliver **ret);

/* An empty one, with room for the headers; NULL: no memory. packet_free accepts NULL. */
struct packet *deliver_packet(struct deliver *d);
void packet_free(struct packet *p);

/* Takes the packet. Waits only while the queue is full. */
void deliver_put(struct deliver *d, struct packet *p);
/* Waits until all is written. The first error of all. */
int deliver_wait(struct deliver *d);
int deliver_error(const struct deliver *d); /* the first one, without waiting */

struct deliver_room {
	uint64_t used;   /* bytes of this part: written, and index and end that it will need */
	uint64_t queued; /* that the packets on the way will take at most */
};
void deliver_room(struct deliver *d, struct deliver_room *ret);
/* All but the events. */
void deliver_stats(struct deliver *d, struct log_writer_stats *ret);

/* Waits, writes index and end of file. Nothing may be put after it. The first error. */
int deliver_finish(struct deliver *d);
/* Calls with the output when all has been written, while nothing else is. */
int deliver_call(struct deliver *d, int (*call)(struct log_output *, void *), void *ctx);
/* Writes what waits, ends the thread, closes the output. The first error. Accepts NULL. */
int deliver_free(struct deliver *d);
