/* tests/unit/heap/object_model.h: a heap that is not a JVM's: it knows of each object who it is, and writes the log
 * that a JVM would have written. */
#pragma once

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "heap/replay/object_replay.h"
#include "jvm-hooks/objects.h"
#include "log/format/object_record.h"

#define MODEL_SHIFT 3
#define MODEL_REGION 3000u /* units; pages of the replay are 8192 */
#define MODEL_REGIONS 60u
#define MODEL_UNITS (MODEL_REGION * MODEL_REGIONS)
#define MODEL_BASE 0x7000000000ull
#define MODEL_OBJECTS_MAX 400000u
#define MODEL_COLLECTIONS_MAX 64u
#define MODEL_ALIVE UINT32_MAX
#define MODEL_THREADS 3u
#define MODEL_WORDERS 8u /* streams: threads, collectors' threads, the VM's thread */
#define MODEL_VM 7u
#define MODEL_SLOT_WORDS 16000u
#define MODEL_TIME(ns) (uint32_t)(ns), (uint32_t)((ns) >> 32)
#define MODEL_BEGIN_NS(collection) (4000000000ull * ((collection) + 1) + 100)

enum { MODEL_FREE, MODEL_EDEN, MODEL_SURVIVOR, MODEL_OLD };
enum model_gc { MODEL_YOUNG, MODEL_FULL, MODEL_FULL_BY_SPACES, MODEL_REMARK, MODEL_GC_COUNT };

struct model_object {
	uint32_t at, units, length, site, class, birth, death, age, thread;
	uint64_t ns;
	bool large; /* outside of a buffer */
};

struct model_snapshot {
	uint32_t *object, *at, *age, count;
};

struct model_record {
	struct object_record of;
	uint32_t *words;
};

struct model_stream {
	uint32_t words[MODEL_SLOT_WORDS], count;
	uint64_t sequence, last_from, next_to[4], begin_ns;
	unsigned turn;
};

struct model {
	unsigned seed;
	uint32_t mover; /* the collectors' stream that moves objects now */
	uint64_t clock_ns;
	struct model_object *objects;
	uint32_t object_count;
	uint32_t *at; /* by unit: 1 + object */
	uint8_t kind[MODEL_REGIONS];
	uint32_t top[MODEL_REGIONS];
	uint32_t eden, lab_region[2];
	uint64_t phase;
	uint32_t collections;
	struct model_stream streams[MODEL_WORDERS];
	struct model_record *records;
	uint32_t record_count, record_capacity;
	struct model_snapshot before[MODEL_COLLECTIONS_MAX], after[MODEL_COLLECTIONS_MAX];
	uint64_t used[MODEL_COLLECTIONS_MAX]; /* bytes, after each: what a JVM says that its pools hold */
};

struct model_site {
	uint32_t class;
	bool is_array, names_class;
};

/* By id - 1. Class 3 is an array of bytes, class 4 is known at run time only. */
static const struct model_site model_sites[] = {
	{1, false, true}, {1, false, true}, {2, false, true}, {3, true, true}, {4, false, false}, {3, true, false},
};
static const uint32_t model_units[] = {0, 2, 5, 0, 3}; /* by class */
#define MODEL_SITES (sizeof(model_sites) / sizeof(*model_sites))
#define MODEL_KLASS(class) (0x1000u * (class))

static inline uint32_t model_random(struct model *m, uint32_t below)
{
	m->seed = m->seed * 1103515245u + 12345u;
	return (uint32_t)(((uint64_t)(m->seed >> 8) * below) >> 24);
}

/* --- records ------------------------------------------------------------------------------------------------ */

static inline struct object_record *model_record(struct model *m, enum object_record_kind kind)
{
	struct model_record *r;

	if (m->record_count == m->record_capacity) {
		m->record_capacity = 2 * m->record_capacity + 64;
		m->records = realloc(m->records, m->record_capacity * sizeof(*m->records));
	}
	r = &m->records[m->record_count++];
	memset(r, 0, sizeof(*r));
	r->of.kind = kind;
	return &r->of;
}

