#include "log/check/log_repair.h"

#include <errno.h>
#include <inttypes.h>
#include <msgpack.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/check/body.h"
#include "log/check/check.h"
#include "log/check/rewrite.h"
#include "log/format/codec.h"
#include "log/format/header.h"
#include "log/format/object_record.h"
#include "log/objects/object_body.h"
#include "log/read/stream.h"
#include "log/write/index.h"
#include "log/write/output.h"

struct repair {
	const struct log_repair_options *options;
	const struct log_check *sum;
	struct log_repair *done;
	struct stream in;
	uint64_t gaps, gap_bytes;
	uint32_t last_kind; /* of a block in the damaged log */
	uint32_t expected;  /* sequence number in the damaged log */
	struct log_output *out;
	uint32_t sequence; /* in the new one */
	bool indexed;
	struct log_index index;
	uint64_t last_index;
	struct body body;
	struct object_body objects;
	struct codec *codec;
	msgpack_sbuffer raw; /* the body with other texts */
	msgpack_sbuffer buf; /* a block */
	uint64_t last_ns;    /* of what has been written */
	uint64_t lost;       /* events, at least */
	bool hole;           /* what was open before is not known any more */
	bool headed; /* a note about the header is the first event, and the only one so far */
	bool noted;  /* text is to be written */
	char text[256];
};

static int write_sealed(struct repair *r, const struct sealed *s)
{
	int err = r->out->ops->write(r->out, s);

	r->done->write_failed |= err != 0;
	return err;
}

/* A block is in r->buf: its header's room, then the payload. */
static int put_block(struct repair *r, struct block *b, const struct preamble *p)
{
	struct sealed s = {.kind = b->kind, .sequence = r->sequence, .events = b->events};
	uint64_t offset = r->out->bytes;
	int err;

	if (r->buf.size - BLOCK_HEADER_BYTES > BLOCK_PAYLOAD_MAX)
		return -EFBIG;
	b->sequence = r->sequence;
	b->length = (uint32_t)(r->buf.size - BLOCK_HEADER_BYTES);
	block_seal(b, (uint8_t *)r->buf.data);
	s.bytes = (const uint8_t *)r->buf.data;
	s.count = r->buf.size;
	if (p) {
		s.flags = p->flags;
		s.first_ns = p->first_ns;
		s.last_ns = p->last_ns;
	}
	err = write_sealed(r, &s);
	if (err)
		return err;
	r->sequence++;
	return r->indexed ? log_index_add(&r->index, offset, &s) : 0;
}

static int put_index(struct repair *r)
{
	struct sealed s;
	uint64_t offset = r->out->bytes;
	int err;

	log_index_seal(&r->index, r->sequence, &s);
	err = write_sealed(r, &s);
	if (err)
		return err;
	r->sequence++;
	r->last_index = offset;
	return log_index_begin(&r->index, offset);
}

static int put_end(struct repair *r)
{
	uint8_t bytes[BLOCK_HEADER_BYTES + LOG_END_BYTES];
	struct sealed s;
	int err = r->indexed ? put_index(r) : 0;

	if (err || !r->indexed)
		return err;
	log_end_seal(r->last_index, r->sequence, bytes, &s);
	return write_sealed(r, &s);
}

static int begin_block(struct repair *r)
{
	static const char room[BLOCK_HEADER_BYTES];

	msgpack_sbuffer_clear(&r->buf);
	return msgpack_sbuffer_write(&r->buf, room, sizeof(room)) ? -ENOMEM : 0;
}

/* The events note and lost, in a block of their own, that say what is missing here. */
static int put_note(struct repair *r)
{
	struct block b = {.kind = BLOCK_KIND_EVENTS, .events = r->lost ? 2 : 1};
	size_t length = strlen(r->text);
	msgpack_packer pk;
	int err = begin_block(r);

	msgpack_packer_init(&pk, &r->buf, msgpack_sbuffer_write);
	if (err || msgpack_pack_array(&pk, 1) || msgpack_pack_uint64(&pk, r->last_ns) ||
	    msgpack_pack_array(&pk, 5) || msgpack_pack_int(&pk, EVENT_NOTE) ||
	    msgpack_pack_int(&pk, 0) || msgpack_pack_int(&pk, 0) ||
	    msgpack_pack_int(&pk, NOTE_LEVEL_WARNING) ||
	    msgpack_pack_str_with_body(&pk, r->text, length))
		return -ENOMEM;
	if (r->lost &&
	    (msgpack_pack_array(&pk, 6) || msgpack_pack_int(&pk, EVENT_LOST) ||
	     msgpack_pack_int(&pk, 0) || msgpack_pack_int(&pk, 0) || msgpack_pack_int(&pk, 0) ||
	     msgpack_pack_int(&pk, LOST_PLACE_LOG) || msgpack_pack_uint64(&pk, r->lost)))
		return -ENOMEM;
	r->noted = false;
	return put_block(r, &b, NULL);
}

