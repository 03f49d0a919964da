/* heap/replay/object_carry: a part of a log that begins with the state of those before is the same heap, at each
 * collection, wherever the log was cut. The heap is that of object_model.h, which knows each object. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heap/replay/object_replay.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/heap/object_model.h"

#define HEAP_BYTES (64 << 20)
#define COLLECTIONS 8
#define CUTS 24

static struct model *story(unsigned seed)
{
	struct model *m = model_new(seed);

	for (uint32_t i = 0; i < COLLECTIONS; i++) {
		static const enum model_gc kinds[] = {MODEL_YOUNG, MODEL_YOUNG, MODEL_FULL, MODEL_REMARK,
						      MODEL_FULL_BY_SPACES};

		model_run_program(m);
		model_collect(m, kinds[i % 5]);
	}
	model_run_program(m);
	return m;
}

/* --- records that are kept ---------------------------------------------------------------------------------- */

struct kept {
	struct object_record *of;
	uint32_t count, capacity;
};

static const uint8_t *copy(const void *bytes, size_t count)
{
	uint8_t *to = malloc(count + 1);

	assert_non_null(to);
	if (count)
		memcpy(to, bytes, count);
	return to;
}

static int keep(void *ctx, const struct object_record *o)
{
	struct kept *k = ctx;
	struct object_record *to;

	if (k->count == k->capacity) {
		k->capacity = 2 * k->capacity + 64;
		k->of = realloc(k->of, k->capacity * sizeof(*k->of));
		assert_non_null(k->of);
	}
	to = &k->of[k->count++];
	*to = *o;
	assert_true(o->word_bytes <= OBJECT_WORDS_MAX);
	to->words = copy(o->words, o->word_bytes);
	for (int i = 0; i < 2; i++)
		to->text[i] = (const char *)copy(o->text[i], o->text_bytes[i]);
	return 0;
}

static void kept_free(struct kept *k)
{
	for (uint32_t i = 0; i < k->count; i++) {
		free((void *)(uintptr_t)k->of[i].words);
		free((void *)(uintptr_t)k->of[i].text[0]);
		free((void *)(uintptr_t)k->of[i].text[1]);
	}
	free(k->of);
}

static int add(struct object_replay *r, const struct object_record *of, uint32_t count)
{
	int err = 0;

	for (uint32_t i = 0; i < count && !err; i++)
		err = object_replay_add(r, &of[i]);
	return err;
}

static uint32_t event_words(const uint32_t *w)
{
	static const uint8_t words[] = {
		[SPOOR_OBJ_NEW] = 1,  [SPOOR_OBJ_ARR] = 1,    [SPOOR_OBJ_NEWK] = 2, [SPOOR_OBJ_ARRK] = 2,
		[SPOOR_OBJ_NEWSZ] = 2, [SPOOR_OBJ_AT] = 2,     [SPOOR_OBJ_TLAB] = 5, [SPOOR_OBJ_RETIRE] = 2,
		[SPOOR_OBJ_MOVE] = 1, [SPOOR_OBJ_MOVEX] = 4,  [SPOOR_OBJ_RUN] = 5,  [SPOOR_OBJ_KEEP] = 2,
	};
	uint32_t kind = w[0] >> 28, gc = w[0] >> 24 & 15;

	if (kind == SPOOR_OBJ_EXT) /* what it says of the event that follows is of no use without that */
		return 2 + event_words(w + 2);
	if (kind == SPOOR_OBJ_GC)
		return gc == SPOOR_GC_MARK ? 1 : gc == SPOOR_GC_SPACE ? 4 : w[0] & 0xff;
	return words[kind] + ((kind == SPOOR_OBJ_ARR || kind == SPOOR_OBJ_ARRK) && (w[0] & 0xff) == 255);
}

/* The end of the event that a third of the words ends in. */
static uint32_t third(const uint32_t *words, uint32_t count)
{
	uint32_t at = 0;

	while (at < count / 3)
		at += event_words(words + at);
	return at;
}