static inline void model_flush(struct model *m, uint32_t stream)
{
	struct model_stream *s = &m->streams[stream];
	uint32_t bytes = s->count * (uint32_t)sizeof(*s->words);
	struct object_record *r;

	if (!s->count)
		return;
	r = model_record(m, OBJECT_WORDS);
	r->number[WORDS_STREAM] = stream + 1;
	r->number[WORDS_SEQUENCE] = s->sequence++;
	r->number[WORDS_PHASE] = m->phase;
	r->number[WORDS_LAST] = 1;
	r->number[WORDS_JAVA_TID] = stream + 1;
	r->number[WORDS_BEGIN_NS] = s->begin_ns;
	r->number[WORDS_END_NS] = ++m->clock_ns;
	r->word_bytes = bytes;
	m->records[m->record_count - 1].words = malloc(bytes);
	memcpy(m->records[m->record_count - 1].words, s->words, bytes);
	s->count = 0;
	s->last_from = 0;
	memset(s->next_to, 0, sizeof(s->next_to));
}

static inline void model_put(struct model *m, uint32_t stream, const uint32_t *words, uint32_t count)
{
	struct model_stream *s = &m->streams[stream];

	if (s->count + count > MODEL_SLOT_WORDS)
		model_flush(m, stream);
	if (!s->count)
		s->begin_ns = m->clock_ns;
	memcpy(s->words + s->count, words, count * sizeof(*words));
	s->count += count;
}

#define MODEL_PUT(m, stream, ...)                                                                                      \
	model_put(m, stream, (const uint32_t[]){__VA_ARGS__},                                                          \
		  sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#define MODEL_KIND(kind) ((uint32_t)(kind) << 28)

/* All streams, in any order. */
static inline void model_next_phase(struct model *m)
{
	uint32_t first = model_random(m, MODEL_WORDERS);

	for (uint32_t i = 0; i < MODEL_WORDERS; i++)
		model_flush(m, (first + 3 * i) % MODEL_WORDERS);
	m->phase++;
	model_record(m, OBJECT_PHASE)->number[PHASE_NUMBER] = m->phase;
}

static inline void model_names(struct model *m)
{
	struct object_record *r = model_record(m, OBJECT_RING);

	r->number[RING_HEAP_SHIFT] = MODEL_SHIFT;
	r->number[RING_HEAP_BYTES] = (uint64_t)MODEL_UNITS << MODEL_SHIFT;
	r->number[RING_HEAP_BASE] = MODEL_BASE;
	for (uint32_t class = 1; class <= 4; class++) {
		static const char *const names[] = {"", "Small", "Large", "[B", "Late"};

		r = model_record(m, OBJECT_CLASS);
		r->number[CLASS_ID] = class;
		r->number[CLASS_KLASS] = MODEL_KLASS(class);
		r->number[CLASS_LAYOUT] = class == 3 ? 0x80000000u | 16u << 16 : 8 * model_units[class];
		r->text[0] = names[class];
		r->text_bytes[0] = (uint32_t)strlen(names[class]);
	}
	for (uint32_t site = 0; site < MODEL_SITES; site++) {
		r = model_record(m, OBJECT_SITE);
		r->number[SITE_ID] = site + 1;
		r->number[SITE_CLASS_ID] = model_sites[site].names_class ? model_sites[site].class : 0;
	}
}

/* --- the program -------------------------------------------------------------------------------------------- */

static inline uint32_t model_region_take(struct model *m, uint8_t kind)
{
	uint32_t first = model_random(m, MODEL_REGIONS);

	for (uint32_t i = 0; i < MODEL_REGIONS; i++) {
		uint32_t region = (first + i) % MODEL_REGIONS;

		if (m->kind[region] != MODEL_FREE)
			continue;
		m->kind[region] = kind;
		m->top[region] = 0;
		return region;
	}
	return UINT32_MAX;
}

static inline uint32_t model_regions_free(const struct model *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < MODEL_REGIONS; i++)
		n += m->kind[i] == MODEL_FREE;
	return n;
}