/* Something is missing: the note of it goes in front of the next block, when its time is known. */
static int __attribute__((format(printf, 3, 4)))
note(struct repair *r, uint64_t events, const char *format, ...)
{
	va_list args;
	int err = r->noted ? put_note(r) : 0;

	r->done->holes++;
	r->hole = r->noted = true;
	r->lost += events;
	va_start(args, format);
	vsnprintf(r->text, sizeof(r->text), format, args);
	va_end(args);
	return err;
}

/* The last index and the end of file have no events that could be lost with them. */
static bool is_made_anew(const struct repair *r, const struct block *b, uint64_t bytes,
			 uint32_t lost)
{
	if (b)
		return b->kind == BLOCK_KIND_END && lost == 1;
	return r->last_kind == BLOCK_KIND_INDEX && bytes <= BLOCK_HEADER_BYTES + LOG_END_BYTES;
}

static int note_gap(struct repair *r, const struct block *b)
{
	uint64_t bytes = r->in.gap_bytes - r->gap_bytes;
	uint32_t lost = b ? b->sequence - r->expected : 0;
	bool gap = r->in.gaps > r->gaps;

	r->gaps = r->in.gaps;
	r->gap_bytes = r->in.gap_bytes;
	/* A header that is damaged is none of the events' business. */
	if (b && !r->expected) {
		r->expected = 1;
		lost = lost ? lost - 1 : 0;
		gap = gap && lost;
	}
	if ((!lost && !gap) || is_made_anew(r, b, bytes, lost))
		return 0;
	/* No event is lost between blocks that follow each other, nor after the end of file. */
	if (!lost)
		return note(r, b || r->last_kind == BLOCK_KIND_END ? 0 : 1,
			    "spoor repair: %" PRIu64 " damaged bytes were left out here", bytes);
	return note(r, lost,
		    lost == 1 ? "spoor repair: block %" PRIu32 " is damaged or missing, with all "
				"its events"
			      : "spoor repair: blocks %" PRIu32 " to %" PRIu32
				" are damaged or missing, with all their events",
		    r->expected, r->expected + lost - 1);
}

/* The body, decompressed: lent until the next block. */
static int body_bytes(struct repair *r, const uint8_t **ret, size_t *ret_count)
{
	int err;

	*ret = r->body.begin;
	*ret_count = (size_t)(r->body.in.end - r->body.begin);
	if (!r->options->rewrite)
		return 0;
	msgpack_sbuffer_clear(&r->raw);
	err = rewrite_body(r->options->rewrite, r->body.begin, r->body.in.end, &r->raw);
	*ret = (const uint8_t *)r->raw.data;
	*ret_count = r->raw.size;
	return err ? err : r->raw.size > BLOCK_PAYLOAD_MAX ? -EFBIG : 0;
}

/* The body as it is in memory, for a block whose definitions and other events are mixed. */
static int copy_plain(struct repair *r, struct block *b)
{
	const uint8_t *bytes;
	size_t count;
	int err = body_bytes(r, &bytes, &count);

	b->kind = BLOCK_KIND_EVENTS;
	return err ? err : msgpack_sbuffer_write(&r->buf, (const char *)bytes, count) ? -ENOMEM : 0;
}

/* The preamble and the body, compressed as it was. */
static int pack_anew(struct repair *r, struct preamble *p)
{
	uint8_t head[PREAMBLE_BYTES], *packed = NULL;
	const uint8_t *bytes;
	size_t count, room = 0, used = 0;
	int err = body_bytes(r, &bytes, &count);

	if (err)
		return err;
	if (p->codec != BLOCK_CODEC_NONE) {
		room = codec_bound((enum block_codec)p->codec, count);
		packed = malloc(room);
		err = packed ? 0 : -ENOMEM;
		if (!err && !r->codec)
			err = codec_new(&r->codec);
		if (!err)
			err = codec_compress(r->codec, (enum block_codec)p->codec, 0, bytes, count,
					     packed, room, &used);
	}
	p->raw_bytes = (uint32_t)count;
	preamble_put(p, head);
	if (!err &&
	    (msgpack_sbuffer_write(&r->buf, (const char *)head, sizeof(head)) ||
	     msgpack_sbuffer_write(&r->buf, packed ? (const char *)packed : (const char *)bytes,
				   packed ? used : count)))
		err = -ENOMEM;
	free(packed);
	return err;
}

