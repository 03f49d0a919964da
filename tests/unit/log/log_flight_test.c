/* What a flight recorder keeps, against a model of it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "flight_model.h"
#include "tests/unit/alloc_fail.h"

static uint64_t mix(uint64_t n)
{
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ull;
	n = (n ^ n >> 27) * 0x94d049bb133111ebull;
	return n ^ n >> 31;
}

/* Never less than what was asked for: all, or as long as that, or there was no room. */
static void check_kept(struct model *m)
{
	uint64_t from, to, begin = m->begin_ns[m->parts - 1];
	struct flight_take *t;

	assert_int_equal(flight_take(m->o, &t), 0);
	flight_take_range(t, &from, &to);
	assert_int_equal(from, m->begin_ns[m->deleted]);
	assert_true(to >= from && to <= m->now_ns);
	if (m->deleted && !m->for_room)
		assert_true(begin - from >= m->keep_ns);
	/* And not longer than need be. */
	if (m->parts - m->deleted > 1)
		assert_true(m->begin_ns[m->deleted + 1] + m->keep_ns > begin);
	flight_take_free(t);
}

/* Blocks and parts of any size, as log/write/writer.c cuts them: by bytes and by time. */
static void run_model(struct model *m, uint64_t seed, unsigned steps)
{
	model_part(m);
	for (unsigned n = 0; n < steps; n++) {
		uint64_t r = mix(seed + n);

		m->now_ns += r % 1000;
		if (m->bytes[m->parts - 1] > m->part_bytes ||
		    m->now_ns - m->begin_ns[m->parts - 1] > m->part_ns || r % 61 == 0)
			model_part(m);
		m->o->reserve = r >> 20 & 255;
		model_block(m, (r >> 32) % 900, 0);
		if (n % 16 == 0)
			check_kept(m);
	}
	check_kept(m);
}

static void test_time(void **state)
{
	static struct model m;

	(void)state;
	for (uint64_t seed = 1; seed < 8; seed++) {
		model_init(&m, 20000 * seed, NO_LIMIT);
		m.part_bytes = NO_LIMIT;
		m.part_ns = m.keep_ns / (1 + seed % 4);
		run_model(&m, seed << 32, 1000);
		assert_true(m.deleted > 3);
		assert_int_equal(m.for_room, 0);
		assert_int_equal(m.o->ops->close(m.o), 0);
	}
}

/* Parts of a quarter, and smaller: when one goes for want of room, that much is left. */
static void test_room(void **state)
{
	static struct model m;

	(void)state;
	for (uint64_t seed = 1; seed < 8; seed++) {
		model_init(&m, NO_LIMIT, 10000 + 7777 * seed);
		m.part_bytes = m.max_bytes / 4 - 1300;
		m.part_ns = NO_LIMIT;
		run_model(&m, seed << 32, 1000);
		assert_true(m.for_room > 3);
		assert_true(m.o->bytes >= m.max_bytes - m.max_bytes / 4 - 1300);
		assert_int_equal(m.o->ops->close(m.o), 0);
	}
}

static void test_time_and_room(void **state)
{
	static struct model m;

	(void)state;
	for (uint64_t seed = 1; seed < 8; seed++) {
		model_init(&m, 1000 << seed, 30000);
		m.part_bytes = m.max_bytes / 4 - 1300;
		m.part_ns = m.keep_ns / 4;
		run_model(&m, seed << 32, 1000);
		assert_true(m.deleted > 3);
		assert_int_equal(m.o->ops->close(m.o), 0);
	}
}

/* Headers take room, too: many parts with little in them. */
static void test_many_small_parts(void **state)
{
	static struct model m;

	(void)state;
	model_init(&m, NO_LIMIT, 4000);
	for (unsigned n = 0; n < 200; n++) {
		m.now_ns += 10;
		model_part(&m);
	}
	assert_true(m.for_room > 100);
	check_kept(&m);
	assert_int_equal(m.o->ops->close(m.o), 0);
}

static void test_no_header(void **state)
{
	static const uint8_t bytes[LOG_MAGIC_BYTES + BLOCK_HEADER_BYTES];
	struct log_output *o;

	(void)state;
	assert_int_equal(output_flight_open(1, 1000, &o), 0);
	assert_int_equal(o->ops->part(o, bytes, sizeof(bytes)), -EBADMSG);
	assert_int_equal(o->parts, 0);
	assert_int_equal(o->bytes, 0);
	assert_int_equal(o->ops->close(o), 0);
}

/* What does not fit is not there, what was there stays. */
static void test_nth_allocation_fails(void **state)
{
	struct flight_take *take = NULL;
	struct log_output *o = NULL;
	msgpack_sbuffer begin, block;
	struct sealed sealed;
	unsigned long n = 0;
	bool failed;
	int err;

	(void)state;
	make_part(1000000, 1, &begin);
	make_block(1, 1000000, 20, 0, &block, &sealed);
	do {
		alloc_fail_at(n++);
		err = output_flight_open(1, 1000, &o);
		if (!err) {
			err = o->ops->part(o, (const uint8_t *)begin.data, begin.size);
			assert_int_equal(o->bytes, err ? 0 : begin.size);
			if (!err)
				err = o->ops->write(o, &sealed);
			if (!err)
				assert_int_equal(o->bytes, begin.size + sealed.count);
			else if (o->parts)
				assert_int_equal(o->bytes, begin.size);
			if (!err && !(err = flight_take(o, &take)))
				flight_take_free(take);
			assert_int_equal(o->ops->close(o), 0);
		}
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
	} while (failed);
	assert_true(n > 4);
	msgpack_sbuffer_destroy(&begin);
	msgpack_sbuffer_destroy(&block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time),          cmocka_unit_test(test_room),
		cmocka_unit_test(test_time_and_room), cmocka_unit_test(test_many_small_parts),
		cmocka_unit_test(test_no_header),     cmocka_unit_test(test_nth_allocation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