static inline void model_born(struct model *m, uint32_t thread, uint32_t at, uint32_t site, uint32_t length,
			      uint32_t units)
{
	const struct model_site *s = &model_sites[site];
	uint32_t id = site + 1;

	m->objects[m->object_count] = (struct model_object){.at = at,
							    .units = units,
							    .length = length,
							    .site = site,
							    .class = s->class,
							    .thread = thread,
							    .ns = m->clock_ns += 1 + model_random(m, 50000),
							    .birth = m->collections,
							    .death = MODEL_ALIVE};
	m->at[at] = ++m->object_count;
	if (!s->is_array && s->names_class)
		MODEL_PUT(m, thread, MODEL_KIND(SPOOR_OBJ_NEW) | id);
	else if (!s->is_array)
		MODEL_PUT(m, thread, MODEL_KIND(SPOOR_OBJ_NEWK) | id, MODEL_KLASS(s->class));
	else if (m->object_count % 5 == 0) /* as of a site that 20 bits are too few for */
		MODEL_PUT(m, thread, MODEL_KIND(SPOOR_OBJ_EXT) | SPOOR_EXT_SITE << 20 | 2 << 12, id,
			  MODEL_KIND(SPOOR_OBJ_ARRK) | 255, MODEL_KLASS(s->class), length);
	else if (s->names_class && length < 255)
		MODEL_PUT(m, thread, MODEL_KIND(SPOOR_OBJ_ARR) | id << 8 | length);
	else if (s->names_class)
		MODEL_PUT(m, thread, MODEL_KIND(SPOOR_OBJ_ARR) | id << 8 | 255, length);
	else
		MODEL_PUT(m, thread, MODEL_KIND(SPOOR_OBJ_ARRK) | id << 8 | 255, MODEL_KLASS(s->class), length);
}

static inline uint32_t model_array_units(uint32_t length)
{
	return (16 + length + 7) / 8;
}

/* An array that takes most of a region. */
static inline void model_large(struct model *m, uint32_t thread)
{
	uint32_t region = model_region_take(m, MODEL_OLD);
	uint32_t length = 8 * (MODEL_REGION - 2) - model_random(m, 2000), at = region * MODEL_REGION;

	MODEL_PUT(m, thread, MODEL_KIND(SPOOR_OBJ_AT), at);
	model_born(m, thread, at, 3, length, model_array_units(length));
	m->objects[m->object_count - 1].large = true;
	m->top[region] = MODEL_REGION;
}

/* A thread's buffer, filled until an object does not fit. */
static inline void model_tlab(struct model *m, uint32_t thread)
{
	uint32_t left, at, end, size = 40 + model_random(m, 900);

	if (m->eden == UINT32_MAX || m->top[m->eden] + size > MODEL_REGION)
		m->eden = model_region_take(m, MODEL_EDEN);
	at = m->eden * MODEL_REGION + m->top[m->eden];
	end = at + size;
	m->top[m->eden] += size;
	MODEL_PUT(m, thread, MODEL_KIND(SPOOR_OBJ_TLAB), at, size, (uint32_t)m->clock_ns,
		  (uint32_t)(m->clock_ns >> 32));
	for (;;) {
		uint32_t site = model_random(m, MODEL_SITES), length = 0, units;

		if (model_sites[site].is_array)
			length = model_random(m, model_random(m, 8) ? 20 : 400);
		units = model_sites[site].is_array ? model_array_units(length) : model_units[model_sites[site].class];
		if (at + units > end || m->object_count == MODEL_OBJECTS_MAX)
			break;
		if (!model_random(m, 400) && model_regions_free(m) > 4)
			model_large(m, thread); /* amid those of the buffer, but not in it */
		model_born(m, thread, at, site, length, units);
		at += units;
	}
	left = end - at;
	MODEL_PUT(m, thread, MODEL_KIND(SPOOR_OBJ_RETIRE) | left, at);
}

static inline void model_run_program(struct model *m)
{
	uint32_t least = 18 + model_random(m, 24);

	m->eden = UINT32_MAX;
	while (model_regions_free(m) > least) {
		uint32_t thread = model_random(m, MODEL_THREADS);

		if (model_random(m, 60))
			model_tlab(m, thread);
		else
			model_large(m, thread);
	}
	model_next_phase(m);
}