static int copy_packed(struct repair *r, const struct block *b, struct preamble *ret)
{
	struct preamble p = r->body.preamble;
	uint8_t bytes[PREAMBLE_BYTES];

	p.first_ns = r->body.first_ns;
	p.last_ns = r->body.last_ns;
	p.flags &= BLOCK_SYNC;
	if (r->body.events && r->body.definitions == r->body.events)
		p.flags = BLOCK_DEFINITIONS;
	if ((r->hole || r->headed) && p.flags & BLOCK_SYNC) {
		p.flags = 0;
		r->hole = false;
	}
	*ret = p;
	if (r->options->rewrite)
		return pack_anew(r, ret);
	preamble_put(&p, bytes);
	return msgpack_sbuffer_write(&r->buf, (const char *)bytes, sizeof(bytes)) ||
			       msgpack_sbuffer_write(&r->buf,
						     (const char *)b->payload + PREAMBLE_BYTES,
						     b->length - PREAMBLE_BYTES)
		       ? -ENOMEM
		       : 0;
}

static bool is_mixed(const struct repair *r)
{
	return r->body.definitions && r->body.definitions < r->body.events;
}

/* The contents have been looked at, and are good. */
static int keep_block(struct repair *r, const struct block *from)
{
	bool packed = from->kind == BLOCK_KIND_PACKED;
	bool mixed = is_mixed(r);
	struct block b = *from;
	struct preamble p = {0};
	int err;

	if (r->body.events && !r->done->events && !r->last_ns)
		r->last_ns = r->body.first_ns;
	err = r->noted ? put_note(r) : 0;
	err = err ? err : begin_block(r);
	if (err)
		return err;
	if (packed && !mixed)
		err = copy_packed(r, from, &p);
	else
		err = copy_plain(r, &b);
	err = err ? err : put_block(r, &b, packed && !mixed ? &p : NULL);
	if (err)
		return err;
	if (!(p.flags & BLOCK_DEFINITIONS))
		r->headed = false;
	r->done->blocks++;
	r->done->events += r->body.events;
	if (r->body.events)
		r->last_ns = r->body.last_ns;
	return r->indexed && r->index.count >= LOG_INDEX_BLOCKS ? put_index(r) : 0;
}

/* They build on each other, but readers know what is missing by the numbers in them. */
static int repair_objects(struct repair *r, const struct block *from)
{
	struct object_record record;
	struct block b = *from;
	int err = object_body_open(&r->objects, from);

	if (r->options->rewrite)
		return note(r, 0, "object events were left out: their names cannot be replaced");
	while (!err && (err = object_body_next(&r->objects, &record)) == 1)
		err = 0;
	if (err == -ENOMEM)
		return err;
	if (err) {
		r->done->blocks_dropped++;
		return note(r, 0, "spoor repair: block %" PRIu32 " of object events was left out",
			    b.sequence);
	}
	err = r->noted ? put_note(r) : 0;
	err = err ? err : begin_block(r);
	if (!err && msgpack_sbuffer_write(&r->buf, (const char *)b.payload, b.length))
		err = -ENOMEM;
	err = err ? err : put_block(r, &b, NULL);
	if (!err)
		r->done->blocks++;
	return err;
}

static int repair_block(struct repair *r, const struct block *b)
{
	struct event e;
	int err;

	if (b->kind != BLOCK_KIND_EVENTS && b->kind != BLOCK_KIND_PACKED) {
		if (b->kind == BLOCK_KIND_OBJECTS)
			return repair_objects(r, b);
		if (b->kind <= BLOCK_KIND_END && b->kind)
			return 0; /* made anew */
		return note(r, b->events, "spoor repair: a block of an unknown kind was left out");
	}
	err = body_open(&r->body, b);
	while (!err && (err = body_next(&r->body, &e)) == 1)
		err = 0;
	if (!err && is_mixed(r) && r->body.preamble.flags & BLOCK_SYNC) {
		err = -EBADMSG;
		r->body.why = "its definitions and other events are mixed";
	}
	if (!err)
		return keep_block(r, b);
	if (err != -EBADMSG && err != -ENOTSUP)
		return err;
	r->done->blocks_dropped++;
	return note(r, b->events,
		    "spoor repair: block %" PRIu32 " was left out with its %" PRIu32 " events: %s",
		    b->sequence, b->events,
		    err == -ENOTSUP ? "it cannot be decompressed here" : r->body.why);
}

static int repair_blocks(struct repair *r)
{
	struct block b;
	int err = stream_need(&r->in, LOG_MAGIC_BYTES);

	if (err == 1 && !memcmp(stream_bytes(&r->in), LOG_MAGIC, LOG_MAGIC_BYTES))
		err = stream_seek(&r->in, LOG_MAGIC_BYTES);
	if (err < 0)
		return err;
	while ((err = stream_block(&r->in, r->expected, &b)) == 1) {
		err = note_gap(r, &b);
		err = err ? err : repair_block(r, &b);
		if (err)
			return err;
		r->expected = b.sequence + 1;
		r->last_kind = b.kind;
	}
	err = err ? err : note_gap(r, NULL);
	if (!err && r->lost < r->sum->lost_events)
		r->lost = r->sum->lost_events; /* by the index */
	return !err && r->noted ? put_note(r) : err;
}

