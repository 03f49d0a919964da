/* heap/replay/object_rings.c: a log in which events were switched off and on again. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "heap/replay/object_replay.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/heap/object_model.h"

#define HEAP_BYTES (64 << 20)
#define HEAP_SITE 100 /* + class: of what was found in the heap */
#define RING(n) ((uint64_t)(n) << OBJECT_RING_SHIFT)
#define MANY 100000

/* --- a model with rings ------------------------------------------------------------------------------------- */

static const enum model_gc kinds[] = {MODEL_YOUNG,  MODEL_FULL_BY_SPACES, MODEL_YOUNG,
				      MODEL_REMARK, MODEL_YOUNG,          MODEL_FULL};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static void go_on(struct model *m, uint32_t collections)
{
	for (uint32_t i = 0; i < collections; i++) {
		model_run_program(m);
		model_collect(m, kinds[m->collections % KINDS]);
	}
}

static void forget_records(struct model *m, uint32_t from)
{
	while (m->record_count > from)
		free(m->records[--m->record_count].words);
}

/* Records from here on are of ring n. */
static void number(struct model *m, uint32_t from, uint32_t n)
{
	for (uint32_t i = from; i < m->record_count; i++)
		m->records[i].of.number[0] |= RING(n);
}

static void walk(struct model *m)
{
	uint32_t end = UINT32_MAX;

	for (uint32_t class = 1; class <= 4; class++) {
		struct object_record *r = model_record(m, OBJECT_SITE);

		r->number[SITE_ID] = HEAP_SITE + class;
		r->number[SITE_CLASS_ID] = class;
		r->number[SITE_TIER] = SPOOR_TIER_HEAP;
	}
	for (uint32_t at = 0; at < MODEL_UNITS; at++) {
		const struct model_object *o = m->at[at] ? &m->objects[m->at[at] - 1] : NULL;
		uint32_t site = o ? HEAP_SITE + o->class : 0;

		if (!o)
			continue;
		if (at != end)
			MODEL_PUT(m, MODEL_VM, MODEL_KIND(SPOOR_OBJ_TLAB), at, 0, 0, 0);
		if (o->class == 3)
			MODEL_PUT(m, MODEL_VM, MODEL_KIND(SPOOR_OBJ_ARR) | site << 8 | 255, o->length);
		else
			MODEL_PUT(m, MODEL_VM, MODEL_KIND(SPOOR_OBJ_NEW) | site);
		end = at + o->units;
	}
	model_flush(m, MODEL_VM);
}

static void phase(struct model *m, uint64_t ended)
{
	struct object_record *r = model_record(m, OBJECT_PHASE);

	r->number[PHASE_NUMBER] = m->phase;
	r->number[PHASE_ENDED] = ended;
}

/* A further ring, in which numbers begin anew, and what is in the heap. Returns its first record. */
static uint32_t begin_again(struct model *m)
{
	uint32_t from = m->record_count;

	for (uint32_t i = 0; i < MODEL_WORDERS; i++) {
		m->streams[i].sequence = m->streams[i].last_from = m->streams[i].count = 0;
		memset(m->streams[i].next_to, 0, sizeof(m->streams[i].next_to));
	}
	m->phase = 0;
	model_names(m);
	walk(m);
	return from;
}

/* Moves of the last collection are missing, and the program goes on unseen. */
static void lose(struct model *m)
{
	uint32_t from = m->record_count, i;

	go_on(m, 1);
	for (i = m->record_count - 1; i > from; i--)
		if (m->records[i].of.kind == OBJECT_WORDS && m->records[i].of.number[WORDS_STREAM] > MODEL_THREADS)
			break;
	m->records[i].of.number[WORDS_JAVA_TID] = 0;
	m->records[i].of.word_bytes = 0; /* all of the slot */
	m->records[m->record_count - 1].of.number[PHASE_LOST_BYTES] = 64;
	phase(m, OBJECT_END_OFF);
	m->records[m->record_count - 1].of.number[PHASE_LOST_BYTES] = 64;
	from = m->record_count;
	go_on(m, 1);
	model_run_program(m);
	forget_records(m, from);
}

