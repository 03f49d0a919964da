/* heap/replay/object_losses.c: what is known of a heap when events were lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "heap/replay/object_replay.h"
#include "jvm-hooks/objects.h"
#include "log/format/object_record.h"
#include "tests/unit/alloc_fail.h"

enum { COLLECTOR = 7, THREAD = 1, UNITS = 3, AT = 100, OLD = 1000, LOST = 64 };

#define KIND(kind) ((uint32_t)SPOOR_OBJ_##kind << 28)
#define GC(what) (KIND(GC) | (uint32_t)SPOOR_GC_##what << 24)
#define GAP KIND(EXT) | SPOOR_EXT_GAP << 20 | 3 << 12, LOST, 0
#define SPACE GC(SPACE), 0, AT, 100
#define MOVE(from, to) KIND(MOVEX), (from), 0, (to)

struct scene {
	struct object_replay *r;
	uint64_t phase, lost, sequence[COLLECTOR + 1];
};

static void words(struct scene *s, uint64_t stream, const uint32_t *of, size_t bytes)
{
	struct object_record o = {.kind = OBJECT_WORDS,
				  .words = (const uint8_t *)of,
				  .word_bytes = (uint32_t)bytes};

	o.number[WORDS_STREAM] = stream;
	o.number[WORDS_SEQUENCE] = s->sequence[stream]++;
	o.number[WORDS_PHASE] = s->phase;
	o.number[WORDS_LAST] = 1;
	o.number[WORDS_JAVA_TID] = stream == THREAD ? 21 : 0;
	assert_int_equal(object_replay_add(s->r, &o), 0);
}

#define WORDS(s, stream, ...)                                                                      \
	words(s, stream, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}))

static void phase(struct scene *s)
{
	struct object_record o = {.kind = OBJECT_PHASE};

	o.number[PHASE_NUMBER] = ++s->phase;
	o.number[PHASE_LOST_BYTES] = s->lost;
	assert_int_equal(object_replay_add(s->r, &o), 0);
}

/* Two objects, of which the first is in no garbage. */
static struct scene scene(void)
{
	struct scene s = {.r = object_replay_new(64 << 20)};
	struct object_record ring = {.kind = OBJECT_RING}, site = {.kind = OBJECT_SITE};
	struct object_record class = {.kind = OBJECT_CLASS, .text = {"A"}, .text_bytes = {1}};

	assert_non_null(s.r);
	ring.number[RING_HEAP_SHIFT] = 3;
	ring.number[RING_HEAP_BYTES] = 1 << 20;
	class.number[CLASS_ID] = class.number[CLASS_KLASS] = 1;
	class.number[CLASS_LAYOUT] = 8 * UNITS;
	site.number[SITE_ID] = site.number[SITE_CLASS_ID] = 1;
	assert_int_equal(object_replay_add(s.r, &ring), 0);
	assert_int_equal(object_replay_add(s.r, &class), 0);
	assert_int_equal(object_replay_add(s.r, &site), 0);
	s.phase = UINT64_MAX;
	phase(&s);
	WORDS(&s, THREAD, KIND(TLAB), AT, 50, 0, 0, KIND(NEW) | 1, KIND(NEW) | 1);
	return s;
}

#define BEGIN(flags) GC(BEGIN) | (flags) << 8 | 4, 1, 100, 0
#define END GC(END) | 4, 1, 200, 0

/* A collection with these words of its moves. */
#define COLLECT(s, flags, ...)                                                                     \
	do {                                                                                       \
		phase(s);                                                                          \
		WORDS(s, COLLECTOR, BEGIN(flags), __VA_ARGS__, END);                               \
		phase(s);                                                                          \
	} while (0)

static bool is_incomplete(const struct scene *s, uint32_t collection)
{
	uint32_t count;
	const struct object_collection *c = object_replay_collections(s->r, &count);

	assert_true(collection < count);
	return c[collection].incomplete;
}

static void nothing_is_lost(void **state)
{
	struct scene s = scene();

	(void)state;
	COLLECT(&s, 0, SPACE, MOVE(AT, OLD));
	COLLECT(&s, SPOOR_GC_ALL, KIND(RUN), OLD, 0, OLD, UNITS);
	assert_false(is_incomplete(&s, 0));
	assert_false(is_incomplete(&s, 1));
	assert_int_equal(object_replay_sums(s.r)->incomplete, 0);
	assert_int_equal(object_replay_sums(s.r)->uncertain, 0);
	assert_int_equal(object_replay_finish(s.r), 0);
	assert_int_equal(object_replay_sums(s.r)->live, 1);
	object_replay_free(s.r);
}

/* The move of the first object was lost, which the collector's own words tell much later. */
static void a_move_is_lost(void **state)
{
	struct scene s = scene();

	(void)state;
	s.lost = LOST;
	COLLECT(&s, 0, SPACE);
	assert_true(is_incomplete(&s, 0));
	assert_int_equal(object_replay_sums(s.r)->gaps, 0);
	assert_int_equal(object_replay_sums(s.r)->uncertain, 2);
	COLLECT(&s, SPOOR_GC_ALL, KIND(RUN), OLD, 0, OLD, UNITS);
	assert_true(is_incomplete(&s, 1));
	COLLECT(&s, SPOOR_GC_ALL, GAP);
	assert_true(is_incomplete(&s, 2));
	COLLECT(&s, SPOOR_GC_ALL, SPACE);
	assert_true(is_incomplete(&s, 3));
	assert_int_equal(object_replay_sums(s.r)->incomplete, 4);
	assert_int_equal(object_replay_sums(s.r)->uncertain, 2);
	object_replay_free(s.r);
}

/* Births were lost; that they are dead is known when all that lives is known. */
static void births_are_lost(void **state)
{
	for (int alive = 0; alive < 2; alive++) {
		struct scene s = scene();

		(void)state;
		s.lost = LOST;
		WORDS(&s, THREAD, GAP);
		COLLECT(&s, 0, SPACE, MOVE(AT, OLD));
		assert_true(is_incomplete(&s, 0));
		COLLECT(&s, 0, SPACE);
		assert_true(is_incomplete(&s, 1)); /* one may be in what was not collected */
		if (alive)
			COLLECT(&s, SPOOR_GC_ALL, KIND(RUN), OLD, 0, OLD, 2 * UNITS);
		else
			COLLECT(&s, SPOOR_GC_ALL, KIND(RUN), OLD, 0, OLD, UNITS);
		assert_int_equal(is_incomplete(&s, 2), alive);
		COLLECT(&s, 0, SPACE);
		assert_int_equal(is_incomplete(&s, 3), alive);
		object_replay_free(s.r);
	}
}

/* The words that say that it begins. */
static void a_collection_is_lost(void **state)
{
	struct scene s = scene();

	(void)state;
	phase(&s);
	WORDS(&s, COLLECTOR, MOVE(AT, OLD));
	s.lost = LOST;
	phase(&s);
	COLLECT(&s, SPOOR_GC_ALL, GAP);
	COLLECT(&s, SPOOR_GC_ALL, SPACE);
	assert_true(is_incomplete(&s, 0));
	assert_true(is_incomplete(&s, 1));
	object_replay_free(s.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(a_move_is_lost),
		cmocka_unit_test(births_are_lost),
		cmocka_unit_test(a_collection_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