static json_t *header_make(const struct repair *r)
{
	const struct log_check *sum = r->sum;
	const json_t *from = sum->header ? sum->header : r->options->header;
	json_t *header = from ? json_deep_copy(from) : json_object();
	const char *origin = sum->header ? "kept" : from ? "another log's" : "made anew";

	/* A copy lacks, in silence, the keys for which there was no memory. */
	if (from && !json_equal(header, from)) {
		json_decref(header);
		return NULL;
	}
	if (header && r->options->rewrite) {
		if (!r->options->rewrite->header(r->options->rewrite->ctx, header))
			return header;
		json_decref(header);
		return NULL;
	}
	if (header && !sum->header)
		json_object_del(header, "part"); /* this one's is not known */
	if (json_object_set_new(header, "repaired",
				json_pack("{ss, ss, sI, sI, sI}", "spoor", r->options->spoor,
					  "header", origin, "blocks_damaged",
					  (json_int_t)sum->blocks_damaged, "blocks_missing",
					  (json_int_t)sum->blocks_missing, "bytes_skipped",
					  (json_int_t)sum->bytes_skipped))) {
		json_decref(header);
		return NULL;
	}
	return header;
}

/* The magic and the header block. */
static int put_header(struct repair *r)
{
	const char *features[BLOCK_CODEC_COUNT + 2] = {0};
	struct block b = {.kind = BLOCK_KIND_HEADER};
	json_t *header = header_make(r);
	unsigned count = 0;
	int err = header ? 0 : -ENOMEM;

	if (r->indexed)
		features[count++] = FEATURE_PACKED;
	if (r->sum->blocks_relative)
		features[count++] = FEATURE_RELATIVE;
	for (int i = BLOCK_CODEC_NONE + 1; i < BLOCK_CODEC_COUNT; i++)
		if (r->sum->codec_blocks[i])
			features[count++] = codec_name((enum block_codec)i);
	if (!err && (msgpack_sbuffer_write(&r->buf, LOG_MAGIC, LOG_MAGIC_BYTES) ||
		     msgpack_sbuffer_write(&r->buf, (const char[BLOCK_HEADER_BYTES]){0},
					   BLOCK_HEADER_BYTES)))
		err = -ENOMEM;
	err = err ? err : header_pack(&r->buf, header, features);
	json_decref(header);
	if (err)
		return err;
	b.length = (uint32_t)(r->buf.size - LOG_MAGIC_BYTES - BLOCK_HEADER_BYTES);
	block_seal(&b, (uint8_t *)r->buf.data + LOG_MAGIC_BYTES);
	err = r->out->ops->part(r->out, (const uint8_t *)r->buf.data, r->buf.size);
	r->done->write_failed |= err != 0;
	r->sequence = 1;
	return err;
}

static int run(struct repair *r)
{
	int err = r->indexed ? log_index_begin(&r->index, 0) : 0;

	if (!r->sum->header) {
		r->noted = r->headed = true;
		snprintf(r->text, sizeof(r->text),
			 "spoor repair: the header was damaged; what is said of host, JVM and "
			 "sources is %s",
			 r->options->header ? "another log's" : "missing");
	}
	err = err ? err : put_header(r);
	err = err ? err : repair_blocks(r);
	return err ? err : put_end(r);
}

static int run_to(struct repair *r, const char *output, bool overwrite)
{
	int err = output_file_open(output, overwrite, &r->out), end;

	if (err) {
		r->done->write_failed = true;
		return err;
	}
	r->done->opened = true;
	err = run(r);
	r->done->bytes = r->out->bytes;
	end = r->out->ops->close(r->out);
	r->done->write_failed |= !err && end;
	return err ? err : end;
}

int log_repair(const struct log_repair_options *o, const struct log_check *sum,
	       struct log_repair *ret)
{
	struct repair r = {.options = o, .sum = sum, .done = ret};
	int err;

	*ret = (struct log_repair){0};
	err = stream_open(&r.in, o->path);
	if (err)
		return err;
	r.indexed = sum->blocks_of[BLOCK_KIND_PACKED] > 0;
	msgpack_sbuffer_init(&r.buf);
	msgpack_sbuffer_init(&r.raw);
	log_index_init(&r.index);
	err = run_to(&r, o->output, o->overwrite);
	log_index_free(&r.index);
	msgpack_sbuffer_destroy(&r.buf);
	msgpack_sbuffer_destroy(&r.raw);
	codec_free(r.codec);
	body_free(&r.body);
	object_body_free(&r.objects);
	stream_close(&r.in);
	return err;
}
