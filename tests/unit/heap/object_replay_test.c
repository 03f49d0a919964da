/* heap/replay: logs of object events that no JVM writes. What would take long is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "heap/replay/object_choice.h"
#include "heap/replay/object_replay.h"
#include "heap/replay/object_stream.h"
#include "jvm-hooks/graph.h"
#include "jvm-hooks/objects.h"
#include "log/format/object_record.h"
#include "tests/unit/alloc_fail.h"

#define HEAP_BYTES (1 << 30)
#define MANY 100000

static struct object_replay *replay(uint64_t heap_bytes)
{
	struct object_record ring = {.kind = OBJECT_RING};
	struct object_replay *r = object_replay_new(64 << 20);

	assert_non_null(r);
	ring.number[RING_HEAP_SHIFT] = 3;
	ring.number[RING_HEAP_BYTES] = heap_bytes;
	assert_int_equal(object_replay_add(r, &ring), 0);
	return r;
}

static int words(struct object_replay *r, uint64_t stream, uint64_t sequence, uint64_t phase,
		 const uint32_t *of, uint32_t count)
{
	struct object_record o = {.kind = OBJECT_WORDS,
				  .words = (const uint8_t *)of,
				  .word_bytes = count * (uint32_t)sizeof(*of)};

	o.number[WORDS_STREAM] = stream;
	o.number[WORDS_SEQUENCE] = sequence;
	o.number[WORDS_PHASE] = phase;
	o.number[WORDS_LAST] = 1;
	return object_replay_add(r, &o);
}

static int phase(struct object_replay *r, uint64_t number)
{
	struct object_record o = {.kind = OBJECT_PHASE};

	o.number[PHASE_NUMBER] = number;
	return object_replay_add(r, &o);
}

static struct object_record slot(uint64_t sequence)
{
	struct object_record o = {.kind = OBJECT_WORDS};

	o.number[WORDS_SEQUENCE] = sequence;
	o.number[WORDS_LAST] = 1;
	return o;
}

static void add(struct object_stream *s, uint64_t sequence)
{
	struct object_record o = slot(sequence);
	uint64_t bytes;

	assert_int_equal(object_stream_add(s, &o, &bytes), 0);
}

static uint64_t count_of(struct object_stream *s)
{
	uint64_t n = 0;

	for (const struct object_chunk *c = s->first; c; c = c->next, n++)
		assert_true(!c->next || c->sequence < c->next->sequence);
	return n;
}

static void slots_are_ordered_whichever_way_they_come(void **state)
{
	struct object_stream s = {0};

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		add(&s, i % 2 ? 2000 - i : 2000 + i);
	add(&s, 2000);
	assert_int_equal(count_of(&s), 1000);
	while (s.first)
		object_stream_drop(&s);
	add(&s, 3000);
	add(&s, 3001);
	assert_int_equal(count_of(&s), 2);
	object_stream_free(&s);
}

static void a_slot_that_comes_far_too_late_is_left_out(void **state)
{
	struct object_stream s = {0};

	(void)state;
	for (uint64_t i = 0; i < 3 * OBJECT_LATE_MAX; i++)
		add(&s, 2 * i);
	add(&s, 2 * OBJECT_LATE_MAX - 1);
	add(&s, 4 * OBJECT_LATE_MAX - 1);
	assert_int_equal(count_of(&s), 3 * OBJECT_LATE_MAX + 1);
	object_stream_free(&s);
}

static void no_memory_for_a_slot(void **state)
{
	struct object_record o = slot(5);
	struct object_stream s = {0};
	uint64_t bytes;
	unsigned long n = 0;
	int err;

	(void)state;
	do {
		alloc_fail_at(n++);
		err = object_stream_add(&s, &o, &bytes);
		assert_int_equal(err, alloc_fail_off() ? -ENOMEM : 0);
	} while (err);
	assert_true(n > 2);
	assert_int_equal(count_of(&s), 1);
	object_stream_free(&s);
}

/* Each run has a vast heap looked at, in which there is nothing. */
static void runs_of_nothing_end(void **state)
{
	struct object_replay *r = replay(1ull << 35);
	uint32_t run[5 * 100], births[100], n = 0;
	int err;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		memcpy(run + 5 * i,
		       (uint32_t[]){(uint32_t)SPOOR_OBJ_RUN << 28, 0, 0, 1 << 20, UINT32_MAX}, 20);
	for (uint32_t i = 0; i < 100; i++)
		births[i] = (uint32_t)SPOOR_OBJ_NEW << 28;
	err = words(r, 1, 0, 0, births, 100);
	for (; n < MANY && !err; n++) {
		err = words(r, 1, n + 1, 2 * n + 1, run, 5 * 100);
		err = err ? err : phase(r, 2 * n + 2);
	}
	assert_int_equal(err, -EFBIG);
	object_replay_free(r);
}