/* Words of a slot in two records, as they come when a slot is taken before it is full. */
static void halve(struct model *m)
{
	struct model_record *more = calloc(2ul * m->record_count, sizeof(*more));
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->record_count; i++) {
		struct model_record *r = &m->records[i];
		uint32_t words = r->of.word_bytes / 4, first = third(r->words, words);

		more[n++] = *r;
		if (r->of.kind != OBJECT_WORDS || !first || first >= words)
			continue;
		more[n - 1].of.word_bytes = 4 * first;
		more[n - 1].of.number[WORDS_LAST] = 0;
		more[n] = *r;
		more[n].words = malloc(4 * (words - first));
		memcpy(more[n].words, r->words + first, 4 * (words - first));
		more[n].of.word_bytes = 4 * (words - first);
		more[n++].of.number[WORDS_OFFSET] = 4 * first;
	}
	free(m->records);
	m->records = more;
	m->record_count = n;
}

/* What the part begins with, cut before this record; from: the part before, or NULL. */
static struct kept state_at(struct model *m, uint32_t cut)
{
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	struct kept k = {0};

	object_replay_online(r);
	assert_int_equal(model_add(r, m, 0, cut), 0);
	assert_int_equal(object_replay_carry(r, keep, &k), 0);
	object_replay_free(r);
	return k;
}

/* --- tests -------------------------------------------------------------------------------------------------- */

static void assert_heap(const struct object_replay *r, const struct model *m, const struct model_snapshot *s)
{
	const struct object_names *n = object_replay_names(r);
	struct object_found f;
	uint64_t unit = 0;
	uint32_t i = 0;

	for (; object_replay_next(r, &unit, &f); i++) {
		const struct model_object *o;

		assert_true(i < s->count);
		o = &m->objects[s->object[i]];
		assert_int_equal(f.address, MODEL_BASE + ((uint64_t)s->at[i] << MODEL_SHIFT));
		assert_int_equal(f.bytes, 8 * o->units);
		assert_int_equal(f.length, o->length);
		assert_int_equal(n->classes[f.class].id, o->class);
		assert_int_equal(n->sites[n->kinds[f.kind].site].id, o->site + 1);
		assert_int_equal(f.age, s->age[i] < 15 ? s->age[i] : 15);
	}
	assert_int_equal(i, s->count);
}

static void assert_sound(const struct object_replay *r)
{
	const struct object_sums *s = object_replay_sums(r);

	assert_false(s->heap_given_up);
	assert_int_equal(s->unknown_moves, 0);
	assert_int_equal(s->over, 0);
	assert_int_equal(s->bad_words, 0);
	assert_int_equal(s->chains_wrong, 0);
	assert_int_equal(s->no_place, 0);
	assert_int_equal(s->holes, 0);
}

/* Each collection that ends in the part, and the end. */
static void assert_part(struct model *m, uint32_t cut, struct kept *k)
{
	struct model_snapshot end = model_snapshot(m);
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	const struct object_collection *c;
	uint32_t count;

	assert_int_equal(add(r, k->of, k->count), 0);
	assert_int_equal(model_add(r, m, cut, m->record_count), 0);
	assert_int_equal(object_replay_finish(r), 0);
	assert_sound(r);
	assert_heap(r, m, &end);
	c = object_replay_collections(r, &count);
	assert_true(count <= COLLECTIONS);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t which = COLLECTIONS - count + i;

		assert_int_equal(c[i].id, which);
		assert_int_equal(c[i].before, m->before[which].count);
		assert_int_equal(c[i].after, m->after[which].count);
	}
	assert_true(object_replay_sums(r)->count <= m->object_count);
	model_snapshot_free(&end);
	object_replay_free(r);
}

static void a_part_alone_is_the_same_heap(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 2; seed++) {
		struct model *m = story(seed);

		if (seed)
			halve(m);
		for (uint32_t i = 0; i <= CUTS; i++) {
			uint32_t cut = (uint32_t)((uint64_t)m->record_count * i / CUTS);
			struct kept k = state_at(m, cut);

			assert_part(m, cut, &k);
			kept_free(&k);
		}
		model_free(m);
	}
}

/* Parts that are read in succession are the whole: states are passed over, and each object is born once. */
static void parts_in_succession(void **state)
{
	struct model *m = story(5);
	struct model_snapshot end = model_snapshot(m);
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	uint32_t before = 0;

	(void)state;
	halve(m);
	for (uint32_t i = 1; i < 5; i++) {
		uint32_t cut = m->record_count * i / 5;
		struct kept k = state_at(m, cut);

		assert_int_equal(model_add(r, m, before, cut), 0);
		assert_int_equal(add(r, k.of, k.count), 0);
		before = cut;
		kept_free(&k);
	}
	assert_int_equal(model_add(r, m, before, m->record_count), 0);
	assert_int_equal(object_replay_finish(r), 0);
	assert_sound(r);
	assert_heap(r, m, &end);
	assert_int_equal(object_replay_sums(r)->count, m->object_count);
	assert_int_equal(object_replay_sums(r)->carried, 0);
	model_snapshot_free(&end);
	object_replay_free(r);
	model_free(m);
}