static const char *const class_names[] = {"", "Small", "Large", "[B", "Late"};

/* The number of objects that are not where, or what, they are in the model. */
static uint32_t wrong(const struct object_replay *r, const struct model *m)
{
	const struct object_names *n = object_replay_names(r);
	struct object_found f;
	uint64_t unit = 0;
	uint32_t count = 0, right = 0, all = 0;

	for (; object_replay_next(r, &unit, &f); count++) {
		uint64_t at = (f.address - MODEL_BASE) >> MODEL_SHIFT;
		const struct model_object *o = m->at[at] ? &m->objects[m->at[at] - 1] : NULL;

		right += o && f.bytes == 8 * o->units && f.length == o->length && f.class != INDEX_NONE &&
			 !strcmp(n->classes[f.class].name, class_names[o->class]);
	}
	for (uint32_t at = 0; at < MODEL_UNITS; at++)
		all += m->at[at] != 0;
	return all - right + count - right;
}

static void assert_sound(const struct object_replay *r)
{
	const struct object_sums *s = object_replay_sums(r);

	assert_false(s->heap_given_up);
	assert_int_equal(s->unknown_moves + s->over + s->bad_words + s->chains_wrong + s->no_place + s->holes, 0);
}

static struct object_replay *replay_of(struct model *m)
{
	struct object_replay *r = object_replay_new(HEAP_BYTES);

	assert_non_null(r);
	assert_int_equal(model_add(r, m, 0, m->record_count), 0);
	assert_int_equal(object_replay_finish(r), 0);
	return r;
}

/* --- the heap ----------------------------------------------------------------------------------------------- */

static void it_is_complete_again(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 4; seed++) {
		struct model *m = model_new(seed);
		const struct object_collection *c;
		struct object_replay *r;
		uint32_t lost, ring, count;

		go_on(m, 2);
		lose(m);
		lost = m->collections;
		r = replay_of(m);
		assert_true(object_replay_sums(r)->incomplete_now);
		assert_true(wrong(r, m) > 0);
		object_replay_free(r);

		ring = begin_again(m);
		go_on(m, 5);
		number(m, ring, 1);
		r = replay_of(m);
		assert_int_equal(wrong(r, m), 0);
		assert_false(object_replay_sums(r)->incomplete_now);
		assert_int_equal(object_replay_sums(r)->rings_again, 1);
		assert_true(object_replay_sums(r)->forgotten > 0);
		assert_int_equal(object_replay_names(r)->class_map.count, 4); /* each has one row */
		c = object_replay_collections(r, &count);
		assert_int_equal(count, m->collections - 1); /* one was in no ring */
		assert_int_equal(object_replay_sums(r)->incomplete, 1);
		for (uint32_t i = 0; i < count; i++) {
			uint32_t which = i < 3 ? i : i + 1;

			assert_int_equal(c[i].id, which);
			assert_int_equal(c[i].incomplete, i == 2);
			if (which < lost - 2 || which >= lost)
				assert_int_equal(c[i].after, m->after[which].count);
		}
		object_replay_free(r);
		model_free(m);
	}
}

/* Rings of which nothing was lost, so that the figures of all are those of one. */
static void rings_in_a_row(void **state)
{
	struct model *m = model_new(9);
	struct object_replay *r;
	uint64_t found = 0;

	(void)state;
	go_on(m, 1);
	for (uint32_t n = 1; n < 5; n++) {
		uint32_t ring;

		phase(m, OBJECT_END_OFF);
		for (uint32_t at = 0; at < MODEL_UNITS; at++)
			found += m->at[at] != 0;
		ring = begin_again(m);
		go_on(m, 2);
		number(m, ring, n);
	}
	r = replay_of(m);
	assert_sound(r);
	assert_int_equal(wrong(r, m), 0);
	assert_int_equal(object_replay_sums(r)->count, m->object_count);
	assert_int_equal(object_replay_sums(r)->found, found);
	assert_int_equal(object_replay_sums(r)->incomplete, 0);
	assert_int_equal(object_replay_sums(r)->rings_again, 4);
	object_replay_free(r);
	model_free(m);
}

