#include "log/check/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/check/body.h"
#include "log/check/check_index.h"
#include "log/check/check_numbers.h"
#include "log/format/codec.h"
#include "log/format/header.h"
#include "log/format/object_record.h"
#include "log/objects/object_body.h"
#include "log/read/stream.h"

struct check {
	struct log_check *sum;
	check_report report;
	void *ctx;
	struct stream in;
	uint64_t begin;    /* of the block in hand */
	uint64_t end;      /* of the last one */
	uint32_t sequence; /* that comes next, if none is missing */
	uint64_t gaps, gap_bytes;
	bool damaged_since_index;
	bool damaged;        /* anything was, so that numbers may lack their definitions */
	uint64_t behind_end; /* events after the event end */
	struct body body;
	struct object_body objects;
	struct check_blocks blocks;
	struct check_seen seen;
};

static void __attribute__((format(printf, 4, 5)))
find(struct check *c, enum check_weight weight, const struct block *b, const char *format, ...)
{
	struct check_finding f = {.weight = weight, .offset = c->begin};
	va_list args;

	if (b) {
		f.in_block = true;
		f.sequence = b->sequence;
	}
	if (weight == CHECK_DAMAGE) {
		c->sum->damage++;
		c->damaged = c->damaged_since_index = true;
	} else {
		c->sum->doubts++;
	}
	if (!c->report)
		return;
	va_start(args, format);
	vsnprintf(f.text, sizeof(f.text), format, args);
	va_end(args);
	c->report(c->ctx, &f);
}

/* What is between the last block and this one (NULL: the end). */
static void check_gap(struct check *c, const struct block *b)
{
	uint64_t bytes = c->in.gap_bytes - c->gap_bytes, lost;
	bool gap = c->in.gaps > c->gaps;

	c->gaps = c->in.gaps;
	c->gap_bytes = c->in.gap_bytes;
	if (gap) {
		c->sum->blocks_damaged++;
		c->sum->bytes_skipped += bytes;
		c->begin = c->end;
		find(c, CHECK_DAMAGE, NULL, "%" PRIu64 " bytes are no intact block%s", bytes,
		     b ? "" : ": the log is cut off here, or its end is damaged");
	}
	lost = b ? b->sequence - c->sequence : 0;
	if (lost > gap) {
		c->sum->blocks_missing += lost - gap;
		c->begin = c->end;
		find(c, CHECK_DAMAGE, NULL,
		     lost == 1 ? "block %" PRIu32 " is missing"
			       : "blocks %" PRIu32 " to %" PRIu32 " are missing",
		     c->sequence, b->sequence - 1);
	}
}

static bool has_feature(const struct check *c, const char *name)
{
	const json_t *features = json_object_get(c->sum->header, "features"), *feature;
	size_t i;

	if (!c->sum->header)
		return true; /* who knows */
	json_array_foreach (features, i, feature)
		if (json_is_string(feature) && !strcmp(json_string_value(feature), name))
			return true;
	return false;
}

static int check_header(struct check *c, const struct block *b)
{
	int err;

	if (c->sum->header || b->sequence || c->sum->blocks > 1) {
		find(c, CHECK_DAMAGE, b, "a header that is not at the beginning");
		return 0;
	}
	err = header_unpack(b->payload, b->length, &c->sum->header);
	if (err != -EBADMSG)
		return err;
	find(c, CHECK_DAMAGE, b, "what the header says cannot be understood");
	return 0;
}

static void add_event(struct log_check *sum, const struct event *e, bool sync)
{
	if (sync) {
		sum->events_sync++;
		return;
	}
	if (!sum->events || e->time_ns < sum->first_ns)
		sum->first_ns = e->time_ns;
	if (!sum->events || e->time_ns > sum->last_ns)
		sum->last_ns = e->time_ns;
	sum->events++;
	sum->events_unknown += !e->id;
	sum->events_of[e->id]++;
}