/* Births of all parts are those of the whole, and so are first survivals but for what was carried. */
static void figures_of_a_part(void **state)
{
	struct model *m = story(6);
	uint32_t cut = m->record_count / 2;
	struct object_replay *first = object_replay_new(HEAP_BYTES), *second = object_replay_new(HEAP_BYTES);
	struct kept k = {0};

	(void)state;
	assert_int_equal(model_add(first, m, 0, cut), 0);
	assert_int_equal(object_replay_carry(first, keep, &k), 0);
	assert_int_equal(add(second, k.of, k.count), 0);
	assert_true(object_replay_sums(second)->carried > 0);
	assert_int_equal(model_add(second, m, cut, m->record_count), 0);
	assert_int_equal(object_replay_finish(second), 0);
	assert_int_equal(object_replay_sums(first)->count + object_replay_sums(second)->count, m->object_count);
	for (uint32_t i = 1; i < object_replay_names(second)->kind_count; i++) {
		const struct object_kind *kind = &object_replay_names(second)->kinds[i];

		assert_true(kind->of.survived <= kind->of.count);
		assert_true(kind->part != OBJECT_PART_CARRIED || !kind->of.survived);
	}
	kept_free(&k);
	object_replay_free(first);
	object_replay_free(second);
	model_free(m);
}

/* Where the state is not known, the part does not guess. */
static void a_heap_that_is_not_known(void **state)
{
	struct model *m = story(7);
	struct object_replay *r = object_replay_new(0), *part = object_replay_new(HEAP_BYTES);
	struct kept k = {0};

	(void)state;
	assert_int_equal(model_add(r, m, 0, m->record_count / 2), 0);
	assert_true(object_replay_sums(r)->heap_given_up);
	assert_int_equal(object_replay_carry(r, keep, &k), 0);
	assert_int_equal(add(part, k.of, k.count), 0);
	assert_int_equal(model_add(part, m, m->record_count / 2, m->record_count), 0);
	assert_int_equal(object_replay_finish(part), 0);
	assert_true(object_replay_sums(part)->begin_unknown && object_replay_sums(part)->heap_given_up);
	assert_int_equal(object_replay_sums(part)->bad_words, 0);
	kept_free(&k);
	object_replay_free(r);
	object_replay_free(part);
	model_free(m);
}

static int refuse(void *ctx, const struct object_record *o)
{
	(void)o;
	return --*(int *)ctx < 0 ? -EIO : 0;
}

static void no_memory(void **state)
{
	struct model *m = story(8);
	uint32_t cut = m->record_count / 2;
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	struct kept k = state_at(m, cut);
	bool failed = true;

	(void)state;
	for (unsigned long n = 0; failed; n += 1 + n / 8) {
		struct object_replay *part;
		int err = -ENOMEM;

		alloc_fail_at(n);
		part = object_replay_new(HEAP_BYTES);
		if (part)
			err = add(part, k.of, k.count);
		failed = alloc_fail_off();
		assert_true(!err || err == -ENOMEM);
		assert_true(err || !failed || object_replay_sums(part)->heap_given_up);
		object_replay_free(part);
	}
	assert_int_equal(model_add(r, m, 0, cut), 0);
	for (int left = 0; left <= (int)k.count; left++) {
		int n = left;

		assert_int_equal(object_replay_carry(r, refuse, &n), left < (int)k.count ? -EIO : 0);
	}
	alloc_fail_at(0);
	assert_int_equal(object_replay_carry(r, refuse, &(int){1000000}), -ENOMEM);
	assert_true(alloc_fail_off());
	kept_free(&k);
	object_replay_free(r);
	model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_alone_is_the_same_heap), cmocka_unit_test(parts_in_succession),
		cmocka_unit_test(figures_of_a_part),             cmocka_unit_test(a_heap_that_is_not_known),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
