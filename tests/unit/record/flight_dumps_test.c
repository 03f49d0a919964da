/* When a flight recorder's files are written, and what is told of them; the disk waits until it is told to go on. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "log/read/reader.h"
#include "record/flight/dumps.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/log/log_fixture.h"
#include "tests/unit/sys_fail.h"
#include "tests/unit/temp_folder.h"

#define MS 1000000ull
#define S (1000 * MS)
#define START (1000 * S)
#define DEADLINE_S 60

struct fixture {
	struct temp temp;
	struct dumps *d;
	struct log_writer *w;
	uint64_t now_ns;
	uint64_t numbers; /* of safepoints that were written */
};

/* --- a disk that waits ------------------------------------------------------------------------ */

static pthread_mutex_t disk_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t disk_turn = PTHREAD_COND_INITIALIZER;
static bool disk_waits;

static void disk_hook(void)
{
	pthread_mutex_lock(&disk_lock);
	while (disk_waits)
		pthread_cond_wait(&disk_turn, &disk_lock);
	pthread_mutex_unlock(&disk_lock);
}

static void disk(bool waits)
{
	pthread_mutex_lock(&disk_lock);
	disk_waits = waits;
	pthread_cond_broadcast(&disk_turn);
	pthread_mutex_unlock(&disk_lock);
}

/* --- a recorder ------------------------------------------------------------------------------- */

static struct log_writer *writer_open(struct dumps *d, struct log_output *out,
				      const struct dumps_options *o)
{
	struct log_writer_options options = {.output = out,
					     .max_bytes = o->max_bytes,
					     .keep_ns = o->keep_ns,
					     .compression.codec = BLOCK_CODEC_LZ4,
					     .watch = dumps_watch,
					     .watch_ctx = d};
	json_t *header = json_pack("{s:I}", "start_mono_ns", (json_int_t)START);
	struct log_writer *w;

	assert_int_equal(log_writer_open(&options, header, &w), 0);
	json_decref(header);
	return w;
}

static void begin(struct fixture *t, const char *trigger, uint64_t keep_ns)
{
	struct dumps_options o = {.path = t->temp.path,
				  .keep_ns = keep_ns,
				  .max_bytes = 64 << 20,
				  .after_ns = 100 * MS,
				  .trigger_count = trigger != NULL};
	struct log_output *out;

	if (trigger)
		assert_int_equal(trigger_parse(trigger, &o.triggers[0]), 0);
	assert_int_equal(dumps_new(&o, &t->d, &out), 0);
	t->w = writer_open(t->d, out, &o);
	t->now_ns = START;
	assert_int_equal(dumps_pass(t->d, t->w, t->now_ns), 0);
}

static int setup(void **state)
{
	struct fixture *t = calloc(1, sizeof(*t));

	if (temp_begin(&t->temp))
		return -1;
	*state = t;
	sys_fsync_hook = disk_hook;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *t = *state;
	int err;

	disk(false);
	dumps_free(t->d);
	err = log_writer_close(t->w);
	err |= temp_end(&t->temp);
	free(t);
	return err;
}

/* A safepoint of so long, which ends now. */
static void pause_of(struct fixture *t, uint64_t ns)
{
	struct event e = {.id = EVENT_SAFEPOINT_BEGIN, .time_ns = t->now_ns};

	e.field_count = (uint16_t)schema_event(e.id)->field_count;
	log_write(t->w, &e);
	t->now_ns += ns;
	e = (struct event){.id = EVENT_SAFEPOINT_END, .time_ns = t->now_ns};
	e.field_count = (uint16_t)schema_event(e.id)->field_count;
	log_write(t->w, &e);
	t->numbers++;
}

static void pass(struct fixture *t)
{
	assert_int_equal(dumps_pass(t->d, t->w, t->now_ns), 0);
}

static void pass_ms(struct fixture *t, uint64_t ms)
{
	t->now_ns += ms * MS;
	pass(t);
}

/* Until there is a file to tell of, or an error. */
static struct dump wait_dump(struct fixture *t)
{
	struct timespec now, end;
	struct dump dump;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += DEADLINE_S;
	while (!dumps_next(t->d, &dump)) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		assert_true(now.tv_sec < end.tv_sec);
		sched_yield();
	}
	return dump;
}

static void assert_none(struct fixture *t)
{
	struct dump dump;

	assert_false(dumps_next(t->d, &dump));
}

/* What is in a file: pauses, notes, and whether it ends as a dump does. */
static void assert_log(const char *path, const char *why, unsigned number, uint64_t pauses,
		       const char *note)
{
	const json_t *flight;
	const struct event *e;
	struct log_reader *r;
	uint64_t found = 0;
	unsigned notes = 0;
	bool dumped = false;
	int err;

	assert_int_equal(log_reader_open(path, &r), 0);
	flight = json_object_get(log_reader_header(r), "flight");
	assert_string_equal(json_string_value(json_object_get(flight, "why")), why);
	assert_int_equal(json_integer_value(json_object_get(flight, "number")), number);
	while ((err = log_reader_next(r, &e)) == 1) {
		found += e->id == EVENT_SAFEPOINT_END;
		dumped = e->id == EVENT_END && e->v[END_REASON].u == END_REASON_DUMPED;
		if (e->id == EVENT_NOTE && note && strstr(e->v[NOTE_TEXT].s, note))
			notes++;
	}
	assert_int_equal(err, 0);
	assert_int_equal(found, pauses);
	assert_int_equal(notes, note != NULL);
	assert_true(dumped);
	log_reader_close(r);
}

