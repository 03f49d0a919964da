/*
 * Two blocks are open: one of definitions, one of all other events. The definitions are handed over
 * first, always: whatever events are in the file, the names that they need are in it before them.
 *
 * A log in parts is cut here, where the definitions of the next part come from, while what has been
 * written is known only to the thread that compresses (writer_thread.c). So near the end of a part
 * the thread is waited for: a part never gets larger than its share, and is smaller by a few blocks
 * at most, of which each is 1/32 of a part or less, and the texts of one event. (The recorder's
 * have 4 KiB each at most. With 64 KiB, parts of less than 2 MiB would keep less than is promised.)
 */
#include "log/write/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "log/format/block.h"
#include "log/format/event.h"
#include "log/format/header.h"
#include "log/state/carried.h"
#include "log/write/output.h"
#include "log/write/pack.h"
#include "log/write/writer_thread.h"

#define BLOCK_BYTES_MIN (8 * 1024)
#define BLOCKS_PER_PART 32
#define RECORDING_BYTES 16

enum { DEFINITIONS, OTHERS, OPEN_COUNT };

struct log_writer {
	struct log_writer_options o;
	struct writer_thread *deliver;
	struct carried_definitions *carry; /* NULL: one file, and no blocks of synchronization */
	struct open_block open[OPEN_COUNT];
	int err; /* the first one of this side */
	bool syncing;
	bool closed; /* a block, since that was looked at */
	uint32_t block_bytes;
	uint64_t events;
	uint64_t newest_ns; /* time of the newest event */
	uint64_t synced_ns; /* newest_ns at the last block of synchronization */

	json_t *header;      /* of parts: that of the next one */
	uint64_t part_bytes; /* 0: no parts */
	uint64_t part_ns;    /* 0: a part may last as long as it likes */
	uint64_t part_begin_ns;
	uint64_t part_least; /* bytes: below this no offer to cut the part is taken */
	uint32_t part;
	bool cutting;
	struct log_writer_parts parts;
};

/* --- what a file begins with ------------------------------------------------------------------ */

/* The magic and the header block, in an empty buffer. */
static int pack_header(const struct log_writer *w, const json_t *header, msgpack_sbuffer *buf)
{
	static const char *const features[BLOCK_CODEC_COUNT][5] = {
		[BLOCK_CODEC_NONE] = {FEATURE_PACKED, FEATURE_RELATIVE},
		[BLOCK_CODEC_LZ4] = {FEATURE_PACKED, FEATURE_RELATIVE, "lz4"},
		[BLOCK_CODEC_ZSTD] = {FEATURE_PACKED, FEATURE_RELATIVE, "lz4", "zstd"},
	};
	static const char room[BLOCK_HEADER_BYTES];
	struct block b = {.kind = BLOCK_KIND_HEADER};
	int err;

	if (msgpack_sbuffer_write(buf, LOG_MAGIC, LOG_MAGIC_BYTES) ||
	    msgpack_sbuffer_write(buf, room, sizeof(room)))
		return -ENOMEM;
	err = header_pack(buf, header, features[w->o.compression.codec]);
	if (err)
		return err;
	if (buf->size - LOG_MAGIC_BYTES - sizeof(room) > BLOCK_PAYLOAD_MAX)
		return -E2BIG;
	b.length = (uint32_t)(buf->size - LOG_MAGIC_BYTES - sizeof(room));
	block_seal(&b, (uint8_t *)buf->data + LOG_MAGIC_BYTES);
	return 0;
}

