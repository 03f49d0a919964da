/*
 * Blocks are read and checked in order, by who calls (fill), decoded ahead of time
 * (log/read/read_ahead.h), and their events handed out where they are. What is counted goes with
 * the blocks, so that the statistics are those of the position that the caller has come to.
 */
#include "log/read/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/format/block.h"
#include "log/format/header.h"
#include "log/format/schema.h"
#include "log/format/text.h"
#include "log/read/batch.h"
#include "log/read/read_ahead.h"
#include "log/read/seek.h"
#include "log/read/stream.h"

/* Threads pay from this size of a file on; what comes out of a pipe is decoded when it comes. */
#define JOBS_BYTES (1024 * 1024)

struct log_reader {
	char **paths;
	unsigned path_count;
	unsigned path_next; /* of those that have not been opened yet */
	struct stream in;
	struct seek seek;
	bool definitions; /* only these are read */
	struct log_reader_span span;
	json_t *header;
	json_t *file_header;          /* of the file that is open */
	uint32_t sequence;            /* of the next block, if none is missing */
	uint64_t gaps;                /* between the blocks so far */
	bool closed;                  /* the file's last block says that it is complete */
	bool hole;                    /* something is missing before the next block of events */
	bool fresh;                   /* and nothing was before it */
	bool ended;                   /* there is nothing more to be read ahead */
	int fill_err;                 /* why it ended; 0: all was read */
	struct log_reader_stats seen; /* up to the last block that was read ahead */
	struct read_ahead *ahead;
	struct decode_slot *slot;  /* where the events come from; NULL: none is open */
	const uint8_t *next, *end; /* the events of its batch that have not been handed out */
	uint32_t taken;            /* how many of that batch have been */
	bool joined;               /* what can be open is known */
	bool reports_holes;
	bool begun;           /* events were handed out */
	bool hole_due;        /* it is to be reported before the next event */
	uint64_t hole_end_ns; /* of the last one */
	uint64_t seen_holes;  /* before the block that is open */
	uint64_t seen_part;   /* and the part's begin */
	struct text_set *texts;
	bool over;
	int err;                           /* what stopped the reading for good; 0: nothing */
	struct log_reader_stats at;        /* up to the block that is open */
	uint64_t events, unknown, damaged; /* of batches before this one */
	uint16_t event_bytes[SCHEMA_ID_MAX + 1];
};

/* The magic bytes, then the header block. *ret is the caller's. */
static int header_read(struct log_reader *r, json_t **ret)
{
	struct block b;
	int err = stream_need(&r->in, LOG_MAGIC_BYTES);

	if (err < 0)
		return err;
	if (!err || memcmp(stream_bytes(&r->in), LOG_MAGIC, LOG_MAGIC_BYTES))
		return -EPROTO;
	err = stream_seek(&r->in, r->in.offset + LOG_MAGIC_BYTES);
	if (!err)
		err = stream_block(&r->in, 0, &b);
	if (err < 0)
		return err;
	if (!err || r->in.gaps || b.kind != BLOCK_KIND_HEADER)
		return -EBADMSG;
	r->sequence = b.sequence + 1;
	r->seen.blocks++;
	return header_unpack(b.payload, b.length, ret);
}

/* Of the map that the header of a part has; 0: it has none. */
static uint64_t part_number(const json_t *header, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(json_object_get(header, "part"), key));
}

static const char *part_recording(const json_t *header)
{
	const json_t *part = json_object_get(header, "part");
	const char *recording = json_string_value(json_object_get(part, "recording"));

	return recording ? recording : "";
}

static bool is_next_part(const json_t *before, const json_t *header)
{
	return before && *part_recording(header) &&
	       !strcmp(part_recording(before), part_recording(header)) &&
	       part_number(before, "number") + 1 == part_number(header, "number");
}

/* Opens the next file. The first one's header is the log's. */
static int file_open(struct log_reader *r)
{
	json_t *header;
	int err;

	stream_close(&r->in);
	err = stream_open(&r->in, r->paths[r->path_next++]);
	if (!err)
		err = header_read(r, &header);
	if (err)
		return err;
	if (!r->closed || !is_next_part(r->file_header, header))
		r->hole = r->fresh = true;
	r->seen.holes += r->hole;
	r->gaps = 0;
	r->closed = false;
	json_decref(r->file_header);
	r->file_header = header;
	r->seen.part_begin_ns = part_number(header, "begin_ns");
	if (!r->header)
		r->header = json_incref(header);
	return seek_begin(&r->seek, &r->in);
}

