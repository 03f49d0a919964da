/*
 * All that is used of a space, from its bottom to its top, is objects, or what nobody refers to:
 * dead objects that a full collection has left where they were, and fillers of collectors' buffers,
 * of which there are no events. Both are gaps between objects of the log. After the last object of
 * a space there may be a filler, too: of the collectors' buffers; and with Serial, whose
 * collections have none, of dead objects at the end of the old generation
 * (gc/shared/space.inline.hpp, scan_and_forward), from the first full collection on.
 *
 * Where a space begins, the log says at collections of young objects. Old objects of Serial begin
 * where the young generation, at its largest, would end; those of Parallel where the heap does;
 * regions of G1 each 1, 2, 4, ... MB. A gap in which a space begins is none. A humongous object of
 * G1 fills its last region with a filler (JDK 17, humongous_obj_allocate_initialize_regions).
 */
#include "heap/check/pool_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "heap/replay/object_replay.h"

#define BOTTOMS_MAX (sizeof(((struct pool_check *)0)->bottom) / sizeof(uint64_t))
#define YOUNG_SPACES 3
/* YoungPLABSize and OldPLABSize of Parallel, in bytes, on 64 bits: what each thread has. */
#define PARALLEL_BUFFERS (4096u * 8 + 1024u * 8)
/* A larger object than half of a thread's buffer is copied outside of it. Of threads that copy the
 * same one at once only one wins, and the copies of the others are fillers
 * (gc/parallel/psPromotionManager.inline.hpp, copy_unmarked_to_survivor_space;
 * gc/g1/g1ParScanThreadState.cpp, undo_allocation). Where such a filler is the only thing in a
 * region of G1, the region is in use, and the log does not know of it. */
#define COPY_LARGE (4096u * 8 / 2)
/* A full collection of Serial leaves so much of the old generation where it is, in percent of its
 * size at most (MarkSweepDeadRatio). */
#define SERIAL_DEAD_PCT 5

struct walk {
	const struct pool_check *check;
	struct pool_check_row *row;
	uint64_t base, end; /* of the heap; of the object before */
	uint64_t old_at;    /* where old objects begin */
	uint64_t largest;   /* object that is copied */
	bool any;
};

static void note_space(void *ctx, uint64_t address, uint64_t bytes)
{
	struct pool_check *c = ctx;
	unsigned at = 0;

	(void)bytes;
	while (at < c->bottom_count && c->bottom[at] != address)
		at++;
	if (at == BOTTOMS_MAX)
		at--;
	if (at == c->bottom_count)
		c->bottom_count++;
	memmove(c->bottom + 1, c->bottom, at * sizeof(*c->bottom));
	c->bottom[0] = address;
}

/* The last address from..to where a space begins: of the three of young objects (survivors have
 * two), and that of old ones. 0: there is none. */
static uint64_t bottom_within(const struct walk *w, uint64_t from, uint64_t to)
{
	const struct pool_check *c = w->check;
	uint64_t last = w->old_at >= from && w->old_at <= to ? w->old_at : 0;

	for (unsigned i = 0; i < c->bottom_count && i < YOUNG_SPACES; i++)
		if (c->bottom[i] >= from && c->bottom[i] <= to && c->bottom[i] > last)
			last = c->bottom[i];
	return last;
}

static void add_contiguous(struct walk *w, uint64_t address)
{
	uint64_t bottom = bottom_within(w, w->end, address);

	if (bottom && bottom == w->old_at)
		w->row->gap_bytes += address - bottom;
	else if (!bottom && w->any)
		w->row->gap_bytes += address - w->end;
}

/* The rest of the region in which the object before ends. */
static void end_region(struct walk *w, uint64_t bytes)
{
	uint64_t region = w->check->options.spaces.region_bytes, rest = (w->end - w->base) % region;

	if (!w->any || !rest)
		return;
	if (bytes > region / 2)
		w->row->gap_bytes += region - rest;
	else
		w->row->end_bytes += region - rest;
}