static int name_recording(char text[2 * RECORDING_BYTES + 1])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t bytes[RECORDING_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -errno;
	for (unsigned i = 0; i < sizeof(bytes); i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	text[2 * RECORDING_BYTES] = '\0';
	return 0;
}

/* A copy with the key "part" of the first one. */
static int header_of_parts(const json_t *header, json_t **ret)
{
	const json_t *start = json_object_get(header, "start_mono_ns");
	char recording[2 * RECORDING_BYTES + 1];
	json_t *copy, *part;
	int err = name_recording(recording);

	if (err)
		return err;
	copy = json_copy((json_t *)header); /* jansson takes no const, though it only reads */
	part = json_pack("{s:s, s:i, s:I}", "recording", recording, "number", 1, "begin_ns",
			 json_integer_value(start));
	/* A copy lacks, in silence, the keys for which there was no memory. */
	if (json_object_size(copy) != json_object_size(header) || !part ||
	    json_object_set(copy, "part", part)) {
		json_decref(copy);
		json_decref(part);
		return -ENOMEM;
	}
	json_decref(part);
	*ret = copy;
	return 0;
}

static int header_next(struct log_writer *w)
{
	json_t *part = json_object_get(w->header, "part");

	return json_object_set_new(part, "number", json_integer(w->part)) ||
			       json_object_set_new(part, "begin_ns",
						   json_integer((json_int_t)w->newest_ns))
		       ? -ENOMEM
		       : 0;
}

/* --- handing over ----------------------------------------------------------------------------- */

static void hand_over(struct log_writer *w, unsigned which)
{
	struct packet *p = w->open[which].packet;

	if (!p || !p->events)
		return;
	w->open[which].packet = NULL;
	p->flags = which == DEFINITIONS ? BLOCK_DEFINITIONS : w->syncing ? BLOCK_SYNC : 0;
	writer_thread_put(w->deliver, p);
	w->closed = true;
}

static void hand_over_all(struct log_writer *w)
{
	hand_over(w, DEFINITIONS);
	hand_over(w, OTHERS);
}

static int add(struct log_writer *w, const struct event *e)
{
	unsigned which = schema_is_definition(e->id) ? DEFINITIONS : OTHERS;
	struct open_block *b = &w->open[which];
	struct packet *p;
	int err;

	if (!b->packet) {
		p = writer_thread_packet(w->deliver);
		if (!p)
			return -ENOMEM;
		open_block_begin(b, p);
	}
	err = open_block_add(b, e);
	if (err || b->packet->buf.size - PACKET_ROOM < w->block_bytes)
		return err;
	hand_over(w, DEFINITIONS);
	if (which != DEFINITIONS)
		hand_over(w, which);
	return 0;
}

static int add_emitted(void *ctx, const struct event *e)
{
	return add(ctx, e);
}

/* --- parts and blocks of synchronization -------------------------------------------------- */

static int write_sync(struct log_writer *w)
{
	int err;

	hand_over_all(w);
	w->syncing = true;
	err = carried_open(w->carry, add_emitted, w);
	if (!err)
		hand_over_all(w);
	w->syncing = false;
	w->synced_ns = w->newest_ns;
	return err;
}

static uint64_t open_bytes(const struct log_writer *w)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < OPEN_COUNT; i++)
		if (w->open[i].packet)
			bytes += codec_bound(w->o.compression.codec, w->open[i].packet->buf.size);
	return bytes;
}

/* What a part may have. Where others offer moments to cut it, any other moment may cost much. */
static uint64_t part_most(const struct log_writer *w)
{
	uint64_t half = w->o.max_bytes / 2;

	return w->parts.begun && half > w->part_bytes ? half : w->part_bytes;
}

/* True: two blocks more than what is open may not fit into this part. */
static bool part_is_full(struct log_writer *w)
{
	uint64_t need = open_bytes(w) + 2 * (uint64_t)w->block_bytes;
	uint64_t most = part_most(w);
	struct writer_thread_room room;

	if (w->part_ns && w->newest_ns - w->part_begin_ns >= w->part_ns)
		return true;
	writer_thread_room(w->deliver, &room);
	if (room.used + room.queued + need <= most)
		return false;
	writer_thread_wait(w->deliver);
	writer_thread_room(w->deliver, &room);
	return room.used + need > most;
}

/* What others begin a part with may be more than its share: as much again comes before a cut. */
static void begin_parts(struct log_writer *w)
{
	struct writer_thread_room room;

	if (!w->parts.begun)
		return;
	w->parts.begun(w->parts.ctx);
	writer_thread_wait(w->deliver);
	writer_thread_room(w->deliver, &room);
	w->part_least = 2 * room.used;
}