static int paths_copy(struct log_reader *r, const char *const *paths, unsigned count)
{
	r->paths = calloc(count, sizeof(*r->paths));
	if (!r->paths)
		return -ENOMEM;
	for (; r->path_count < count; r->path_count++) {
		r->paths[r->path_count] = strdup(paths[r->path_count]);
		if (!r->paths[r->path_count])
			return -ENOMEM;
	}
	return 0;
}

static unsigned jobs_of(const struct log_reader *r, const struct log_reader_options *o)
{
	long cpus;

	if (o && o->jobs)
		return o->jobs;
	if (!r->in.seekable || (r->in.size < JOBS_BYTES && r->path_count == 1))
		return 1;
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	return cpus < 1 ? 1 : (unsigned)cpus;
}

static void plan_events(struct log_reader *r)
{
	for (unsigned i = 0; i < schema_table_count; i++)
		r->event_bytes[schema_table[i].id] = (uint16_t)batch_event_bytes(&schema_table[i]);
}

int log_reader_open(const char *path, struct log_reader **ret)
{
	return log_reader_open_with(&path, 1, NULL, ret);
}

int log_reader_open_with(const char *const *paths, unsigned count,
			 const struct log_reader_options *options, struct log_reader **ret)
{
	struct log_reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->in.fd = -1;
	r->reports_holes = options && options->holes;
	plan_events(r);
	err = count ? paths_copy(r, paths, count) : -EINVAL;
	if (!err)
		err = file_open(r);
	if (!err)
		err = read_ahead_new(jobs_of(r, options), &r->ahead);
	if (err)
		goto fail;
	r->at = r->seen;
	*ret = r;
	return 0;
fail:
	log_reader_close(r);
	return err;
}

void log_reader_close(struct log_reader *r)
{
	unsigned i;

	if (!r)
		return;
	read_ahead_free(r->ahead);
	seek_free(&r->seek);
	stream_close(&r->in);
	for (i = 0; i < r->path_count; i++)
		free(r->paths[i]);
	free(r->paths);
	text_set_free(&r->texts);
	json_decref(r->file_header);
	json_decref(r->header);
	free(r);
}

const json_t *log_reader_header(const struct log_reader *r)
{
	return r->header;
}

/* One gap is one damaged block; blocks that the sequence numbers miss beyond that are missing. */
static void count_gap(struct log_reader *r, uint32_t sequence)
{
	uint64_t damaged = r->in.gaps - r->gaps;
	uint64_t lost = sequence - r->sequence;

	r->gaps = r->in.gaps;
	r->seen.blocks_damaged += damaged;
	if (lost > damaged)
		r->seen.blocks_missing += lost - damaged;
	if (damaged || lost) {
		r->seen.holes++;
		r->hole = true;
		r->fresh = false;
	}
}

/* The next block of the open file. 1: *ret. 0: its end. */
static int block_next(struct log_reader *r, struct block *ret)
{
	uint64_t gap_bytes = r->in.gap_bytes;
	int err = seek_skip(&r->seek, &r->in, &r->sequence);

	if (!err)
		err = stream_block(&r->in, r->sequence, ret);
	r->seen.bytes_skipped += r->in.gap_bytes - gap_bytes;
	if (err < 0)
		return err;
	count_gap(r, err ? ret->sequence : r->sequence);
	if (!err)
		return 0;
	r->sequence = ret->sequence + 1;
	r->seen.blocks++;
	r->closed = ret->kind == BLOCK_KIND_END;
	return 1;
}

/* To the next file. 1: there is one that is needed. */
static int file_next(struct log_reader *r)
{
	int err;

	if (r->path_next == r->path_count)
		return 0;
	err = file_open(r);
	if (err)
		return err;
	if (!r->seek.limited || part_number(r->file_header, "begin_ns") <= r->seek.to_ns)
		return 1;
	r->seek.goes_on = true;
	return 0;
}

static void span_add(struct log_reader *r, const struct preamble *p)
{
	struct log_reader_span *s = &r->span;

	if (!s->any || p->first_ns < s->first_ns)
		s->first_ns = p->first_ns;
	if (!s->any || p->last_ns > s->last_ns)
		s->last_ns = p->last_ns;
	s->any = true;
}