static void until_all_is_walked(void **state)
{
	static const struct {
		uint64_t ended;
		bool incomplete;
	} of[] = {{OBJECT_PHASE_WALKS, true}, {OBJECT_END_KILLED, true}, {OBJECT_END_LEFT, true},
		  {OBJECT_END_NONE, false}, {OBJECT_END_OFF, false}};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		struct model *m = model_new(3);
		struct object_replay *r;
		uint32_t ring;

		go_on(m, 1);
		phase(m, OBJECT_END_OFF);
		ring = begin_again(m);
		phase(m, of[i].ended);
		number(m, ring, 1);
		r = replay_of(m);
		assert_int_equal(object_replay_sums(r)->incomplete_now, of[i].incomplete);
		object_replay_free(r);
		/* A collection, as no JVM has one then. */
		ring = m->record_count;
		go_on(m, 1);
		for (uint32_t k = ring; k < m->record_count; k++)
			if (m->records[k].of.kind == OBJECT_PHASE)
				m->records[k].of.number[PHASE_ENDED] = of[i].ended;
		number(m, ring, 1);
		r = replay_of(m);
		assert_int_equal(object_replay_sums(r)->incomplete, of[i].incomplete);
		object_replay_free(r);
		model_free(m);
	}
}

/* --- parts -------------------------------------------------------------------------------------------------- */

struct kept {
	struct model *m; /* its records are the state's */
};

static int keep(void *ctx, const struct object_record *o)
{
	struct kept *k = ctx;
	struct model_record *to;

	*model_record(k->m, o->kind) = *o;
	to = &k->m->records[k->m->record_count - 1];
	to->words = malloc(o->word_bytes + 1);
	if (o->word_bytes)
		memcpy(to->words, o->words, o->word_bytes);
	for (int i = 0; i < 2; i++)
		to->of.text[i] = o->text[i] ? strndup(o->text[i], o->text_bytes[i]) : NULL; /* freed with k */
	return 0;
}

static void kept_free(struct kept *k)
{
	for (uint32_t i = 0; i < k->m->record_count; i++)
		for (int t = 0; t < 2; t++)
			free((void *)(uintptr_t)k->m->records[i].of.text[t]);
	model_free(k->m);
}

/* As the recorder does: a new replay with the ring, of which a part has the state; cut anywhere in it. Whoever has read
 * the ring passes over the state; whoever has not begins with it. */
static void parts_of_a_further_ring(void **state)
{
	struct model *m = model_new(6);
	uint32_t ring;

	(void)state;
	go_on(m, 2);
	lose(m);
	ring = begin_again(m);
	phase(m, OBJECT_PHASE_WALKS);
	go_on(m, 3);
	number(m, ring, 1);
	for (uint32_t i = 0; i <= 12; i++) {
		uint32_t cut = ring + 1 + (m->record_count - ring - 1) * i / 12;
		struct object_replay *online = object_replay_new(HEAP_BYTES), *part = object_replay_new(HEAP_BYTES),
				     *all = object_replay_new(HEAP_BYTES);
		struct kept k = {model_new(1)};
		struct object_replay *both[] = {part, all};

		forget_records(k.m, 0);
		object_replay_online(online);
		assert_int_equal(model_add(online, m, ring, cut), 0);
		assert_int_equal(object_replay_carry(online, keep, &k), 0);
		assert_int_equal(model_add(all, m, 0, cut), 0);
		for (int b = 0; b < 2; b++) {
			assert_int_equal(model_add(both[b], k.m, 0, k.m->record_count), 0);
			assert_int_equal(model_add(both[b], m, cut, m->record_count), 0);
			assert_int_equal(object_replay_finish(both[b]), 0);
			assert_int_equal(wrong(both[b], m), 0);
			assert_int_equal(object_replay_sums(both[b])->rings_again, b);
			assert_int_equal(object_replay_sums(both[b])->incomplete, b);
			/* A part that has no record of a phase does not know whether all was walked. */
			assert_int_equal(object_replay_sums(both[b])->incomplete_now, !b && cut == m->record_count);
			object_replay_free(both[b]);
		}
		object_replay_free(online);
		kept_free(&k);
	}
	model_free(m);
}

/* --- names -------------------------------------------------------------------------------------------------- */

