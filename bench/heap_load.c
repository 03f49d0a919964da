/*
 * A log of object events of any length, as spoor record --objects might write it:
 *   heap_load OUT.spoor BIRTHS [LIVE_MIB [EDEN_MIB [SITES]]]
 * Four threads fill an eden of EDEN_MIB (64). Each collection moves one in eight of its objects, by
 * two collectors' threads, into the next of eight old spaces of LIVE_MIB (64) in all, and finds the
 * oldest of them dead. Sizes are 16 to 72 bytes, and arrays; SITES (1000) are chosen at random, one
 * in 16 as often as all others. Prints births, moves, collections, words, and bytes of the file.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jvm-hooks/objects.h"
#include "log/format/object_record.h"
#include "log/write/object_out.h"
#include "log/write/writer.h"

#define SHIFT 3
#define BASE 0x700000000ull
#define THREADS 4u
#define MOVERS 2u
#define VM (THREADS + MOVERS)
#define STREAMS (VM + 1)
#define OLD 8u
#define SLOT_WORDS 16000u
#define TLAB_UNITS 32768u
#define CLASSES 64u
#define KIND(kind) ((uint32_t)(kind) << 28)

struct stream {
	uint32_t words[SLOT_WORDS], count;
	uint64_t sequence, begin_ns, last_from, next_to;
};

struct load {
	struct object_out *out;
	struct stream streams[STREAMS];
	uint64_t random, clock_ns, phase, collections, births, moves, words;
	uint32_t eden_units, old_units, sites;
	uint32_t *
		units; /* of eden's objects, in the order of their addresses; 0: a filler's begin */
	uint32_t count, old_top;
};

static uint32_t below(struct load *l, uint32_t n)
{
	l->random = l->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((l->random >> 33) * n >> 31);
}

static void add(struct load *l, const struct object_record *r)
{
	if (object_out_add(l->out, r)) {
		fputs("out of memory\n", stderr);
		exit(1);
	}
}

static void flush(struct load *l, uint32_t stream)
{
	struct stream *s = &l->streams[stream];
	struct object_record r = {.kind = OBJECT_WORDS};

	if (!s->count)
		return;
	r.number[WORDS_STREAM] = stream + 1;
	r.number[WORDS_SEQUENCE] = s->sequence++;
	r.number[WORDS_PHASE] = l->phase;
	r.number[WORDS_LAST] = 1;
	r.number[WORDS_JAVA_TID] = stream < THREADS ? stream + 1 : 0;
	r.number[WORDS_TID] = 100 + stream;
	r.number[WORDS_BEGIN_NS] = s->begin_ns;
	r.number[WORDS_END_NS] = ++l->clock_ns;
	r.words = (const uint8_t *)s->words;
	r.word_bytes = s->count * 4;
	add(l, &r);
	l->words += s->count;
	s->count = 0;
	s->last_from = 0;
	s->next_to = UINT64_MAX;
}

