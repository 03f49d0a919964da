/*
 * A pass goes over all slots, in pieces. At its end it says that all words of the phases below n
 * are in the log. That is true of the n that was read at its begin: of slots that are still a
 * thread's, what the thread had marked by then is complete, and is taken; what comes later is of
 * later phases, and may be taken, too. Words name sites, and sites are among the names before code
 * that uses them can run: so the names are read after a slot's state, and before its words are
 * written.
 *
 * Bounds: a copy of a slot, and a cursor for each. What the target may do is change any byte at any
 * time: then words are wrong, or missing, or the reader of the log refuses them, but nothing is
 * read or written outside of the ring's memory, and a pass ends.
 */
#include "record/objects/object_drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/replay/object_replay.h"
#include "log/format/object_record.h"
#include "log/write/object_out.h"
#include "log/write/writer.h"
#include "record/objects/object_ring.h"

#define PASS_BYTES (2u << 20)
#define PHASE_EVERY_NS 1000000000ull
#define NAME_HEAD 16
#define WAITING_BYTES (1u << 20) /* words, more than which are not to be carried over */
#define MAP_BYTES (64ull << 30)  /* of the heap's objects; --max-memory bounds it */
#define LOAD(at) __atomic_load_n(&(at), __ATOMIC_ACQUIRE)
#define GLANCE(at) __atomic_load_n(&(at), __ATOMIC_RELAXED)

/* What has been taken of a slot that was not full. */
struct cursor {
	uint32_t stream, bytes;
	uint64_t sequence;
};

struct object_drain {
	struct object_replay *replay; /* of what has been written; NULL: the log has no parts */
	const struct object_ring *ring;
	struct object_out *out;
	struct log_writer *w; /* of parts; else NULL */
	struct cursor *cursors;
	uint32_t *words;
	uint32_t at;         /* the slot that is next in this pass */
	uint64_t pass_phase; /* at the begin of this pass */
	uint64_t written_phase, written_ns, next_flush;
	uint64_t names_read;
	uint64_t number; /* of the ring, where a record has it */
	bool pass_walks; /* at the begin of this pass not all of the heap had been walked */
	bool written_walks;
	bool names_broken;
	bool killed;
	_Alignas(uint64_t) uint8_t name[NAME_HEAD + 2 * OBJECT_NAME_MAX + 8 * OBJECT_FRAMES_MAX];
	struct object_drain_stats seen, before; /* before: in the rings before this one */
	int err;
};

static void add(struct object_drain *d, struct object_record *r)
{
	int err;

	r->number[0] |= d->number;
	/* What a part before cannot say, for want of memory or of sense, its state does not. */
	if (d->replay)
		object_replay_add(d->replay, r);
	err = object_out_add(d->out, r);
	if (err && !d->err)
		d->err = err;
}

static void write_ring(struct object_drain *d)
{
	const struct object_ring *r = d->ring;
	struct object_record o = {.kind = OBJECT_RING};

	o.number[RING_VERSION] = r->version;
	o.number[RING_PID] = r->pid;
	o.number[RING_HEAP_BASE] = r->heap_base;
	o.number[RING_HEAP_BYTES] = r->heap_bytes;
	o.number[RING_HEAP_SHIFT] = r->heap_shift;
	o.number[RING_MODE] = r->mode;
	add(d, &o);
}

/* --- parts -------------------------------------------------------------------------------- */

static void part_ends(void *ctx)
{
	struct object_drain *d = ctx;

	object_out_flush(d->out);
}

static int emit(void *ctx, const struct object_record *r)
{
	struct object_drain *d = ctx;

	return object_out_add(d->out, r);
}

/* The state has what the record has done that is being written, or has just been. */
static void part_begun(void *ctx)
{
	struct object_drain *d = ctx;
	int err;

	err = object_replay_carry(d->replay, emit, d);
	object_out_flush(d->out);
	if (err && !d->err)
		d->err = err;
}

/* A part has the state of one ring: nothing of those before is needed any more. */
static int replay_anew(struct object_drain *d)
{
	struct object_replay *r = object_replay_new(MAP_BYTES);

	if (!r)
		return -ENOMEM;
	object_replay_online(r);
	object_replay_free(d->replay);
	d->replay = r;
	return 0;
}

static int follow(struct object_drain *d, struct log_writer *w)
{
	const struct log_writer_parts parts = {part_ends, part_begun, d};

	if (!log_writer_has_parts(w))
		return 0;
	if (replay_anew(d))
		return -ENOMEM;
	log_writer_set_parts(w, &parts);
	d->w = w;
	return 0;
}