static bool is_relevant(struct log_reader *r, const struct block *b, struct preamble *ret)
{
	*ret = (struct preamble){0};
	if (b->kind == BLOCK_KIND_EVENTS)
		return true;
	if (b->kind != BLOCK_KIND_PACKED)
		return false;
	if (preamble_get(b->payload, b->length, ret))
		return true; /* damage is reported where the block is decoded */
	if (!seek_wants(&r->seek, ret))
		return false;
	if (!r->definitions || ret->flags & BLOCK_DEFINITIONS)
		return true;
	span_add(r, ret);
	return false;
}

/* 1: a block is on its way. 0: the end. */
static int fill(struct log_reader *r, struct decode_slot *s)
{
	struct block b;
	int err;

	do {
		err = block_next(r, &b);
		if (!err) {
			err = file_next(r);
			b.kind = BLOCK_KIND_HEADER;
		}
	} while (err == 1 && !is_relevant(r, &b, &s->preamble));
	if (err != 1)
		return err;
	s->seen = r->seen;
	s->hole = s->fresh = false;
	if (!(s->preamble.flags & BLOCK_DEFINITIONS)) {
		s->hole = r->hole;
		s->fresh = r->fresh;
		r->hole = r->fresh = false;
	}
	err = read_ahead_put(r->ahead, s, &b);
	return err ? err : 1;
}

/* As much as there is room for; of a pipe, what is asked for. */
static void fill_all(struct log_reader *r)
{
	struct decode_slot *s;
	int err = 1;

	while (!r->ended && (s = read_ahead_room(r->ahead))) {
		err = fill(r, s);
		r->ended = err != 1;
		r->fill_err = err < 0 ? err : 0;
	}
}

/* Whether the events of a block that has been decoded are to be handed out. */
static bool is_due(struct log_reader *r, const struct decode_slot *s)
{
	bool joined = r->joined && !s->hole;

	if (s->preamble.flags & BLOCK_DEFINITIONS)
		return true;
	r->begun = true;
	r->joined = joined || s->fresh || s->preamble.flags & BLOCK_SYNC;
	return !joined || !(s->preamble.flags & BLOCK_SYNC);
}

/* The block has been read to its end. */
static void slot_close(struct log_reader *r, bool due)
{
	const struct decoder *d = &r->slot->decoder;

	if (due) {
		r->unknown += d->unknown;
		r->damaged += d->damaged;
		r->joined = r->joined && !d->damaged;
		r->seen_holes -= d->damaged && !(r->slot->preamble.flags & BLOCK_DEFINITIONS);
	}
	read_ahead_done(r->ahead);
	r->slot = NULL;
}

/* What is after it begins with this block. */
static void note_hole(struct log_reader *r, const struct decode_slot *s)
{
	bool same_part = s->seen.part_begin_ns == r->seen_part;

	if (s->seen.holes != r->seen_holes && r->begun) {
		r->hole_due = true;
		r->hole_end_ns = same_part ? s->preamble.first_ns : s->seen.part_begin_ns;
	}
	r->seen_holes = s->seen.holes;
	r->seen_part = s->seen.part_begin_ns;
}

/* 1: r->slot has events that are next. 0: the end. */
static int batch_next(struct log_reader *r)
{
	int err;

	for (;;) {
		if (r->slot && decoder_more(&r->slot->decoder)) {
			err = read_ahead_more(r->ahead, r->slot);
			if (err)
				return err;
		} else {
			if (r->slot)
				slot_close(r, true);
			fill_all(r);
			r->slot = read_ahead_oldest(r->ahead);
			if (!r->slot) {
				r->at = r->seen;
				return r->fill_err;
			}
			r->at = r->slot->seen;
			note_hole(r, r->slot);
			if (r->slot->err)
				return r->slot->err;
			if (!is_due(r, r->slot)) {
				slot_close(r, false);
				continue;
			}
		}
		if (r->slot->batch->used)
			return 1;
	}
}