static void record(struct object_replay *r, struct object_record o, uint32_t ring)
{
	o.number[0] |= RING(ring);
	o.text_bytes[0] = o.text[0] ? (uint32_t)strlen(o.text[0]) : 0;
	o.text_bytes[1] = o.text[1] ? (uint32_t)strlen(o.text[1]) : 0;
	assert_int_equal(object_replay_add(r, &o), 0);
}

static struct object_record ring_record(void)
{
	struct object_record o = {.kind = OBJECT_RING};

	o.number[RING_HEAP_SHIFT] = 3;
	o.number[RING_HEAP_BYTES] = 1 << 20;
	return o;
}

static struct object_record class_record(uint32_t id, uint32_t klass, const char *name)
{
	struct object_record o = {.kind = OBJECT_CLASS, .text = {name}};

	o.number[CLASS_ID] = id;
	o.number[CLASS_KLASS] = klass;
	o.number[CLASS_LAYOUT] = 16;
	return o;
}

static struct object_record method_record(uint32_t id, uint32_t class, const char *name)
{
	struct object_record o = {.kind = OBJECT_METHOD, .text = {name, "()V"}};

	o.number[METHOD_ID] = id;
	o.number[METHOD_CLASS_ID] = class;
	return o;
}

static struct object_record site_record(uint32_t id, uint32_t class, uint32_t method)
{
	struct object_record o = {.kind = OBJECT_SITE, .frames = {{method, 7}}, .frame_count = 1};

	o.number[SITE_ID] = id;
	o.number[SITE_CLASS_ID] = class;
	return o;
}

static void births(struct object_replay *r, uint32_t ring, const uint32_t *words, uint32_t count)
{
	struct object_record o = {.kind = OBJECT_WORDS,
				  .words = (const uint8_t *)words,
				  .word_bytes = 4 * count},
			     end = {.kind = OBJECT_PHASE};

	o.number[WORDS_STREAM] = 1;
	o.number[WORDS_LAST] = 1;
	o.number[WORDS_JAVA_TID] = 1;
	record(r, o, ring);
	end.number[PHASE_ENDED] = OBJECT_END_OFF;
	record(r, end, ring);
}

#define NEW(site) (MODEL_KIND(SPOOR_OBJ_NEW) | (site))
#define NEWK(site) (MODEL_KIND(SPOOR_OBJ_NEWK) | (site))
#define BIRTHS(r, ring, ...)                                                                                           \
	births(r, ring, (const uint32_t[]){MODEL_KIND(SPOOR_OBJ_TLAB), 100, 1000, 0, 0, __VA_ARGS__},                  \
	       sizeof((const uint32_t[]){__VA_ARGS__}) / 4 + 5)

/* Objects by "CLASS METHOD", as a report puts them together: by class's row, and method's number. */
static uint64_t count_of(const struct object_replay *r, const char *what)
{
	const struct object_names *n = object_replay_names(r);
	uint32_t class = INDEX_NONE, method = 0;
	uint64_t count = 0;
	char text[64], at[64];

	for (uint32_t i = 1; i < n->kind_count; i++) {
		const struct object_kind *k = &n->kinds[i];
		const struct object_site *s = &n->sites[k->site];

		snprintf(text, sizeof(text), "%s %s", object_class_text(n, k->class, at, sizeof(at)),
			 n->methods[keymap_find_number(&n->method_map, n->frames[s->first_frame].method)].name);
		if (strcmp(text, what) != 0)
			continue;
		assert_true(!count || (k->class == class && n->frames[s->first_frame].method == method));
		class = k->class;
		method = n->frames[s->first_frame].method;
		count += k->of.count;
	}
	return count;
}