static int check_event(struct check *c, const struct event *e, bool sync)
{
	uint64_t back = 0;
	int err = 0;

	c->behind_end += c->sum->ended && !sync && !schema_is_definition(e->id);
	add_event(c->sum, e, sync);
	if (e->id && !sync)
		err = check_seen_add(&c->seen, e, &back);
	if (back) {
		c->sum->counters_back++;
		if (back > c->sum->counters_back_most)
			c->sum->counters_back_most = back;
	}
	if (e->id == EVENT_END)
		c->sum->ended = true;
	return err;
}

/* What the preamble promised, when all events have been seen. */
static void check_preamble(struct check *c, const struct block *b)
{
	const struct preamble *p = &c->body.preamble;
	uint32_t definitions = c->body.definitions;

	if (c->body.events && (p->first_ns != c->body.first_ns || p->last_ns != c->body.last_ns))
		find(c, CHECK_DAMAGE, b, "its times are not those of its events");
	if (p->flags & BLOCK_DEFINITIONS ? definitions < c->body.events : definitions > 0)
		find(c, CHECK_DAMAGE, b, "its definitions and other events are mixed");
	if (p->flags & (unsigned)~(BLOCK_DEFINITIONS | BLOCK_SYNC) || b->payload[22] ||
	    b->payload[23])
		find(c, CHECK_DOUBT, b, "it has flags that this version does not know");
}

static void check_codec(struct check *c, const struct block *b)
{
	const struct preamble *p = &c->body.preamble;

	if (!has_feature(c, FEATURE_PACKED))
		find(c, CHECK_DAMAGE, b, "it is packed, of which the header does not report");
	if (p->codec >= BLOCK_CODEC_COUNT)
		return;
	c->sum->codec_blocks[p->codec]++;
	c->sum->codec_bytes[p->codec] += b->length - PREAMBLE_BYTES;
	c->sum->codec_raw[p->codec] += p->raw_bytes;
	if (p->codec != BLOCK_CODEC_NONE && !has_feature(c, codec_name(p->codec)))
		find(c, CHECK_DAMAGE, b,
		     "it is compressed with %s, of which the header does not report",
		     codec_name(p->codec));
}

/* bytes_of: what the sums were before this block. */
static void share_stored(struct check *c, const struct block *b, const uint64_t *bytes_of)
{
	bool packed = b->kind == BLOCK_KIND_PACKED;
	uint64_t stored = b->length - (packed ? PREAMBLE_BYTES : 0);
	uint64_t raw = packed ? c->body.preamble.raw_bytes : stored;

	for (unsigned i = 0; i <= SCHEMA_ID_MAX && raw; i++)
		c->sum->stored_of[i] += (c->sum->bytes_of[i] - bytes_of[i]) * stored / raw;
}

/* All events of a block that has been opened. */
static int check_body(struct check *c, const struct block *b, bool sync)
{
	uint64_t before[SCHEMA_ID_MAX + 1];
	const uint8_t *at = c->body.in.at;
	struct event e;
	int err = 0;

	memcpy(before, c->sum->bytes_of, sizeof(before));
	while (!err && (err = body_next(&c->body, &e)) == 1) {
		if (!sync)
			c->sum->bytes_of[e.id] += (uint64_t)(c->body.in.at - at);
		at = c->body.in.at;
		err = check_event(c, &e, sync);
	}
	share_stored(c, b, before);
	return err;
}

static int check_events(struct check *c, const struct block *b)
{
	bool packed = b->kind == BLOCK_KIND_PACKED, sync;
	int err = body_open(&c->body, b);

	if (packed && (!err || err == -ENOTSUP))
		check_codec(c, b);
	if (!err && c->body.relative) {
		c->sum->blocks_relative++;
		if (!has_feature(c, FEATURE_RELATIVE))
			find(c, CHECK_DAMAGE, b,
			     "its numbers are relative, of which the header does not report");
	}
	sync = packed && c->body.preamble.flags & BLOCK_SYNC;
	c->sum->blocks_sync += sync;
	if (!err)
		err = check_body(c, b, sync);
	if (err == -EBADMSG) {
		c->sum->blocks_damaged++;
		find(c, CHECK_DAMAGE, b,
		     "its checksum is right, but %s (event %" PRIu32 " of %" PRIu32 ")",
		     c->body.why, c->body.events + 1, b->events);
		return 0;
	}
	if (err == -ENOTSUP) {
		find(c, CHECK_DAMAGE, b, "this version cannot decompress it: codec %u",
		     c->body.preamble.codec);
		return 0;
	}
	if (!err && packed)
		check_preamble(c, b);
	if (!err && c->body.texts_unclean)
		find(c, CHECK_DOUBT, b, "%" PRIu32 " texts are no UTF-8, or have a NUL",
		     c->body.texts_unclean);
	return err;
}