static void add_in_region(struct walk *w, uint64_t address, uint64_t last_bytes)
{
	uint64_t region = w->check->options.spaces.region_bytes, at = address - w->base;

	if (w->any && (w->end - 1 - w->base) / region == at / region) {
		w->row->gap_bytes += address - w->end;
		return;
	}
	end_region(w, last_bytes);
	w->row->gap_bytes += at % region;
}

#define WALKED_FREE (16ull << 20)
#define WALKED_PER_BIRTH 4

/* Looking at the heap takes some ns an object, as events of a birth and of moves do. */
static bool takes_long(const struct pool_check *c)
{
	const struct object_sums *s = object_replay_sums(c->replay);

	return c->options.thrifty && c->walked > WALKED_FREE &&
	       c->walked / WALKED_PER_BIRTH > s->count;
}

/* The most that threads leave which have copied the same object as another in vain. */
static uint64_t copies_in_vain(uint64_t threads, uint64_t largest)
{
	return threads && largest > COPY_LARGE ? (threads - 1) * largest : 0;
}

static bool is_copied(const struct heap_spaces *s, uint64_t bytes)
{
	return s->collector != HEAP_G1 || bytes <= s->region_bytes / 2;
}

static int look(void *ctx, uint32_t collection)
{
	struct pool_check *c = ctx;
	const struct heap_spaces *spaces = &c->options.spaces;
	uint64_t unit = 0, bytes = 0;
	struct object_found f;
	struct walk w = {.check = c, .base = object_replay_base(c->replay)};

	while (c->count <= collection) {
		if (array_grow(&c->rows, &c->capacity, c->count, sizeof(*c->rows)))
			return -ENOMEM;
		c->rows[c->count++] = (struct pool_check_row){0};
	}
	w.end = w.base;
	w.row = &c->rows[collection];
	w.row->left_out = takes_long(c);
	if (w.row->left_out)
		return 0;
	w.row->followed = true;
	w.old_at = w.base;
	if (spaces->collector == HEAP_SERIAL)
		w.old_at += spaces->young_bytes;
	for (; object_replay_next(c->replay, &unit, &f); bytes = f.bytes) {
		if (spaces->collector == HEAP_G1)
			add_in_region(&w, f.address, bytes);
		else
			add_contiguous(&w, f.address);
		w.row->object_bytes += f.bytes;
		if (f.bytes > w.largest && is_copied(spaces, f.bytes))
			w.largest = f.bytes;
		w.end = f.address + f.bytes;
		w.any = true;
		c->walked++;
	}
	if (spaces->collector == HEAP_G1)
		end_region(&w, bytes);
	else if (spaces->collector == HEAP_PARALLEL)
		w.row->end_bytes = spaces->threads * PARALLEL_BUFFERS;
	if (spaces->collector != HEAP_SERIAL)
		w.row->copy_bytes = copies_in_vain(spaces->threads, w.largest);
	return 0;
}

void pool_check_begin(struct pool_check *c, const struct pool_check_options *o,
		      struct object_replay *r)
{
	const struct object_watch watch = {note_space, look, c};

	*c = (struct pool_check){.options = *o, .replay = r};
	if (o->spaces.collector != HEAP_OTHER)
		object_replay_watch(r, &watch);
}

void pool_check_free(struct pool_check *c)
{
	free(c->rows);
	*c = (struct pool_check){0};
}

uint64_t pool_check_least(const struct pool_check *c, const struct pool_check_row *r)
{
	return r->object_bytes + r->gap_bytes + c->archive_bytes;
}

uint64_t pool_check_more(const struct pool_check_row *r)
{
	return r->end_bytes + r->copy_bytes;
}

/* A manager reports within its collection, or, Serial's, once after it. */
static void assign(struct pool_check *c, const struct object_collection *of,
		   const struct pool_sample *samples, uint32_t count)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < count; i++) {
		while (at < c->count && of[at].begin_ns <= samples[i].time_ns)
			at++;
		if (!at || (c->rows[at - 1].told && samples[i].time_ns > of[at - 1].end_ns))
			continue;
		c->rows[at - 1].told = true;
		c->rows[at - 1].used_bytes = samples[i].used_bytes;
	}
}