/* --- collections -------------------------------------------------------------------------------------------- */

static inline struct model_snapshot model_snapshot(const struct model *m)
{
	struct model_snapshot s = {0};

	s.object = malloc(MODEL_UNITS * sizeof(uint32_t));
	s.at = malloc(MODEL_UNITS * sizeof(uint32_t));
	s.age = malloc(MODEL_UNITS * sizeof(uint32_t));
	for (uint32_t at = 0; at < MODEL_UNITS; at++) {
		if (!m->at[at])
			continue;
		s.object[s.count] = m->at[at] - 1;
		s.at[s.count] = at;
		s.age[s.count++] = m->objects[m->at[at] - 1].age;
	}
	return s;
}

static inline void model_snapshot_free(struct model_snapshot *s)
{
	free(s->object);
	free(s->at);
	free(s->age);
}

static inline void model_space(struct model *m, uint32_t region)
{
	MODEL_PUT(m, MODEL_VM, MODEL_KIND(SPOOR_OBJ_GC) | SPOOR_GC_SPACE << 24, 0, region * MODEL_REGION,
		  m->top[region]);
}

/* As a JVM: where the thread's last object has ended needs no address. */
static inline void model_move(struct model *m, uint32_t stream, uint32_t from, uint32_t to, uint32_t units)
{
	struct model_stream *s = &m->streams[stream];
	int64_t delta = (int64_t)from - (int64_t)s->last_from;
	unsigned d = 0;

	if (s->count + 4 > MODEL_SLOT_WORDS)
		model_flush(m, stream);
	while (d < 4 && s->next_to[d] != to)
		d++;
	if (d < 4 && s->count && delta > -(1 << 25) && delta < 1 << 25) {
		delta = (int64_t)from - (int64_t)s->last_from;
		MODEL_PUT(m, stream, MODEL_KIND(SPOOR_OBJ_MOVE) | d << 26 | ((uint32_t)delta & 0x3ffffff));
	} else {
		d = d < 4 ? d : s->turn++ % 4;
		MODEL_PUT(m, stream, MODEL_KIND(SPOOR_OBJ_MOVEX) | d << 26, from, 0, to);
	}
	s->last_from = from;
	s->next_to[d] = to + units;
}

static inline void model_die(struct model *m, uint32_t object)
{
	m->objects[object].death = m->collections + 1;
}

static inline bool model_lives(struct model *m, uint32_t object)
{
	return model_random(m, 100) < (m->objects[object].age ? 75u : 25u);
}

/* Room for a survivor in a buffer of a collector's thread, whose ends are left empty. */
static inline uint32_t model_room(struct model *m, uint32_t units, bool old)
{
	uint32_t *region = &m->lab_region[old], at;

	if (*region == UINT32_MAX || m->top[*region] + units > MODEL_REGION)
		*region = model_region_take(m, old ? MODEL_OLD : MODEL_SURVIVOR);
	if (*region == UINT32_MAX)
		return UINT32_MAX;
	if (!model_random(m, 20) && m->top[*region] + units + 7 < MODEL_REGION)
		m->top[*region] += model_random(m, 7); /* what a buffer has left */
	at = *region * MODEL_REGION + m->top[*region];
	m->top[*region] += units;
	if (units > MODEL_REGION / 2)
		m->top[*region] = MODEL_REGION; /* a filler, as G1 puts after a humongous object */
	return at;
}

/* What lives of a region moves, or stays if there is no room. */
static inline void model_evacuate(struct model *m, uint32_t region, bool stays, uint32_t *new_at)
{
	for (uint32_t i = 0; i < m->top[region]; i++) {
		uint32_t at = region * MODEL_REGION + i, object = m->at[at], to, stream;
		struct model_object *o;

		if (!object--)
			continue;
		o = &m->objects[object];
		if (!model_lives(m, object)) {
			model_die(m, object);
			continue;
		}
		/* A thread moves some objects in a row, so that they need no address. */
		if (!i || !model_random(m, 8))
			m->mover = MODEL_THREADS + model_random(m, MODEL_VM - MODEL_THREADS);
		stream = m->mover;
		to = stays ? UINT32_MAX : model_room(m, o->units, o->age > 1);
		stays |= to == UINT32_MAX;
		new_at[object] = stays ? at : to;
		o->age++;
		if (stays)
			MODEL_PUT(m, stream, MODEL_KIND(SPOOR_OBJ_KEEP), at);
		else
			model_move(m, stream, at, to, o->units);
	}
	if (!stays)
		m->kind[region] = MODEL_FREE;
	else
		m->kind[region] = MODEL_OLD;
}