static int check_objects(struct check *c, const struct block *b)
{
	struct object_record r;
	int err = object_body_open(&c->objects, b);

	while (!err && (err = object_body_next(&c->objects, &r)) == 1)
		err = 0;
	if (err != -EBADMSG && err != -ENOTSUP)
		return err;
	c->sum->blocks_damaged++;
	find(c, CHECK_DAMAGE, b,
	     err == -ENOTSUP ? "this version cannot decompress it"
			     : "its checksum is right, but its object events are damaged");
	return 0;
}

static void check_index(struct check *c, const struct block *b)
{
	bool damaged = c->damaged_since_index;
	struct index_lost lost;
	const char *wrong = check_blocks_compare(&c->blocks, b, c->begin, &lost);

	if (wrong && !damaged)
		find(c, CHECK_DAMAGE, b, "the index is wrong: %s", wrong);
	else if (lost.blocks && !damaged)
		find(c, CHECK_DAMAGE, b, "the index is wrong: it has a block that is not there");
	if (!has_feature(c, FEATURE_PACKED))
		find(c, CHECK_DAMAGE, b, "an index, of which the header does not report");
	c->damaged_since_index = false;
	if (wrong || !lost.blocks || !damaged)
		return;
	c->sum->lost_known = true;
	c->sum->lost_events += lost.events;
}

static void check_end(struct check *c, const struct block *b)
{
	uint64_t at = 0;

	for (unsigned i = 0; i < 8 && b->length == 8; i++)
		at |= (uint64_t)b->payload[i] << 8 * i;
	if (b->length != 8)
		find(c, CHECK_DAMAGE, b, "the end of file has no place of an index");
	else if (at != c->blocks.last_index)
		find(c, CHECK_DAMAGE, b,
		     "the place that the end of file tells of the index is wrong");
}

static int remember(struct check *c, const struct block *b)
{
	struct index_entry e = {c->begin, b->length, b->sequence, b->kind, b->events, 0, 0, 0};
	struct preamble p;

	if (b->kind == BLOCK_KIND_HEADER || b->kind == BLOCK_KIND_INDEX ||
	    b->kind == BLOCK_KIND_END)
		return 0;
	if (b->kind == BLOCK_KIND_PACKED && !preamble_get(b->payload, b->length, &p)) {
		e.flags = p.flags;
		e.first_ns = p.first_ns;
		e.last_ns = p.last_ns;
	}
	return check_blocks_add(&c->blocks, &e);
}

static int check_block(struct check *c, const struct block *b)
{
	int err = remember(c, b);

	c->sum->blocks++;
	if (c->sum->closed)
		find(c, CHECK_DAMAGE, b, "a block after the end of file");
	if (b->kind && b->kind < BLOCK_KIND_COUNT)
		c->sum->blocks_of[b->kind]++;
	else
		c->sum->blocks_other++;
	if (c->sum->blocks == 1 && b->kind != BLOCK_KIND_HEADER)
		find(c, CHECK_DAMAGE, NULL, "there is no header");
	if (err)
		return err;
	switch (b->kind) {
	case BLOCK_KIND_HEADER:
		return check_header(c, b);
	case BLOCK_KIND_EVENTS:
	case BLOCK_KIND_PACKED:
		return check_events(c, b);
	case BLOCK_KIND_OBJECTS:
		return check_objects(c, b);
	case BLOCK_KIND_INDEX:
		check_index(c, b);
		break;
	case BLOCK_KIND_END:
		check_end(c, b);
		break;
	default:
		find(c, CHECK_DOUBT, b, "this version does not know blocks of kind %" PRIu32,
		     b->kind);
	}
	c->sum->closed = b->kind == BLOCK_KIND_END;
	return 0;
}