/* What the pools always have more, if it is more than what the ends of spaces explain. */
static void infer_archive(struct pool_check *c)
{
	uint64_t least = UINT64_MAX;
	bool more = false;

	for (uint32_t i = 0; i < c->count; i++) {
		const struct pool_check_row *r = &c->rows[i];
		uint64_t log = r->object_bytes + r->gap_bytes;

		if (!r->told || !r->followed)
			continue;
		if (r->used_bytes < log)
			return;
		if (r->used_bytes - log < least)
			least = r->used_bytes - log;
		more |= r->used_bytes - log > r->end_bytes;
	}
	c->archive_bytes = more ? least : 0;
}

static enum pool_verdict verdict(const struct pool_check *c, const struct pool_check_row *r)
{
	uint64_t least = pool_check_least(c, r), sure = least - (r->resized ? r->gap_bytes : 0);

	if (r->left_out)
		return POOL_LEFT_OUT;
	if (!r->followed)
		return POOL_NOT_FOLLOWED;
	if (!r->told)
		return POOL_NO_FIGURES;
	if (r->failed)
		return POOL_FAILED;
	return r->used_bytes >= sure && r->used_bytes <= least + pool_check_more(r)
		       ? POOL_AGREES
		       : POOL_DIFFERS;
}

static void sum_up(struct pool_check *c, const struct pool_check_row *r)
{
	uint64_t least = pool_check_least(c, r);
	uint64_t more = r->used_bytes > least ? r->used_bytes - least : 0;

	if (r->verdict != POOL_AGREES)
		return;
	c->exact += r->used_bytes == least;
	c->most_more = more > c->most_more ? more : c->most_more;
}

/* What may be dead at the end of Serial's old generation, by now. */
static void note_dead_end(struct pool_check *c, const struct object_collection *of)
{
	const struct heap_spaces *s = &c->options.spaces;
	bool full = false;

	if (s->collector != HEAP_SERIAL || s->heap_bytes < s->young_bytes)
		return;
	for (uint32_t i = 0; i < c->count; i++) {
		full |= of[i].all;
		if (full)
			c->rows[i].end_bytes =
				(s->heap_bytes - s->young_bytes) / 100 * SERIAL_DEAD_PCT;
	}
}

/* A collection of young objects leaves some where they were if there was no room for them. Then the
 * JVM empties nothing: the young pools are as full as before, with what has moved, too. Parallel's
 * spaces get other sizes after a collection; where they begin is told by the next one of young
 * objects, and until then a gap that one begins in is taken for one. */
static void note_kinds(struct pool_check *c, const struct object_collection *of)
{
	enum heap_collector collector = c->options.spaces.collector;

	for (uint32_t i = 0; i < c->count && collector != HEAP_G1; i++) {
		c->rows[i].failed = of[i].kept && !of[i].all;
		c->rows[i].resized = collector == HEAP_PARALLEL && of[i].all;
	}
}

int pool_check_finish(struct pool_check *c, const struct pool_sample *samples, uint32_t count)
{
	uint32_t collections;
	const struct object_collection *of = object_replay_collections(c->replay, &collections);

	while (c->count < collections) {
		if (array_grow(&c->rows, &c->capacity, c->count, sizeof(*c->rows)))
			return -ENOMEM;
		c->rows[c->count++] = (struct pool_check_row){0};
	}
	note_dead_end(c, of);
	note_kinds(c, of);
	assign(c, of, samples, count);
	if (c->options.archive)
		infer_archive(c);
	for (uint32_t i = 0; i < c->count; i++) {
		struct pool_check_row *r = &c->rows[i];

		r->verdict = verdict(c, r);
		c->verdicts[r->verdict]++;
		sum_up(c, r);
	}
	return 0;
}