static void put(struct load *l, uint32_t stream, const uint32_t *words, uint32_t count)
{
	struct stream *s = &l->streams[stream];

	if (s->count + count > SLOT_WORDS)
		flush(l, stream);
	if (!s->count)
		s->begin_ns = l->clock_ns;
	memcpy(s->words + s->count, words, count * 4);
	s->count += count;
}
#define PUT(l, stream, ...)                                                                        \
	put(l, stream, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

static void next_phase(struct load *l)
{
	struct object_record r = {.kind = OBJECT_PHASE};

	for (uint32_t i = 0; i < STREAMS; i++)
		flush(l, i);
	r.number[PHASE_NUMBER] = ++l->phase;
	r.number[PHASE_TIME_NS] = l->clock_ns;
	add(l, &r);
}

static void name(struct object_record *r, int which, const char *text)
{
	r->text[which] = text;
	r->text_bytes[which] = (uint32_t)strlen(text);
}

static uint32_t class_of(uint32_t site)
{
	return site % CLASSES;
}

static uint32_t class_units(uint32_t class)
{
	return 2 + class % 8;
}

static bool is_array(uint32_t class)
{
	return class % 8 == 7;
}

static void names(struct load *l)
{
	struct object_record ring = {.kind = OBJECT_RING};
	char text[64];

	ring.number[RING_VERSION] = 1;
	ring.number[RING_PID] = 1;
	ring.number[RING_HEAP_BASE] = BASE;
	ring.number[RING_HEAP_BYTES] = ((uint64_t)l->eden_units + (uint64_t)OLD * l->old_units)
				       << SHIFT;
	ring.number[RING_HEAP_SHIFT] = SHIFT;
	ring.number[RING_MODE] = SPOOR_OBJECTS_EXACT;
	add(l, &ring);
	for (uint32_t c = 0; c < CLASSES; c++) {
		struct object_record r = {.kind = OBJECT_CLASS};

		r.number[CLASS_ID] = c + 1;
		r.number[CLASS_KLASS] = 0x1000 * (c + 1);
		r.number[CLASS_LAYOUT] = is_array(c) ? 0x80000000u | 16u << 16 : 8 * class_units(c);
		snprintf(text, sizeof(text), "com/acme/Class%u", c);
		name(&r, 0, is_array(c) ? "[B" : text);
		add(l, &r);
	}
	for (uint32_t s = 0; s < l->sites; s++) {
		struct object_record m = {.kind = OBJECT_METHOD,
					  .number = {s + 1, 1 + s % CLASSES}},
				     r = {.kind = OBJECT_SITE};

		snprintf(text, sizeof(text), "method%u", s);
		name(&m, 0, text);
		name(&m, 1, "()V");
		add(l, &m);
		r.number[SITE_ID] = s + 1;
		r.number[SITE_CLASS_ID] = class_of(s) + 1;
		r.number[SITE_TIER] = SPOOR_TIER_C2;
		r.frame_count = s ? 2 : 1;
		r.frames[0][0] = s + 1;
		r.frames[0][1] = s % 50;
		r.frames[1][0] = s / 2 + 1;
		add(l, &r);
	}
}

/* A thread's buffer at eden's next address. */
static void tlab(struct load *l, uint32_t thread, uint32_t at, uint32_t end)
{
	PUT(l, thread, KIND(SPOOR_OBJ_TLAB), at, end - at, (uint32_t)l->clock_ns,
	    (uint32_t)(l->clock_ns >> 32));
	for (;;) {
		uint32_t site = below(l, 16) ? below(l, l->sites) : 0, class = class_of(site);
		uint32_t length = is_array(class) ? below(l, 200) : 0;
		uint32_t units = is_array(class) ? (16 + length + 7) / 8 : class_units(class);

		if (at + units > end)
			break;
		if (is_array(class))
			PUT(l, thread, KIND(SPOOR_OBJ_ARR) | (site + 1) << 8 | length);
		else
			PUT(l, thread, KIND(SPOOR_OBJ_NEW) | (site + 1));
		l->units[l->count++] = units;
		l->births++;
		l->clock_ns += 20;
		at += units;
	}
	PUT(l, thread, KIND(SPOOR_OBJ_RETIRE) | (end - at), at);
	l->units[l->count++] = (end - at) | 1u << 31; /* a filler */
}

static void move(struct load *l, uint32_t from, uint32_t to, uint32_t units)
{
	uint32_t stream = THREADS + (from >> 15) % MOVERS;
	struct stream *s = &l->streams[stream];
	int64_t delta = (int64_t)from - (int64_t)s->last_from;

	if (s->count + 4 > SLOT_WORDS)
		flush(l, stream);
	if (s->count && s->next_to == to && delta > -(1 << 25) && delta < 1 << 25)
		PUT(l, stream, KIND(SPOOR_OBJ_MOVE) | ((uint32_t)delta & 0x3ffffff));
	else
		PUT(l, stream, KIND(SPOOR_OBJ_MOVEX), from, 0, to);
	s->last_from = from;
	s->next_to = to + units;
	l->moves++;
}

static void space(struct load *l, uint32_t at, uint32_t units)
{
	PUT(l, VM, KIND(SPOOR_OBJ_GC) | SPOOR_GC_SPACE << 24, 0, at, units);
}

static void collect(struct load *l)
{
	uint32_t old = l->eden_units + (uint32_t)(l->collections % OLD) * l->old_units;
	uint32_t to = old, at = 0;

	PUT(l, VM, KIND(SPOOR_OBJ_GC) | SPOOR_GC_BEGIN << 24 | 4, (uint32_t)l->collections,
	    (uint32_t)l->clock_ns, (uint32_t)(l->clock_ns >> 32));
	space(l, 0, l->eden_units);
	space(l, old, l->old_units); /* what was moved there eight collections ago is dead */
	for (uint32_t i = 0; i < l->count; i++) {
		uint32_t units = l->units[i] & ~(1u << 31);

		if (!(l->units[i] >> 31) && !below(l, 8) && to + units <= old + l->old_units) {
			move(l, at, to, units);
			to += units;
		}
		at += units;
	}
	l->clock_ns += 1000000;
	PUT(l, VM, KIND(SPOOR_OBJ_GC) | SPOOR_GC_END << 24 | 4, (uint32_t)l->collections,
	    (uint32_t)l->clock_ns, (uint32_t)(l->clock_ns >> 32));
	next_phase(l);
	l->collections++;
	l->count = 0;
}

static void run(struct load *l, uint64_t births)
{
	names(l);
	while (l->births < births) {
		uint32_t at = 0;

		for (uint32_t i = 0; at < l->eden_units && l->births < births; i++) {
			uint32_t end = at + TLAB_UNITS;

			end = end > l->eden_units ? l->eden_units : end;
			tlab(l, i % THREADS, at, end);
			at = end;
		}
		next_phase(l);
		collect(l);
	}
}

static uint32_t units_of(const char *mib)
{
	return (uint32_t)(strtoul(mib, NULL, 10) << 20 >> SHIFT);
}

int main(int argc, char **argv)
{
	struct log_writer_options o = {.overwrite = true, .compression = {BLOCK_CODEC_ZSTD, 1}};
	struct load *l = calloc(1, sizeof(*l));
	struct log_writer_stats stats;
	struct log_writer *w;
	json_t *header = json_pack("{s:s}", "collector", "Other");

	if (argc < 3 || !l || !header) {
		fputs("usage: heap_load OUT.spoor BIRTHS [LIVE_MIB [EDEN_MIB [SITES]]]\n", stderr);
		return 2;
	}
	l->old_units = units_of(argc > 3 ? argv[3] : "64") / OLD;
	l->eden_units = units_of(argc > 4 ? argv[4] : "64");
	l->sites = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 1000;
	l->units = calloc(l->eden_units + 1ul, sizeof(*l->units));
	l->clock_ns = 1000000000;
	l->random = 1;
	o.path = argv[1];
	if (!l->units || !l->sites || log_writer_open(&o, header, &w)) {
		fprintf(stderr, "cannot write %s\n", argv[1]);
		return 1;
	}
	l->out = object_out_new(w);
	if (!l->out)
		return 1;
	run(l, strtoull(argv[2], NULL, 10));
	object_out_flush(l->out);
	if (log_writer_finish(w))
		return 1;
	log_writer_stats(w, &stats);
	printf("{\"births\":%llu,\"moves\":%llu,\"collections\":%llu,\"word_bytes\":%llu,\"bytes\":"
	       "%llu}\n",
	       (unsigned long long)l->births, (unsigned long long)l->moves,
	       (unsigned long long)l->collections, (unsigned long long)l->words * 4,
	       (unsigned long long)stats.bytes);
	object_out_free(l->out);
	json_decref(header);
	free(l->units);
	free(l);
	return log_writer_close(w) ? 1 : 0;
}