/* 1: the magic is there. 0: it is not; what is there may still have blocks. */
static int read_magic(struct check *c)
{
	int err = stream_need(&c->in, LOG_MAGIC_BYTES);

	if (err < 0)
		return err;
	if (err && !memcmp(stream_bytes(&c->in), LOG_MAGIC, LOG_MAGIC_BYTES)) {
		c->end = LOG_MAGIC_BYTES;
		return stream_seek(&c->in, c->in.offset + LOG_MAGIC_BYTES) ? -EIO : 1;
	}
	return 0;
}

static int check_blocks(struct check *c)
{
	struct block b;
	int err = read_magic(c);
	bool magic = err == 1;

	if (err < 0)
		return err;
	if (!magic)
		find(c, CHECK_DAMAGE, NULL, "it does not begin with the magic of a log");
	while ((err = stream_block(&c->in, c->sequence, &b)) == 1) {
		check_gap(c, &b);
		c->begin = c->in.offset - BLOCK_HEADER_BYTES - b.length;
		err = check_block(c, &b);
		if (err)
			return err;
		c->end = c->in.offset;
		c->sequence = b.sequence + 1;
	}
	if (err)
		return err;
	check_gap(c, NULL);
	c->begin = c->sum->bytes = c->in.offset;
	if (!c->sum->blocks && !magic)
		return -EPROTO;
	if (!c->sum->blocks)
		find(c, CHECK_DAMAGE, NULL, "there is no header");
	return 0;
}

static void check_numbers(struct check *c)
{
	static const char *const names[CHECK_NUMBER_COUNT] = {"threads", "classes", "locks",
							      "strings", "methods", "call chains"};

	for (int i = 0; i < CHECK_NUMBER_COUNT; i++) {
		struct check_numbers *n = &c->sum->numbers[i];

		check_seen_count(&c->seen, (enum check_number)i, n);
		if (n->undefined)
			find(c, CHECK_DOUBT, NULL,
			     "%" PRIu64 " %s are used and not defined, from number %" PRIu64
			     " on%s",
			     n->undefined, names[i], n->samples[0],
			     c->damaged ? "; the definitions may have been in what is damaged"
					: "");
	}
	if (c->sum->counters_back_most >= CHECK_BACK_NS)
		find(c, CHECK_DOUBT, NULL,
		     "counters ran backwards %" PRIu64 " times, by %" PRIu64 " ns at most",
		     c->sum->counters_back, c->sum->counters_back_most);
	if (c->behind_end)
		find(c, CHECK_DOUBT, NULL, "%" PRIu64 " events stand after the event end",
		     c->behind_end);
	/* Only the last part of a recording has one. */
	if (!c->sum->ended && !(c->sum->closed && json_object_get(c->sum->header, "part")))
		find(c, CHECK_DOUBT, NULL,
		     "no event end: its recorder was killed, or is still at work, or later parts "
		     "of it are elsewhere");
}

int log_check(const char *path, check_report report, void *ctx, struct log_check *ret)
{
	struct check c = {.sum = calloc(1, sizeof(*ret)), .report = report, .ctx = ctx};
	int err;

	if (!c.sum)
		return -ENOMEM;
	err = stream_open(&c.in, path);
	if (!err)
		err = check_blocks(&c);
	if (!err)
		check_numbers(&c);
	stream_close(&c.in);
	body_free(&c.body);
	object_body_free(&c.objects);
	check_blocks_free(&c.blocks);
	check_seen_free(&c.seen);
	if (err)
		log_check_free(c.sum);
	else
		*ret = *c.sum;
	free(c.sum);
	return err;
}

void log_check_free(struct log_check *c)
{
	json_decref(c->header);
	c->header = NULL;
}