static int begin_part(struct log_writer *w)
{
	struct packet *p;
	int err;

	if (w->parts.ends)
		w->parts.ends(w->parts.ctx);
	hand_over_all(w);
	w->part++;
	w->part_begin_ns = w->newest_ns;
	err = header_next(w);
	if (err)
		return err;
	p = writer_thread_packet(w->deliver);
	if (!p)
		return -ENOMEM;
	p->part = true;
	msgpack_sbuffer_clear(&p->buf);
	err = pack_header(w, w->header, &p->buf);
	if (err) {
		packet_free(p);
		return err;
	}
	writer_thread_put(w->deliver, p);
	carried_cut(w->carry);
	err = write_sync(w);
	if (!err)
		begin_parts(w);
	return err;
}

static int cut(struct log_writer *w)
{
	int err;

	w->cutting = true;
	err = begin_part(w);
	w->cutting = false;
	return err;
}

/* A block has just been closed: is it time for a new part, or for a synchronization? */
static int after_block(struct log_writer *w)
{
	int err = 0;

	if (w->part_bytes && part_is_full(w))
		err = cut(w);
	else if (w->o.sync_ns && w->newest_ns - w->synced_ns >= w->o.sync_ns)
		err = write_sync(w);
	w->closed = false;
	return err;
}

/* --- the public side --------------------------------------------------------------------- */

static unsigned part_count(unsigned deviation_pct)
{
	return (100 + deviation_pct - 1) / deviation_pct;
}

uint64_t log_writer_least_bytes(unsigned deviation_pct)
{
	return (uint64_t)part_count(deviation_pct ? deviation_pct : LOG_DEVIATION_PCT) *
	       LOG_PART_BYTES_MIN;
}

/* How large blocks and parts are. */
static int plan(struct log_writer *w)
{
	struct log_writer_options *o = &w->o;
	uint64_t block;
	unsigned parts;

	if (!o->deviation_pct)
		o->deviation_pct = LOG_DEVIATION_PCT;
	w->block_bytes = o->block_bytes ? o->block_bytes : LOG_BLOCK_BYTES;
	if (o->deviation_pct > 100 || (o->keep_ns && (!o->max_bytes || !o->output)) ||
	    w->block_bytes > BLOCK_PAYLOAD_MAX / 2)
		return -EDOM;
	if (!o->max_bytes)
		return 0;
	if (o->max_bytes < log_writer_least_bytes(o->deviation_pct))
		return -EDOM;
	parts = part_count(o->deviation_pct);
	w->part = 1;
	w->part_bytes = o->max_bytes / parts;
	w->part_ns = o->keep_ns / parts;
	block = w->part_bytes / BLOCKS_PER_PART;
	if (block < w->block_bytes)
		w->block_bytes = (uint32_t)(block < BLOCK_BYTES_MIN ? BLOCK_BYTES_MIN : block);
	/* So that deleting one part for the first block of the next does not delete too much. */
	w->part_bytes -= 2 * (uint64_t)w->block_bytes;
	return 0;
}

static int open_output(struct log_writer *w, struct log_output **ret)
{
	struct log_writer_options *o = &w->o;

	if (o->output) {
		*ret = o->output;
		return 0;
	}
	if (o->max_bytes)
		return output_parts_open(o->path, o->overwrite, o->max_bytes, ret);
	return output_file_open(o->path, o->overwrite, ret);
}

static int begin(struct log_writer *w, const json_t *header, struct log_output *out)
{
	msgpack_sbuffer buf;
	int err = 0;

	msgpack_sbuffer_init(&buf);
	if (w->part_bytes)
		err = json_is_object(header) ? header_of_parts(header, &w->header) : -EINVAL;
	if (!err && (w->part_bytes || w->o.sync_ns))
		err = carried_new(w->o.carry, &w->carry);
	if (!err)
		err = pack_header(w, w->header ? w->header : header, &buf);
	if (!err)
		err = out->ops->part(out, (uint8_t *)buf.data, buf.size);
	if (!err)
		err = writer_thread_new(out, &w->o.compression, buf.size, &w->deliver);
	if (err) {
		/* A log without a header is of no use to anybody. */
		if (out->ops->discard)
			out->ops->discard(out);
		out->ops->close(out);
	}
	msgpack_sbuffer_destroy(&buf);
	return err;
}