/* What is kept of the slots of a ring. */
static int take_ring(struct object_drain *d, const struct object_ring *ring)
{
	struct cursor *cursors = calloc(ring->slots, sizeof(*cursors));
	uint32_t *words = malloc(ring->slot_bytes);

	if (!cursors || !words) {
		free(cursors);
		free(words);
		return -ENOMEM;
	}
	free(d->cursors);
	free(d->words);
	d->cursors = cursors;
	d->words = words;
	d->ring = ring;
	return 0;
}

int object_drain_new(const struct object_ring *ring, struct log_writer *w,
		     struct object_drain **ret)
{
	struct object_drain *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->out = object_out_new(w);
	if (!d->out || take_ring(d, ring) || follow(d, w)) {
		object_drain_free(d);
		return -ENOMEM;
	}
	write_ring(d);
	*ret = d;
	return 0;
}

static struct object_drain_stats sum(const struct object_drain_stats *a,
				     const struct object_drain_stats *b)
{
	return (struct object_drain_stats){
		.word_bytes = a->word_bytes + b->word_bytes,
		.names = a->names + b->names,
		.refused = a->refused + b->refused,
		.lost_bytes = a->lost_bytes + b->lost_bytes,
		.gaps = a->gaps + b->gaps,
		.collector_gaps = a->collector_gaps + b->collector_gaps,
		.waits = a->waits + b->waits,
		.wait_ns = a->wait_ns + b->wait_ns,
		.found = b->pause_ns ? b->found : a->found,
		.pause_ns = b->pause_ns ? b->pause_ns : a->pause_ns,
		.graphs = a->graphs + b->graphs,
		.graphs_lost = a->graphs_lost + b->graphs_lost,
		.graph_ns = a->graph_ns + b->graph_ns,
	};
}

int object_drain_again(struct object_drain *d, const struct object_ring *ring)
{
	int err = take_ring(d, ring);

	if (!err && d->replay)
		err = replay_anew(d);
	if (err) {
		d->err = d->err ? d->err : err;
		return err;
	}
	d->before = sum(&d->before, &d->seen);
	d->seen = (struct object_drain_stats){0};
	d->number += 1ull << OBJECT_RING_SHIFT;
	d->at = 0;
	d->written_phase = d->written_ns = d->names_read = 0;
	d->names_broken = d->killed = false;
	write_ring(d);
	return 0;
}

void object_drain_free(struct object_drain *d)
{
	if (!d)
		return;
	object_out_free(d->out);
	object_replay_free(d->replay);
	free(d->cursors);
	free(d->words);
	free(d);
}

int object_drain_error(const struct object_drain *d)
{
	return d->err;
}

/* --- names -------------------------------------------------------------------------------- */

/* The text at offset in the copy of a name of so many bytes; what follows its NUL. */
static uint32_t text_at(const struct object_drain *d, uint32_t bytes, uint32_t offset,
			struct object_record *o, unsigned which)
{
	uint32_t left = offset < bytes ? bytes - offset : 0;

	o->text[which] = (const char *)d->name + offset;
	o->text_bytes[which] = left ? (uint32_t)strnlen(o->text[which], left) : 0;
	return offset + o->text_bytes[which] + 1;
}

static void site(const uint32_t *w, uint32_t bytes, struct object_record *o)
{
	uint32_t count = w[3] & 0xffff;

	o->kind = OBJECT_SITE;
	o->number[SITE_CLASS_ID] = w[2];
	o->number[SITE_TIER] = w[3] >> 16;
	if (count > (bytes - NAME_HEAD) / 8)
		count = (bytes - NAME_HEAD) / 8;
	o->frame_count = count < OBJECT_FRAMES_MAX ? count : OBJECT_FRAMES_MAX;
	memcpy(o->frames, w + 4, o->frame_count * sizeof(o->frames[0]));
}

/* A name that has been copied. false: it makes no sense. */
static bool take_name(struct object_drain *d, uint32_t bytes)
{
	const uint32_t *w = (const uint32_t *)(const void *)d->name;
	struct object_record o = {.number = {w[1]}};
	uint32_t next;

	switch (w[0] >> 24) {
	case SPOOR_NAME_CLASS:
		o.kind = OBJECT_CLASS;
		o.number[CLASS_KLASS] = w[2];
		o.number[CLASS_LAYOUT] = w[3];
		text_at(d, bytes, NAME_HEAD, &o, 0);
		break;
	case SPOOR_NAME_METHOD:
		o.kind = OBJECT_METHOD;
		o.number[METHOD_CLASS_ID] = w[2];
		next = text_at(d, bytes, NAME_HEAD, &o, 0);
		text_at(d, bytes, next, &o, 1);
		break;
	case SPOOR_NAME_SITE:
		site(w, bytes, &o);
		break;
	case SPOOR_NAME_GONE:
		o.kind = OBJECT_GONE;
		break;
	default:
		return false;
	}
	d->seen.names++;
	add(d, &o);
	return true;
}

