/* record/decode/losses.c: what is lost is in the log, also records that nobody can use. */
#include <linux/types.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/wire/wire_kinds.h"
#include "bpf/wire/wire_lock.h"
#include "bpf/wire/wire_stack.h"
#include "log/read/reader.h"
#include "log/write/writer.h"
#include "record/decode/chains.h"
#include "record/decode/losses.h"
#include "record/decode/translate.h"
#include "record/identity/ids.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/temp_folder.h"

struct fixture {
	struct temp temp;
	uint32_t epoch;
	struct log_writer *w;
	struct ids *ids;
	struct chains *chains;
	struct translate *t;
	struct losses losses;
};

static int begin(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct log_writer_options o = {0};
	json_t *header = json_object();

	assert_non_null(f);
	assert_int_equal(temp_begin(&f->temp), 0);
	o.path = f->temp.path;
	assert_int_equal(log_writer_open(&o, header, &f->w), 0);
	json_decref(header);
	assert_int_equal(ids_new(f->w, NULL, &f->ids), 0);
	assert_int_equal(chains_new(f->w, NULL, &f->epoch, &f->chains), 0);
	assert_int_equal(translate_new(f->ids, f->chains, f->w, &f->t), 0);
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	int err;

	translate_free(f->t);
	chains_free(f->chains);
	ids_free(f->ids);
	log_writer_close(f->w);
	err = temp_end(&f->temp);
	free(f);
	return err;
}

static void give(struct fixture *f, uint16_t kind, size_t size)
{
	static struct wire_stack room; /* the largest record there is */

	room.head.kind = kind;
	room.count = WIRE_FRAMES_MAX;
	translate_record(f->t, &room, size);
}

/* The log's last word on events of that kind lost at that stage; and how many words there are. */
static uint64_t lost_in(struct fixture *f, uint16_t event, uint64_t stage, unsigned *ret_words)
{
	const struct event *e;
	struct log_reader *r;
	uint64_t count = 0;

	*ret_words = 0;
	assert_int_equal(log_writer_sync(f->w), 0);
	assert_int_equal(log_reader_open(f->temp.path, &r), 0);
	while (log_reader_next(r, &e) == 1) {
		if (e->id != EVENT_LOST)
			continue;
		++*ret_words;
		if (e->v[LOST_EVENT_ID].u == event && e->v[LOST_PLACE].u == stage)
			count = e->v[LOST_COUNT].u;
	}
	log_reader_close(r);
	return count;
}

static void records_of_no_use_are_lost(void **state)
{
	static const uint64_t none[LOSSES_KEYS];
	struct fixture *f = *state;
	unsigned words;

	losses_write_lost(&f->losses, none, f->t, f->w);
	assert_int_equal(f->losses.total, 0);
	for (size_t size = 0; size < sizeof(struct wire_lock); size++)
		give(f, WIRE_PARK_BEGIN, size);
	give(f, WIRE_KIND_COUNT, 1000);
	give(f, WIRE_NATIVE, sizeof(struct wire_head));
	give(f, WIRE_STACK, sizeof(struct wire_stack) - 1);
	losses_write_lost(&f->losses, none, f->t, f->w);
	assert_int_equal(f->losses.total, sizeof(struct wire_lock) + 3);
	assert_int_equal(f->losses.ring, 0);
	/* Of what is too short for a head nobody can tell what it was. */
	assert_int_equal(lost_in(f, EVENT_PARK_BEGIN, LOST_PLACE_RECORDER, &words),
			 sizeof(struct wire_lock) - sizeof(struct wire_head));
	assert_int_equal(lost_in(f, 0, LOST_PLACE_RECORDER, &words), sizeof(struct wire_head) + 2);
	assert_int_equal(lost_in(f, EVENT_STACK, LOST_PLACE_RECORDER, &words), 1);
	assert_int_equal(words, 3);
	/* What has not changed is not told again. */
	give(f, WIRE_PARK_BEGIN, 1);
	losses_write_lost(&f->losses, none, f->t, f->w);
	assert_int_equal(lost_in(f, 0, LOST_PLACE_RECORDER, &words), sizeof(struct wire_head) + 3);
	assert_int_equal(words, 4);
}

static void losses_of_the_kernel_side(void **state)
{
	struct fixture *f = *state;
	uint64_t now[LOSSES_KEYS] = {
		[WIRE_PARK_BEGIN * WIRE_LOSS_STAGE_COUNT + WIRE_LOST_RING] = 5,
		[WIRE_PARK_BEGIN * WIRE_LOSS_STAGE_COUNT + WIRE_LOST_READ] = 2,
		[WIRE_UNPARK * WIRE_LOSS_STAGE_COUNT + WIRE_LOST_RING] = 1,
	};
	unsigned words;

	losses_write_lost(&f->losses, now, f->t, f->w);
	losses_write_lost(&f->losses, now, f->t, f->w);
	assert_int_equal(f->losses.total, 8);
	assert_int_equal(f->losses.ring, 6);
	assert_int_equal(lost_in(f, EVENT_PARK_BEGIN, LOST_PLACE_RING_BUFFER, &words), 5);
	assert_int_equal(lost_in(f, EVENT_PARK_BEGIN, LOST_PLACE_READ_FAILED, &words), 2);
	assert_int_equal(lost_in(f, EVENT_UNPARK, LOST_PLACE_RING_BUFFER, &words), 1);
	assert_int_equal(words, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(records_of_no_use_are_lost, begin, end),
		cmocka_unit_test_setup_teardown(losses_of_the_kernel_side, begin, end),
	};

	return cmocka_run_group_tests_name("losses", tests, NULL, NULL);
}