static inline void model_young(struct model *m, uint32_t *new_at)
{
	uint8_t collected[MODEL_REGIONS] = {0};
	uint32_t first = model_random(m, MODEL_REGIONS);

	m->lab_region[0] = m->lab_region[1] = UINT32_MAX;
	for (uint32_t i = 0; i < MODEL_REGIONS; i++) {
		uint32_t region = (first + 7 * i) % MODEL_REGIONS; /* in no order */

		collected[region] = m->kind[region] == MODEL_EDEN || m->kind[region] == MODEL_SURVIVOR ||
				    (m->kind[region] == MODEL_OLD && !model_random(m, 6));
		if (collected[region])
			model_space(m, region);
	}
	/* Regions that are evacuated are not used again before the collection has ended. */
	for (uint32_t i = 0; i < MODEL_REGIONS; i++) {
		uint32_t region = (first + i) % MODEL_REGIONS;

		if (collected[region] != 1)
			continue;
		model_evacuate(m, region, !model_random(m, 12), new_at);
		collected[region] = m->kind[region] == MODEL_FREE ? 2 : 3;
		if (collected[region] == 2)
			m->kind[region] = MODEL_EDEN;
	}
	for (uint32_t i = 0; i < MODEL_REGIONS; i++)
		if (collected[i] == 2)
			m->kind[i] = MODEL_FREE;
}

static inline void model_full(struct model *m, bool by_spaces, uint32_t *new_at)
{
	uint32_t top = 0, from = 0, to = 0, run = 0, prefix = model_random(m, MODEL_UNITS / 2);

	for (uint32_t i = 0; by_spaces && i < MODEL_REGIONS; i++)
		if (m->kind[i] != MODEL_FREE)
			model_space(m, i);
	for (uint32_t at = 0; at < MODEL_UNITS; at++) {
		uint32_t object = m->at[at];
		struct model_object *o;

		if (!object--)
			continue;
		o = &m->objects[object];
		if (!model_lives(m, object)) {
			model_die(m, object);
			continue;
		}
		if (at < prefix)
			top = at; /* dense enough: it stays, and so do gaps */
		if (top % MODEL_REGION + o->units > MODEL_REGION)
			top += MODEL_REGION - top % MODEL_REGION;
		if (at != from + run || top != to + run) {
			if (run)
				MODEL_PUT(m, MODEL_VM, MODEL_KIND(SPOOR_OBJ_RUN), from, 0, to, run);
			from = at;
			to = top;
			run = 0;
		}
		run += o->units;
		new_at[object] = top;
		o->age++;
		top += o->units;
	}
	if (run)
		MODEL_PUT(m, MODEL_VM, MODEL_KIND(SPOOR_OBJ_RUN), from, 0, to, run);
	for (uint32_t i = 0; i < MODEL_REGIONS; i++) {
		m->kind[i] = i * MODEL_REGION < top ? MODEL_OLD : MODEL_FREE;
		m->top[i] = MODEL_REGION;
	}
}

/* Regions of which nothing lives. */
static inline void model_remark(struct model *m)
{
	for (uint32_t i = 0; i < MODEL_REGIONS; i++) {
		if (m->kind[i] != MODEL_OLD || model_random(m, 4))
			continue;
		model_space(m, i);
		for (uint32_t at = i * MODEL_REGION; at < (i + 1) * MODEL_REGION; at++)
			if (m->at[at])
				model_die(m, m->at[at] - 1);
		m->kind[i] = MODEL_FREE;
	}
}