/* All of them wait for a phase that does not come, and are looked at in each that does. */
static void threads_that_wait_for_a_far_phase_end(void **state)
{
	static const uint32_t none = 0;
	struct object_replay *r = replay(HEAP_BYTES);
	int err = phase(r, 0);

	(void)state;
	for (uint64_t i = 0; i < MANY && !err; i++)
		err = words(r, i, 0, UINT64_MAX, &none, 1);
	for (uint64_t n = 1; n < MANY && !err; n++)
		err = phase(r, n);
	assert_int_equal(err, -EFBIG);
	object_replay_free(r);
}

/* 32,768 phases between two records, again and again, without a word: nothing is to be done. */
static void phases_of_nothing_cost_nothing(void **state)
{
	struct object_replay *r = replay(HEAP_BYTES);

	(void)state;
	for (uint64_t n = 0; n < MANY; n++)
		assert_int_equal(phase(r, n << 15), 0);
	assert_int_equal(object_replay_sums(r)->bad_words, 0);
	object_replay_free(r);
}

/* A heap that is as large as one can be is forgotten in each collection. */
static void forgetting_a_vast_heap_ends(void **state)
{
	struct object_replay *r = replay(1ull << 35);
	uint32_t begin[4] = {(uint32_t)SPOOR_OBJ_GC << 28 | SPOOR_GC_BEGIN << 24 |
			     SPOOR_GC_ALL << 8 | 4};
	int err = 0;

	(void)state;
	for (uint64_t n = 0; n < MANY && !err; n++) {
		err = words(r, 1, n, 2 * n + 1, begin, 4);
		err = err ? err : phase(r, 2 * n + 2);
	}
	assert_int_equal(err, -EFBIG);
	object_replay_free(r);
}

/* The words of a collection that are more than are held at a time: those of a graph of a large heap. */
static void a_graph_of_more_than_can_wait(void **state)
{
	enum { EVENT_WORDS = 128, EVENTS = 128, BYTES = 4 * (EVENT_WORDS - 1) };
	static uint32_t slot_words[EVENTS * EVENT_WORDS];
	struct object_replay *r = replay(HEAP_BYTES);
	const uint32_t begin[] = {(uint32_t)SPOOR_OBJ_GC << 28 | SPOOR_GC_BEGIN << 24 | 4, 1, 100, 0};
	const uint32_t end[] = {(uint32_t)SPOOR_OBJ_GC << 28 | SPOOR_GC_END << 24 | 4, 1, 200, 0};
	const uint64_t slots = (1ull << 30) / sizeof(slot_words) + 100;
	const struct object_collection *c;
	uint32_t count;

	(void)state;
	assert_int_equal(phase(r, 0), 0);
	assert_int_equal(phase(r, 1), 0);
	assert_int_equal(words(r, 7, 0, 1, begin, 4), 0);
	for (uint64_t i = 0; i < slots; i++) {
		for (uint32_t k = 0; k < EVENTS; k++) {
			bool first = !i && !k, last = i == slots - 1 && k == EVENTS - 1;

			slot_words[k * EVENT_WORDS] =
				(uint32_t)SPOOR_OBJ_EXT << 28 | SPOOR_EXT_GRAPH << 20 | EVENT_WORDS << 12 |
				(first ? SPOOR_GRAPH_FIRST : 0) | (last ? SPOOR_GRAPH_LAST : 0) | BYTES;
		}
		assert_int_equal(words(r, 7, 1 + i, 1, slot_words, EVENTS * EVENT_WORDS), 0);
	}
	assert_int_equal(words(r, 7, 1 + slots, 1, end, 4), 0);
	assert_int_equal(phase(r, 2), 0);
	assert_int_equal(object_replay_finish(r), 0);
	c = object_replay_collections(r, &count);
	assert_int_equal(count, 1);
	assert_int_equal(c->graph_bytes, slots * EVENTS * BYTES);
	assert_int_equal(c->end_ns, 200);
	assert_int_equal(object_replay_sums(r)->holes + object_replay_sums(r)->bad_words, 0);
	object_replay_free(r);
}