/* The numbers of the first ring are those of others in the second one. */
static void names_have_other_numbers(void **state)
{
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	const struct object_names *n = object_replay_names(r);
	struct object_record gone = {.kind = OBJECT_GONE, .number = {3}};

	(void)state;
	record(r, ring_record(), 0);
	record(r, class_record(1, 0x10, "A"), 0);
	record(r, class_record(2, 0x20, "B"), 0);
	record(r, class_record(3, 0x30, "C"), 0);
	record(r, method_record(1, 1, "m"), 0);
	record(r, method_record(2, 1, "n"), 0);
	record(r, site_record(1, 1, 1), 0);
	record(r, site_record(2, 2, 2), 0);
	record(r, site_record(3, 0, 1), 0);
	record(r, gone, 0);
	BIRTHS(r, 0, NEW(1), NEW(2), NEW(2), NEWK(3), 0x20);

	record(r, ring_record(), 1);
	record(r, class_record(2, 0x10, "A"), 1);
	record(r, class_record(1, 0x20, "B"), 1);
	record(r, class_record(4, 0x30, "C"), 1); /* the former one was unloaded */
	record(r, class_record(5, 0x40, "A"), 1); /* of another loader */
	record(r, method_record(2, 2, "m"), 1);
	record(r, method_record(1, 2, "n"), 1);
	record(r, method_record(3, 5, "m"), 1);
	record(r, site_record(2, 2, 2), 1);
	record(r, site_record(1, 1, 1), 1);
	record(r, site_record(3, 0, 3), 1);
	BIRTHS(r, 1, NEW(2), NEW(2), NEW(1), NEWK(3), 0x30, NEWK(3), 0x40);
	assert_int_equal(object_replay_finish(r), 0);

	assert_sound(r);
	assert_int_equal(object_replay_sums(r)->unknown_class, 0);
	assert_int_equal(count_of(r, "A n"), 0);
	assert_int_equal(count_of(r, "B n"), 3);
	assert_int_equal(count_of(r, "B m"), 1);
	assert_int_equal(count_of(r, "C m"), 1);
	assert_int_equal(n->class_map.count, 5);
	assert_int_equal(n->method_map.count, 3);
	assert_int_equal(n->kinds[1].of.count, 1); /* A m of the first ring, */
	assert_int_equal(n->kinds[1].class, n->kinds[4].class); /* and of the second */
	assert_int_equal(n->kinds[4].of.count, 2);
	assert_string_equal(n->methods[0].name, "m");
	object_replay_free(r);
}

/* --- rings that lie ----------------------------------------------------------------------------------------- */

/* Its records are no other ring's: nothing is guessed. */
static void a_ring_whose_begin_is_missing(void **state)
{
	struct model *m = model_new(4);
	struct object_replay *r;
	uint32_t ring, born;

	(void)state;
	go_on(m, 2);
	phase(m, OBJECT_END_OFF);
	born = m->object_count;
	ring = begin_again(m);
	go_on(m, 2);
	number(m, ring, 1);
	m->records[ring].of.kind = OBJECT_GONE; /* of no class */
	r = replay_of(m);
	assert_int_equal(object_replay_sums(r)->count, born);
	assert_int_equal(object_replay_sums(r)->holes, 1);
	assert_int_equal(object_replay_sums(r)->rings_again, 0);
	assert_true(object_replay_sums(r)->incomplete_now);
	object_replay_free(r);
	/* The next one is complete again. */
	phase(m, OBJECT_END_OFF);
	number(m, m->record_count - 1, 1);
	ring = begin_again(m);
	go_on(m, 2);
	number(m, ring, 2);
	r = replay_of(m);
	assert_int_equal(wrong(r, m), 0);
	assert_false(object_replay_sums(r)->incomplete_now);
	object_replay_free(r);
	/* So it is if nothing of the first ring's begin is there. */
	m->records[0].of.kind = OBJECT_GONE;
	r = replay_of(m);
	assert_int_equal(wrong(r, m), 0);
	object_replay_free(r);
	model_free(m);
}

static void a_ring_of_another_heap(void **state)
{
	static const int which[] = {RING_PID, RING_HEAP_BASE, RING_HEAP_BYTES, RING_HEAP_SHIFT};

	(void)state;
	for (size_t i = 0; i < sizeof(which) / sizeof(*which); i++) {
		struct model *m = model_new(4);
		struct object_replay *r;
		uint32_t ring;

		go_on(m, 1);
		ring = begin_again(m);
		m->records[ring].of.number[which[i]]++;
		go_on(m, 1);
		number(m, ring, 1);
		r = replay_of(m);
		assert_true(object_replay_sums(r)->heap_given_up);
		assert_true(object_replay_sums(r)->bad_words > 0);
		object_replay_free(r);
		model_free(m);
	}
}