/* Bytes of regions that have objects. */
static inline uint64_t model_used(const struct model *m)
{
	uint64_t units = 0;

	for (uint32_t i = 0; i < MODEL_REGIONS; i++) {
		bool any = false;

		for (uint32_t at = 0; m->kind[i] != MODEL_FREE && at < MODEL_REGION; at++)
			any |= m->at[i * MODEL_REGION + at] != 0;
		units += any ? m->top[i] : 0;
	}
	return units << MODEL_SHIFT;
}

static inline void model_collect(struct model *m, enum model_gc gc)
{
	uint32_t *new_at = malloc((m->object_count + 1) * sizeof(*new_at));
	uint32_t all = gc == MODEL_FULL ? SPOOR_GC_ALL : 0;

	memset(new_at, 0xff, m->object_count * sizeof(*new_at));
	m->before[m->collections] = model_snapshot(m);
	assert(m->clock_ns < MODEL_BEGIN_NS(m->collections));
	m->clock_ns = MODEL_BEGIN_NS(m->collections);
	MODEL_PUT(m, MODEL_VM, MODEL_KIND(SPOOR_OBJ_GC) | SPOOR_GC_BEGIN << 24 | all << 8 | 4, m->collections,
		  MODEL_TIME(m->clock_ns));
	for (uint32_t at = 0; at < MODEL_UNITS && gc == MODEL_REMARK; at++)
		if (m->at[at])
			new_at[m->at[at] - 1] = at;
	if (gc == MODEL_YOUNG)
		model_young(m, new_at);
	else if (gc == MODEL_REMARK)
		model_remark(m);
	else
		model_full(m, gc == MODEL_FULL_BY_SPACES, new_at);
	m->clock_ns += 100;
	MODEL_PUT(m, MODEL_VM, MODEL_KIND(SPOOR_OBJ_GC) | SPOOR_GC_END << 24 | 4, m->collections,
		  MODEL_TIME(m->clock_ns));
	/* What is not looked at stays where it is. */
	for (uint32_t at = 0; at < MODEL_UNITS; at++) {
		uint32_t object = m->at[at];

		if (!object--)
			continue;
		m->at[at] = 0;
		if (m->objects[object].death == MODEL_ALIVE && new_at[object] != UINT32_MAX)
			m->objects[object].at = new_at[object];
	}
	for (uint32_t i = 0; i < m->object_count; i++)
		if (m->objects[i].death == MODEL_ALIVE)
			m->at[m->objects[i].at] = 1 + i;
	free(new_at);
	model_next_phase(m);
	m->collections++;
	m->after[m->collections - 1] = model_snapshot(m);
	m->used[m->collections - 1] = model_used(m);
}

static inline struct model *model_new(unsigned seed)
{
	struct model *m = calloc(1, sizeof(*m));

	m->seed = seed;
	m->clock_ns = 1000000000;
	m->objects = malloc(MODEL_OBJECTS_MAX * sizeof(*m->objects));
	m->at = calloc(MODEL_UNITS, sizeof(*m->at));
	model_names(m);
	model_record(m, OBJECT_PHASE);
	return m;
}

static inline void model_free(struct model *m)
{
	for (uint32_t i = 0; i < m->record_count; i++)
		free(m->records[i].words);
	for (uint32_t i = 0; i < m->collections; i++) {
		model_snapshot_free(&m->before[i]);
		model_snapshot_free(&m->after[i]);
	}
	free(m->records);
	free(m->objects);
	free(m->at);
	free(m);
}

/* Records from .. to - 1 only. */
static inline int model_add(struct object_replay *r, struct model *m, uint32_t from, uint32_t to)
{
	int err = 0;

	for (uint32_t i = from; i < to && !err; i++) {
		m->records[i].of.words = (const uint8_t *)m->records[i].words;
		err = object_replay_add(r, &m->records[i].of);
	}
	return err;
}

/* All of its records, until the replay stops, or fails. */
static inline int model_replay(struct model *m, struct object_replay *r)
{
	int err = 0;

	for (uint32_t i = 0; i < m->record_count && !err && !object_replay_stopped(r); i++) {
		m->records[i].of.words = (const uint8_t *)m->records[i].words;
		err = object_replay_add(r, &m->records[i].of);
	}
	return err ? err : object_replay_finish(r);
}