static void check_dump(struct fixture *t, const char *why, unsigned number, uint64_t pauses,
		       const char *note)
{
	struct dump dump = wait_dump(t);
	struct stat st;

	assert_int_equal(dump.err, 0);
	assert_non_null(strstr(dump.why, why));
	assert_int_equal(stat(dump.path, &st), 0);
	assert_int_equal(st.st_size, dump.bytes);
	assert_int_equal(dump.from_ns, START);
	assert_true(dump.to_ns <= t->now_ns);
	assert_false(dump.short_of);
	assert_log(dump.path, dump.why, number, pauses, note);
}

/* --- asked for -------------------------------------------------------------------------------- */

static void test_asked(void **state)
{
	struct fixture *t = *state;

	begin(t, NULL, 60 * S);
	assert_none(t);
	pause_of(t, MS);
	assert_int_equal(dumps_write(t->d, t->w, "because", false), 0);
	check_dump(t, "because", 1, 1, NULL);
	assert_none(t);
	pause_of(t, MS);
	assert_int_equal(dumps_write(t->d, t->w, "again", false), 0);
	dumps_wait(t->d);
	dumps_wait(t->d);
	check_dump(t, "again", 2, 2, NULL);
	assert_int_equal(temp_files(t->temp.dir, false, NULL), 2);
	assert_int_equal(dumps_passed_over(t->d), 0);
}

/* While one is being written, those that are asked for become one, with what is there then. */
static void test_asked_meanwhile(void **state)
{
	struct fixture *t = *state;

	begin(t, NULL, 60 * S);
	disk(true);
	pause_of(t, MS);
	assert_int_equal(dumps_write(t->d, t->w, "first", false), 0);
	for (unsigned i = 0; i < 5; i++) {
		pause_of(t, MS);
		assert_int_equal(dumps_write(t->d, t->w, i < 4 ? "second" : "third", false), 0);
		pass(t);
		assert_none(t);
	}
	disk(false);
	check_dump(t, "first", 1, 1, NULL);
	pause_of(t, MS);
	pass(t);
	check_dump(t, "third", 2, 7, NULL);
	pass(t);
	assert_none(t);
	assert_int_equal(temp_files(t->temp.dir, false, NULL), 2);
}

static void test_freed_while_writing(void **state)
{
	struct fixture *t = *state;

	begin(t, NULL, 60 * S);
	assert_int_equal(dumps_write(t->d, t->w, "x", false), 0);
	dumps_free(t->d);
	dumps_free(NULL);
	t->d = NULL;
	assert_int_equal(temp_files(t->temp.dir, false, NULL), 1);
}

/* --- triggers --------------------------------------------------------------------------------- */

/* It is written when what comes after it is there, too, and tells what it was. */
static void test_trigger(void **state)
{
	struct fixture *t = *state;

	begin(t, "pause:20ms", 60 * S);
	pause_of(t, 19 * MS);
	pass(t);
	pause_of(t, 20 * MS);
	pass(t);
	pause_of(t, MS);
	pass_ms(t, 98);
	assert_none(t);
	assert_int_equal(temp_files(t->temp.dir, false, NULL), 0);
	pass_ms(t, 1);
	check_dump(t, "lasted", 1, 3, "flight recorder: ");
	pass_ms(t, 1000);
	assert_none(t);
}

/* Those that come soon after one have no file, and are counted. */
static void test_passed_over(void **state)
{
	struct fixture *t = *state;

	begin(t, "pause:20ms", 60 * S);
	pause_of(t, 20 * MS);
	pass(t);
	pause_of(t, 20 * MS); /* before it is written */
	pass(t);
	assert_int_equal(dumps_passed_over(t->d), 1);
	pass_ms(t, 200);
	check_dump(t, "lasted", 1, 2, "flight recorder: ");
	pass_ms(t, 59000);
	pause_of(t, 20 * MS); /* and less than 60 s after it */
	pass(t);
	pass_ms(t, 200);
	assert_int_equal(dumps_passed_over(t->d), 2);
	assert_none(t);
	pass_ms(t, 1000);
	pause_of(t, 20 * MS);
	pass(t);
	assert_int_equal(dumps_passed_over(t->d), 2);
	pass_ms(t, 100);
	assert_int_equal(wait_dump(t).err, 0);
	assert_int_equal(temp_files(t->temp.dir, false, NULL), 2);
}

/* The disk is slow: what fires meanwhile is written afterwards. */
static void test_trigger_while_writing(void **state)
{
	struct fixture *t = *state;

	begin(t, "pause:20ms", 60 * S);
	disk(true);
	assert_int_equal(dumps_write(t->d, t->w, "asked", false), 0);
	pause_of(t, 20 * MS);
	pass(t);
	pass_ms(t, 200);
	pass_ms(t, 200);
	assert_none(t);
	disk(false);
	check_dump(t, "asked", 1, 0, NULL);
	pass_ms(t, 1);
	check_dump(t, "lasted", 2, 1, "flight recorder: ");
}