static void writer_free(struct log_writer *w)
{
	for (unsigned i = 0; i < OPEN_COUNT; i++)
		open_block_free(&w->open[i]);
	carried_free(w->carry);
	json_decref(w->header);
	free(w);
}

int log_writer_open(const struct log_writer_options *o, const json_t *header,
		    struct log_writer **ret)
{
	struct log_output *out = o->output;
	struct log_writer *w = calloc(1, sizeof(*w));
	int err = w ? 0 : -ENOMEM;

	if (!err) {
		w->o = *o;
		err = plan(w);
	}
	if (!err)
		err = open_output(w, &out);
	if (!err) {
		err = begin(w, header, out);
		out = NULL;
	}
	if (err) {
		if (out)
			out->ops->close(out);
		if (w)
			writer_free(w);
		return err;
	}
	*ret = w;
	return 0;
}

void log_write(struct log_writer *w, const struct event *e)
{
	if (w->err)
		return;
	if (w->o.watch)
		w->o.watch(w->o.watch_ctx, e);
	if (!w->events && !w->newest_ns)
		w->newest_ns = w->synced_ns = w->part_begin_ns = e->time_ns;
	if (w->carry)
		w->err = carried_event(w->carry, e, add_emitted, w);
	if (!w->err && !(w->carry && schema_is_definition(e->id)))
		w->err = add(w, e);
	if (w->err)
		return;
	w->events++;
	if (e->time_ns > w->newest_ns)
		w->newest_ns = e->time_ns;
	if (w->closed && w->carry)
		w->err = after_block(w);
}

void log_forget(struct log_writer *w, uint16_t event, uint64_t number)
{
	if (w->carry)
		carried_forget(w->carry, event, number);
}

bool log_definition(struct log_writer *w, uint16_t event, uint64_t number, struct event *ret)
{
	return w->carry && carried_find(w->carry, event, number, ret);
}

struct packet *log_writer_packet(struct log_writer *w)
{
	return writer_thread_packet(w->deliver);
}

void log_writer_put(struct log_writer *w, struct packet *p)
{
	if (w->err) {
		packet_free(p);
		return;
	}
	writer_thread_put(w->deliver, p);
	if (w->part_bytes && !w->cutting && part_is_full(w))
		w->err = cut(w);
}

void log_writer_offer_cut(struct log_writer *w)
{
	struct writer_thread_room room;

	if (w->err || !w->part_bytes || w->cutting)
		return;
	writer_thread_room(w->deliver, &room);
	if (room.used + room.queued > w->part_bytes / 4 * 3 && room.used > w->part_least)
		w->err = cut(w);
}

void log_writer_set_parts(struct log_writer *w, const struct log_writer_parts *p)
{
	w->parts = *p;
}

bool log_writer_has_parts(const struct log_writer *w)
{
	return w->part_bytes != 0;
}

void log_writer_flush(struct log_writer *w)
{
	if (w->err)
		return;
	hand_over_all(w);
	if (w->closed && w->carry)
		w->err = after_block(w);
}

int log_writer_error(const struct log_writer *w)
{
	return w->err ? w->err : writer_thread_error(w->deliver);
}

void log_writer_stats(const struct log_writer *w, struct log_writer_stats *ret)
{
	writer_thread_stats(w->deliver, ret);
	ret->events = w->events;
}

int log_writer_sync(struct log_writer *w)
{
	int err;

	log_writer_flush(w);
	err = writer_thread_wait(w->deliver);
	return w->err ? w->err : err;
}

int log_writer_finish(struct log_writer *w)
{
	int err;

	if (!w->err)
		hand_over_all(w);
	err = writer_thread_finish(w->deliver);
	return w->err ? w->err : err;
}

int log_writer_call(struct log_writer *w, int (*call)(struct log_output *, void *), void *ctx)
{
	log_writer_flush(w);
	return w->err ? w->err : writer_thread_call(w->deliver, call, ctx);
}

int log_writer_close(struct log_writer *w)
{
	int err, first;

	if (!w)
		return 0;
	first = log_writer_finish(w);
	err = writer_thread_free(w->deliver);
	writer_free(w);
	return first ? first : err;
}