static void read_names(struct object_drain *d)
{
	const struct object_ring *r = d->ring;
	uint64_t used = LOAD(object_ring_head(r)->names_used);
	uint32_t head, bytes, copied;
	const uint8_t *at;

	while (!d->names_broken && d->names_read < used) {
		at = r->memory + r->names + d->names_read;
		d->names_broken =
			used > r->names_bytes || r->names_bytes - d->names_read < NAME_HEAD;
		if (d->names_broken)
			break;
		head = GLANCE(*(const uint32_t *)(const void *)at);
		bytes = head & 0xffffff;
		d->names_broken = bytes < NAME_HEAD || bytes % 8 || bytes > used - d->names_read;
		if (d->names_broken)
			break;
		copied = bytes < sizeof(d->name) ? bytes : (uint32_t)sizeof(d->name);
		memcpy(d->name, at, copied);
		memcpy(d->name, &head, sizeof(head));
		d->seen.refused += !take_name(d, copied);
		d->names_read += bytes;
	}
	if (d->names_broken && d->names_read != UINT64_MAX) {
		d->seen.refused++;
		d->names_read = UINT64_MAX;
	}
}

/* --- slots -------------------------------------------------------------------------------- */

/* The thread has lost words before this slot, and is none of Java's: its words are moves. */
static bool lost_moves(const struct spoor_objects_slot *s, uint32_t first_word)
{
	return !s->java_tid && first_word >> 20 == (SPOOR_OBJ_EXT << 8 | SPOOR_EXT_GAP);
}

/* The words of a slot from the cursor on, up to end. */
static void write_words(struct object_drain *d, uint32_t i, uint32_t end, bool last)
{
	struct cursor *c = &d->cursors[i];
	struct spoor_objects_slot *shared = object_ring_slot(d->ring, i), s;
	struct object_record o = {.kind = OBJECT_WORDS};
	uint32_t begin;

	memcpy(&s, shared, sizeof(s));
	if (c->stream != s.stream || c->sequence != s.sequence)
		*c = (struct cursor){.stream = s.stream, .sequence = s.sequence};
	begin = c->bytes;
	if (end < begin)
		end = begin;
	memcpy(d->words, object_ring_words(d->ring, i) + begin, end - begin);
	if (d->killed) /* zeros were there before the JVM wrote */
		while (last && end > begin && !d->words[(end - begin) / 4 - 1])
			end -= 4;
	c->bytes = last ? 0 : end;
	if (last)
		c->stream = 0;
	if (end == begin && !last)
		return;
	o.number[WORDS_STREAM] = s.stream;
	o.number[WORDS_SEQUENCE] = s.sequence;
	o.number[WORDS_PHASE] = s.phase;
	o.number[WORDS_OFFSET] = begin;
	o.number[WORDS_LAST] = last;
	o.number[WORDS_JAVA_TID] = (uint64_t)s.java_tid;
	o.number[WORDS_TID] = s.tid;
	o.number[WORDS_BEGIN_NS] = s.begin_ns;
	o.number[WORDS_END_NS] = s.end_ns;
	o.words = (const uint8_t *)d->words;
	o.word_bytes = end - begin;
	d->seen.word_bytes += o.word_bytes;
	d->seen.collector_gaps += !begin && o.word_bytes && lost_moves(&s, d->words[0]);
	add(d, &o);
}

/* A count of bytes of a slot's, as the ring says it; one that makes no sense is counted. */
static uint32_t bytes_said(struct object_drain *d, uint32_t said)
{
	if (said <= d->ring->slot_bytes && !(said % 4))
		return said;
	d->seen.refused++;
	return said > d->ring->slot_bytes ? d->ring->slot_bytes : said & ~3u;
}

/* The bytes that were looked at. */
static uint32_t take_slot(struct object_drain *d, uint32_t i)
{
	struct spoor_objects_slot *s = object_ring_slot(d->ring, i);
	uint32_t state = LOAD(s->state), bytes;

	if (state == SPOOR_SLOT_FULL) {
		bytes = bytes_said(d, GLANCE(s->used));
		read_names(d);
		write_words(d, i, bytes, true);
		memset(object_ring_words(d->ring, i), 0, d->ring->slot_bytes);
		__atomic_store_n(&s->state, SPOOR_SLOT_FREE, __ATOMIC_RELEASE);
		return d->ring->slot_bytes;
	}
	if (state != SPOOR_SLOT_OWNED)
		return 0;
	if (d->killed) {
		read_names(d);
		write_words(d, i, d->ring->slot_bytes, true);
		return d->ring->slot_bytes;
	}
	bytes = LOAD(s->marked);
	if (!bytes || bytes == d->cursors[i].bytes)
		return 0;
	bytes = bytes_said(d, bytes);
	read_names(d);
	write_words(d, i, bytes, false);
	return bytes;
}