static uint32_t all_by_time(void *ctx, const struct object_birth *b, bool *ret_by_time)
{
	(void)ctx;
	(void)b;
	*ret_by_time = true;
	return 0;
}

/* Is a limit, of the begin or the end of the collection, between the two? */
static bool limit_between(void *ctx, const struct object_birth *b, uint64_t to_ns)
{
	const uint64_t *limit = ctx;

	return b->from_ns < *limit && to_ns - 1 >= *limit;
}

/* A thread that rests after a collection loses its slot at the begin of the next: the slot's last word is the mark of
 * the first collection's end, and it ends long after that. */
static void a_slot_that_ends_with_a_mark(void **state)
{
	const uint32_t births[] = {(uint32_t)SPOOR_OBJ_TLAB << 28, 100, 50, 50, 0, (uint32_t)SPOOR_OBJ_NEW << 28 | 1,
				   (uint32_t)SPOOR_OBJ_GC << 28 | SPOOR_GC_MARK << 24 | 1,
				   (uint32_t)SPOOR_OBJ_GC << 28 | SPOOR_GC_MARK << 24 | 2};
	const uint32_t begin[] = {(uint32_t)SPOOR_OBJ_GC << 28 | SPOOR_GC_BEGIN << 24 | 4, 1, 100, 0,
				  (uint32_t)SPOOR_OBJ_GC << 28 | SPOOR_GC_END << 24 | 4, 1, 200, 0};

	(void)state;
	for (uint32_t count = 7; count <= 8; count++) /* it may end within the collection, too */
		for (uint64_t limit = 100; limit <= 200; limit += 100) {
			const struct object_choice choice = {all_by_time, limit_between, &limit};
			struct object_record site = {.kind = OBJECT_SITE};
			struct object_record o = {.kind = OBJECT_WORDS,
						  .words = (const uint8_t *)births,
						  .word_bytes = count * 4};
			struct object_replay *r = replay(HEAP_BYTES);

			object_replay_choose(r, &choice);
			site.number[SITE_ID] = 1;
			assert_int_equal(object_replay_add(r, &site), 0);
			assert_int_equal(phase(r, 0), 0);
			o.number[WORDS_STREAM] = 1;
			o.number[WORDS_LAST] = 1;
			o.number[WORDS_BEGIN_NS] = 40;
			o.number[WORDS_END_NS] = count == 7 ? 150 : 500;
			assert_int_equal(object_replay_add(r, &o), 0);
			assert_int_equal(words(r, 7, 0, 1, begin, 8), 0);
			assert_int_equal(phase(r, 2), 0);
			assert_int_equal(object_replay_finish(r), 0);
			assert_int_equal(object_replay_sums(r)->count, 1);
			assert_int_equal(object_replay_sums(r)->at_edge, 0);
			object_replay_free(r);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_are_ordered_whichever_way_they_come),
		cmocka_unit_test(a_slot_that_comes_far_too_late_is_left_out),
		cmocka_unit_test(no_memory_for_a_slot),
		cmocka_unit_test(runs_of_nothing_end),
		cmocka_unit_test(threads_that_wait_for_a_far_phase_end),
		cmocka_unit_test(phases_of_nothing_cost_nothing),
		cmocka_unit_test(forgetting_a_vast_heap_ends),
		cmocka_unit_test(a_graph_of_more_than_can_wait),
		cmocka_unit_test(a_slot_that_ends_with_a_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