/* Puts the texts into an event that has only their positions so far. */
static int texts_fill(struct log_reader *r, struct event *e)
{
	const struct event_desc *desc = schema_event(e->id);
	const char *text;
	size_t length;

	for (unsigned i = 0; i < desc->field_count; i++) {
		if (desc->fields[i].type != FIELD_STR)
			continue;
		decoder_text(&r->slot->decoder, e->v[i].s, &text, &length);
		e->v[i].s = length ? text_set_add(&r->texts, text, length) : "";
		if (!e->v[i].s)
			return -ENOMEM;
	}
	return 0;
}

/* The batch of the open slot is next. */
static int batch_take(struct log_reader *r)
{
	const struct batch *b = r->slot->batch;
	uint8_t *at = b->bytes, *end = b->bytes + b->used;
	int err = 0;

	while (b->texts && at < end && !err) {
		struct event *e = (struct event *)at;

		err = texts_fill(r, e);
		at += r->event_bytes[e->id];
	}
	if (err)
		return err;
	r->next = b->bytes;
	r->end = end;
	return 1;
}

/* A hole is to be reported now, between two batches. */
static bool hole_take(struct log_reader *r)
{
	bool due = r->hole_due && r->reports_holes;

	r->hole_due = false;
	return due;
}

/* 1: there are events from r->next on. Else what log_reader_next says. */
static int more(struct log_reader *r)
{
	r->events += r->taken;
	r->taken = 0;
	r->next = r->end = NULL;
	if (!r->err && !r->over) {
		r->err = batch_next(r);
		r->over = r->err != 1;
		if (r->err == 1)
			r->err = batch_take(r);
		if (r->err == 1) {
			r->err = 0;
			return hole_take(r) ? LOG_READER_HOLE : 1;
		}
	}
	if (r->err)
		return r->err;
	return r->damaged || r->at.blocks_damaged || r->at.blocks_missing ? -EBADMSG : 0;
}

int log_reader_next(struct log_reader *r, const struct event **ret)
{
	const struct event *e;
	int err = r->next == r->end ? more(r) : 1;

	if (err != 1)
		return err;
	e = (const struct event *)r->next;
	r->next += r->event_bytes[e->id];
	r->taken++;
	*ret = e;
	return 1;
}

int log_reader_run(struct log_reader *r, struct log_run *ret)
{
	struct batch *b;
	int err = r->next == r->end ? more(r) : 1;

	if (err != 1)
		return err;
	b = r->slot->batch;
	b->holds++;
	*ret = (struct log_run){b, r->next, r->end, b->events - r->taken, r->event_bytes};
	r->next = r->end;
	r->taken = b->events;
	return 1;
}

void log_reader_release(struct log_reader *r, struct batch *b)
{
	read_ahead_release(r->ahead, b);
}

/* Of several parts, how many need not be opened, for others begin no later than the range. */
static int files_pass(struct log_reader *r)
{
	struct log_reader other = {.in.fd = -1};
	unsigned i, last = 0;
	json_t *header;
	int err = 0;

	for (i = r->path_next; i < r->path_count && !err; i++) {
		err = stream_open(&other.in, r->paths[i]);
		if (!err)
			err = header_read(&other, &header);
		stream_close(&other.in);
		if (err)
			break;
		if (part_number(header, "begin_ns") &&
		    part_number(header, "begin_ns") <= r->seek.from_ns)
			last = i;
		json_decref(header);
	}
	if (err || !last)
		return 0; /* what is wrong with a file is reported when its turn comes */
	r->path_next = last;
	return file_open(r);
}

int log_reader_limit(struct log_reader *r, uint64_t from_ns, uint64_t to_ns)
{
	int err;

	if (from_ns > to_ns)
		return -EINVAL;
	r->seek.limited = true;
	r->seek.from_ns = from_ns;
	r->seek.to_ns = to_ns;
	err = files_pass(r);
	return err ? err : seek_begin(&r->seek, &r->in);
}

void log_reader_definitions(struct log_reader *r)
{
	r->definitions = true;
}

struct log_reader_span log_reader_span(const struct log_reader *r)
{
	struct log_reader_span span = r->span;

	span.goes_on = r->seek.goes_on;
	return span;
}

void log_reader_stats(const struct log_reader *r, struct log_reader_stats *ret)
{
	*ret = r->at;
	ret->events = r->events + r->taken;
	ret->events_unknown = r->unknown;
	ret->blocks_damaged += r->damaged;
	ret->hole_end_ns = r->hole_end_ns;
}