static void read_counts(struct object_drain *d)
{
	const struct spoor_objects_head *h = object_ring_head(d->ring);

	if (!d->seen.pause_ns) { /* not that of the end */
		d->seen.pause_ns = GLANCE(h->pause_ns);
		d->seen.found = GLANCE(h->found);
	}
	d->seen.waits = GLANCE(h->waits);
	d->seen.wait_ns = GLANCE(h->wait_ns);
	d->seen.gaps = GLANCE(h->gaps);
	d->seen.lost_bytes = GLANCE(h->lost_bytes);
	d->seen.graphs = GLANCE(h->graphs);
	d->seen.graphs_lost = GLANCE(h->graphs_lost);
	d->seen.graph_ns = GLANCE(h->graph_ns);
}

static void write_phase(struct object_drain *d, uint64_t phase, enum object_drain_end end,
			uint64_t now_ns)
{
	struct object_record o = {.kind = OBJECT_PHASE};

	read_counts(d);
	o.number[PHASE_NUMBER] = phase;
	o.number[PHASE_TIME_NS] = now_ns;
	d->written_walks = d->pass_walks && end == OBJECT_DRAIN_GOES_ON;
	o.number[PHASE_ENDED] = d->written_walks ? OBJECT_PHASE_WALKS : end;
	o.number[PHASE_WAITS] = d->seen.waits;
	o.number[PHASE_WAIT_NS] = d->seen.wait_ns;
	o.number[PHASE_GAPS] = d->seen.gaps;
	o.number[PHASE_LOST_BYTES] = d->seen.lost_bytes;
	o.number[PHASE_LOST_NAMES] = GLANCE(object_ring_head(d->ring)->lost_names);
	o.number[PHASE_REFUSED] = d->seen.refused;
	add(d, &o);
	/* After a collection the heap has little that is dead; and few words wait. */
	if (d->replay && phase != d->written_phase && phase % 2 == 0 &&
	    end == OBJECT_DRAIN_GOES_ON && object_replay_waiting(d->replay) < WAITING_BYTES)
		log_writer_offer_cut(d->w);
	d->written_phase = phase;
	d->written_ns = now_ns;
}

/* All words of the walk are in slots that can be read before the JVM says that it is on. */
static void pass_begin(struct object_drain *d)
{
	const struct spoor_objects_head *h = object_ring_head(d->ring);

	d->pass_phase = LOAD(h->phase);
	d->pass_walks = d->ring->switched && !LOAD(h->on_ns);
}

bool object_drain_pass(struct object_drain *d, uint64_t now_ns)
{
	uint64_t taken = 0;

	if (!d->at)
		pass_begin(d);
	for (; d->at < d->ring->slots && taken < PASS_BYTES; d->at++)
		taken += take_slot(d, d->at);
	if (d->at < d->ring->slots)
		return true;
	d->at = 0;
	if (d->pass_phase != d->written_phase || d->pass_walks != d->written_walks ||
	    now_ns - d->written_ns >= PHASE_EVERY_NS) {
		read_names(d);
		write_phase(d, d->pass_phase, OBJECT_DRAIN_GOES_ON, now_ns);
	}
	if (now_ns >= d->next_flush) {
		object_out_flush(d->out);
		d->next_flush = now_ns + PHASE_EVERY_NS;
	}
	return taken > 0;
}

/* Of a JVM that goes on, what its threads have not marked is left: they may be writing it. */
void object_drain_finish(struct object_drain *d, bool killed, uint64_t now_ns)
{
	bool ended = LOAD(object_ring_head(d->ring)->ended) == 1;
	enum object_drain_end end = ended                         ? OBJECT_DRAIN_ENDED
				    : killed                      ? OBJECT_DRAIN_KILLED
				    : object_ring_is_off(d->ring) ? OBJECT_DRAIN_OFF
								  : OBJECT_DRAIN_LEFT;
	uint64_t phase = LOAD(object_ring_head(d->ring)->phase);

	d->killed = killed && !ended;
	for (d->at = 0; d->at < d->ring->slots; d->at++)
		take_slot(d, d->at);
	d->at = 0;
	read_names(d);
	write_phase(d, phase, end, now_ns);
	object_out_flush(d->out);
}

void object_drain_stats(const struct object_drain *d, struct object_drain_stats *ret)
{
	*ret = sum(&d->before, &d->seen);
}