/* --- failures --------------------------------------------------------------------------------- */

/* The recording goes on, and the next file is written if it can be. */
static void test_cannot_be_written(void **state)
{
	struct fixture *t = *state;
	struct dump dump;

	begin(t, NULL, 60 * S);
	pause_of(t, MS);
	sys_fail_at(SYS_FSYNC, 0, ENOSPC);
	assert_int_equal(dumps_write(t->d, t->w, "one", false), 0);
	dump = wait_dump(t);
	assert_true(sys_fail_off(SYS_FSYNC));
	assert_int_equal(dump.err, -ENOSPC);
	assert_null(dump.path);
	assert_string_equal(dump.why, "one");
	sys_fail_at(SYS_PTHREAD_CREATE, 0, EAGAIN);
	assert_int_equal(dumps_write(t->d, t->w, "two", false), 0);
	assert_true(sys_fail_off(SYS_PTHREAD_CREATE));
	dump = wait_dump(t);
	assert_int_equal(dump.err, -EAGAIN);
	assert_null(dump.path);
	assert_string_equal(dump.why, "two");
	assert_int_equal(temp_files(t->temp.dir, false, NULL), 0);
	assert_int_equal(dumps_write(t->d, t->w, "three", false), 0);
	check_dump(t, "three", 3, 1, NULL);
}

/* Less than was asked for: there was no room for more. */
static void test_short_of(void **state)
{
	struct fixture *t = *state;
	struct dumps_options o = {
		.path = t->temp.path, .keep_ns = 3600 * S, .max_bytes = log_writer_least_bytes(0)};
	struct log_output *out;
	struct dump dump;

	assert_int_equal(dumps_new(&o, &t->d, &out), 0);
	t->w = writer_open(t->d, out, &o);
	t->now_ns = START;
	pass(t);
	for (unsigned i = 0; i < 300000; i++)
		pause_of(t, MS + i * i * 7919ull % MS);
	assert_int_equal(dumps_write(t->d, t->w, "x", false), 0);
	dump = wait_dump(t);
	assert_int_equal(dump.err, 0);
	assert_true(dump.short_of);
	assert_true(dump.from_ns > START && dump.to_ns - dump.from_ns < o.keep_ns);
	assert_true(dump.bytes <= o.max_bytes);
}

static void test_long_reason(void **state)
{
	struct fixture *t = *state;
	char why[2 * TRIGGER_TEXT_MAX];
	struct dump dump;

	memset(why, 'w', sizeof(why) - 1);
	why[sizeof(why) - 1] = '\0';
	begin(t, NULL, 60 * S);
	disk(true);
	assert_int_equal(dumps_write(t->d, t->w, why, false), 0);
	assert_int_equal(dumps_write(t->d, t->w, why, false), 0);
	disk(false);
	for (unsigned i = 0; i < 2; i++) {
		dump = wait_dump(t);
		assert_int_equal(strlen(dump.why), TRIGGER_TEXT_MAX - 1);
		pass(t);
	}
}

static void test_nth_allocation_fails(void **state)
{
	struct fixture *t = *state;
	struct dumps_options o = {
		.path = t->temp.path, .keep_ns = 60 * S, .max_bytes = 64 << 20, .trigger_count = 1};
	struct log_output *out;
	unsigned long n = 0;
	struct dump dump = {0};
	unsigned told = 0;
	bool failed;
	int err;

	assert_int_equal(trigger_parse("pause:20ms", &o.triggers[0]), 0);
	do {
		alloc_fail_at(n++);
		err = dumps_new(&o, &t->d, &out);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
	} while (failed);
	assert_true(n > 2);
	t->w = writer_open(t->d, out, &o);
	t->now_ns = START;
	pass(t);
	n = 0;
	/* Either it is told at once, or of the file; what is written in the end is the whole. */
	do {
		alloc_fail_at(n++);
		err = dumps_write(t->d, t->w, "x", false);
		dumps_wait(t->d);
		failed = alloc_fail_off();
		if (err) {
			assert_true(failed);
			assert_int_equal(err, -ENOMEM);
			assert_none(t);
			continue;
		}
		dump = wait_dump(t);
		told++;
		assert_int_equal(dump.err, failed && !dump.path ? -ENOMEM : 0);
	} while (failed);
	assert_true(n > 10);
	assert_log(dump.path, "x", told, 0, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_asked, setup, teardown),
		cmocka_unit_test_setup_teardown(test_asked_meanwhile, setup, teardown),
		cmocka_unit_test_setup_teardown(test_freed_while_writing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_trigger, setup, teardown),
		cmocka_unit_test_setup_teardown(test_passed_over, setup, teardown),
		cmocka_unit_test_setup_teardown(test_trigger_while_writing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cannot_be_written, setup, teardown),
		cmocka_unit_test_setup_teardown(test_short_of, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_reason, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nth_allocation_fails, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