static void rings_that_come_again(void **state)
{
	struct model *m = model_new(4);
	struct object_record first, second;
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	uint32_t ring;

	(void)state;
	go_on(m, 1);
	first = m->records[0].of;
	ring = begin_again(m);
	go_on(m, 1);
	number(m, ring, 1);
	second = m->records[ring].of;
	assert_int_equal(model_add(r, m, 0, m->record_count), 0);
	assert_int_equal(object_replay_add(r, &first), 0);
	assert_int_equal(object_replay_add(r, &second), 0);
	assert_int_equal(model_add(r, m, 1, ring), 0); /* of a ring that is over */
	assert_int_equal(object_replay_finish(r), 0);
	assert_sound(r);
	assert_int_equal(object_replay_sums(r)->rings_again, 1);
	assert_int_equal(wrong(r, m), 0);
	object_replay_free(r);
	model_free(m);
}

/* Its moves are never applied, and are none of the next ring's. */
static void a_ring_amid_a_collection(void **state)
{
	struct model *m = model_new(2);
	const struct object_collection *c;
	struct object_replay *r;
	uint32_t ring, count;

	(void)state;
	go_on(m, 2);
	forget_records(m, m->record_count - 1); /* the phase that ends the last one */
	ring = begin_again(m);
	go_on(m, 2);
	number(m, ring, 1);
	r = object_replay_new(HEAP_BYTES);
	/* Words of a collection may be looked at before its end, which is tried here. */
	assert_int_equal(model_add(r, m, 0, ring), 0);
	assert_int_equal(model_add(r, m, ring, m->record_count), 0);
	assert_int_equal(object_replay_finish(r), 0);
	assert_int_equal(wrong(r, m), 0);
	c = object_replay_collections(r, &count);
	assert_int_equal(c[count - 1].after, m->after[m->collections - 1].count);
	assert_false(c[count - 1].incomplete);
	object_replay_free(r);
	model_free(m);
}

/* Each ring has a heap forgotten that is as large as one can be, or many names begun anew. */
static void rings_without_end(void **state)
{
	(void)state;
	for (int names = 0; names < 2; names++) {
		struct object_replay *r = object_replay_new(HEAP_BYTES);
		struct object_record o = ring_record();
		int err = 0;

		if (!names)
			o.number[RING_HEAP_BYTES] = 1ull << 35;
		record(r, o, 0);
		for (uint32_t i = 0; names && i < MANY; i++)
			record(r, class_record(i, i, "A"), 0);
		for (uint32_t n = 1; n < 100 * MANY && !err; n++) {
			o.number[0] = RING(n);
			err = object_replay_add(r, &o);
		}
		assert_int_equal(err, -EFBIG);
		object_replay_free(r);
	}
}

static void no_memory(void **state)
{
	struct model *m = model_new(8);
	bool failed = true;
	uint32_t ring;

	(void)state;
	go_on(m, 1);
	ring = begin_again(m);
	go_on(m, 1);
	number(m, ring, 1);
	for (unsigned long n = 0; failed; n += 1 + n / 8) {
		struct object_replay *r;
		int err = -ENOMEM;

		alloc_fail_at(n);
		r = object_replay_new(HEAP_BYTES);
		if (r)
			err = model_add(r, m, 0, m->record_count);
		failed = alloc_fail_off();
		assert_true(!err || err == -ENOMEM);
		assert_true(err || !failed || object_replay_sums(r)->heap_given_up);
		object_replay_free(r);
	}
	model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_complete_again),
		cmocka_unit_test(rings_in_a_row),
		cmocka_unit_test(until_all_is_walked),
		cmocka_unit_test(parts_of_a_further_ring),
		cmocka_unit_test(names_have_other_numbers),
		cmocka_unit_test(a_ring_whose_begin_is_missing),
		cmocka_unit_test(a_ring_of_another_heap),
		cmocka_unit_test(rings_that_come_again),
		cmocka_unit_test(a_ring_amid_a_collection),
		cmocka_unit_test(rings_without_end),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
