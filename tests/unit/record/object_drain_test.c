/* record/objects, log/write/object_out.c, log/objects/object_in.c and heap/replay: a ring that is
 * written here, as a JVM would, is drained into a log, and read back. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "heap/replay/object_replay.h"
#include "log/format/object_record.h"
#include "log/objects/object_in.h"
#include "log/write/writer.h"
#include "record/objects/object_drain.h"
#include "record/objects/object_ring.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/temp_folder.h"

#define SLOTS 4
#define SLOT_BYTES 1024
#define TABLE 4096
#define AREA 8192
#define NAMES (AREA + SLOTS * SLOT_BYTES)
#define NAMES_BYTES 4096
#define BYTES (NAMES + NAMES_BYTES)
#define PLAIN_UNITS 2

enum { CLASS_PLAIN = 1, CLASS_ARRAY, METHOD_ADD = 1, SITE_PLAIN = 1, SITE_ARRAY };
enum { KLASS_PLAIN = 0x1000, KLASS_ARRAY = 0x2000 };

struct fixture {
	struct temp temp;
	int fd;
	uint8_t *memory;
	struct spoor_objects_head *head;
	struct spoor_objects_slot *slots;
	uint32_t *at[SLOTS];
	struct object_ring ring;
	struct log_writer *w;
	struct object_drain *drain;
	struct object_replay *replay;
};

static void name(struct fixture *f, uint32_t kind, uint32_t id, uint32_t a, uint32_t b,
		 const void *more, uint32_t bytes)
{
	uint32_t all = (16 + bytes + 7) & ~7u;
	uint32_t words[] = {kind << 24 | all, id, a, b};
	uint8_t *to = f->memory + NAMES + f->head->names_used;

	memcpy(to, words, sizeof(words));
	memcpy(to + sizeof(words), more, bytes);
	f->head->names_used += all;
}

static void names(struct fixture *f)
{
	static const uint32_t frames[] = {METHOD_ADD, 7};

	name(f, SPOOR_NAME_CLASS, CLASS_PLAIN, KLASS_PLAIN, PLAIN_UNITS * 8, "a/b/Plain", 10);
	/* layout: an array of objects, 16 bytes of header, elements of 4 */
	name(f, SPOOR_NAME_CLASS, CLASS_ARRAY, KLASS_ARRAY, 0x80000000u | 16 << 16 | 2,
	     "[La/b/Plain;", 13);
	name(f, SPOOR_NAME_METHOD, METHOD_ADD, CLASS_PLAIN, 0, "add\0()V", 8);
	name(f, SPOOR_NAME_SITE, SITE_PLAIN, CLASS_PLAIN, SPOOR_TIER_C2 << 16 | 1, frames, 8);
	name(f, SPOOR_NAME_SITE, SITE_ARRAY, CLASS_ARRAY, SPOOR_TIER_INTERPRETER << 16 | 1, frames,
	     8);
}

static void take(struct fixture *f, int slot, uint32_t stream, uint64_t sequence)
{
	f->slots[slot] = (struct spoor_objects_slot){.state = SPOOR_SLOT_OWNED,
						     .stream = stream,
						     .sequence = sequence,
						     .phase = f->head->phase,
						     .java_tid = stream,
						     .tid = 100 + stream};
	f->at[slot] = (uint32_t *)(void *)(f->memory + AREA + slot * SLOT_BYTES);
}

static void word(struct fixture *f, int slot, uint32_t word)
{
	*f->at[slot]++ = word;
}

static uint32_t used(const struct fixture *f, int slot)
{
	return (uint32_t)((uint8_t *)f->at[slot] - f->memory - AREA - slot * SLOT_BYTES);
}

static void hand_over(struct fixture *f, int slot)
{
	f->slots[slot].used = used(f, slot);
	f->slots[slot].state = SPOOR_SLOT_FULL;
}

static void tlab(struct fixture *f, int slot, uint32_t at, uint32_t units)
{
	const uint32_t words[] = {(uint32_t)SPOOR_OBJ_TLAB << 28, at, units, 0, 0};

	for (int i = 0; i < 5; i++)
		word(f, slot, words[i]);
}

static void mark(struct fixture *f, int slot)
{
	word(f, slot,
	     (uint32_t)SPOOR_OBJ_GC << 28 | SPOOR_GC_MARK << 24 | (uint32_t)(f->head->phase + 1));
	f->slots[slot].marked = used(f, slot);
}

static void move(struct fixture *f, int slot, uint32_t from, uint32_t to)
{
	word(f, slot, (uint32_t)SPOOR_OBJ_MOVEX << 28);
	word(f, slot, from);
	word(f, slot, 0);
	word(f, slot, to);
}

static int begin(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct log_writer_options o = {0};
	json_t *header = json_object();

	assert_non_null(f);
	assert_int_equal(temp_begin(&f->temp), 0);
	f->fd = memfd_create(SPOOR_OBJECTS_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(f->fd, BYTES), 0);
	f->memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
	f->head = (void *)f->memory;
	f->slots = (void *)(f->memory + TABLE);
	*f->head = (struct spoor_objects_head){.magic = SPOOR_OBJECTS_MAGIC,
					       .version = SPOOR_OBJECTS_VERSION,
					       .bytes = BYTES,
					       .slots = SLOTS,
					       .slot_bytes = SLOT_BYTES,
					       .slot_table = TABLE,
					       .slot_area = AREA,
					       .names = NAMES,
					       .names_bytes = NAMES_BYTES,
					       .heap_bytes = 1 << 20,
					       .heap_shift = 3};
	fcntl(f->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
	names(f);
	o.path = f->temp.path;
	assert_int_equal(log_writer_open(&o, header, &f->w), 0);
	json_decref(header);
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	int err;

	object_replay_free(f->replay);
	object_drain_free(f->drain);
	object_ring_close(&f->ring);
	log_writer_close(f->w);
	munmap(f->memory, BYTES);
	close(f->fd);
	err = temp_end(&f->temp);
	free(f);
	return err;
}

static void attach(struct fixture *f)
{
	assert_int_equal(object_ring_map(f->fd, &f->ring), 0);
	assert_int_equal(object_drain_new(&f->ring, f->w, &f->drain), 0);
}

/* 0 or an error of the reader or the replay. */
static int read_back(struct fixture *f)
{
	struct object_record r;
	struct object_in *in;
	int err = object_in_open(f->temp.path, &in);

	if (err)
		return err;
	f->replay = object_replay_new(1 << 20);
	err = f->replay ? 0 : -ENOMEM;
	while (!err && (err = object_in_next(in, &r)) == 1)
		err = object_replay_add(f->replay, &r);
	if (!err)
		err = object_replay_finish(f->replay);
	object_in_close(in);
	return err;
}

static void finish(struct fixture *f, bool killed)
{
	object_drain_finish(f->drain, killed, 5);
	assert_int_equal(object_drain_error(f->drain), 0);
	assert_int_equal(log_writer_close(f->w), 0);
	f->w = NULL;
	assert_int_equal(read_back(f), 0);
}

/* Two plain objects and an array of three; a collection moves the second; two words after it. */
static void story(struct fixture *f)
{
	take(f, 0, 1, 0);
	tlab(f, 0, 100, 50);
	word(f, 0, (uint32_t)SPOOR_OBJ_NEW << 28 | SITE_PLAIN);
	word(f, 0, (uint32_t)SPOOR_OBJ_NEW << 28 | SITE_PLAIN);
	word(f, 0, (uint32_t)SPOOR_OBJ_ARR << 28 | SITE_ARRAY << 8 | 3);
	mark(f, 0);
	f->head->phase = 1;
	take(f, 1, 2, 0);
	word(f, 1, (uint32_t)SPOOR_OBJ_GC << 28 | SPOOR_GC_BEGIN << 24 | SPOOR_GC_ALL << 8 | 6);
	for (int i = 0; i < 3; i++)
		word(f, 1, 9);
	word(f, 1, 0x00434241); /* "ABC" */
	word(f, 1, 0x00464544); /* "DEF" */
	move(f, 1, 100 + PLAIN_UNITS, 500);
	word(f, 1, (uint32_t)SPOOR_OBJ_EXT << 28 | SPOOR_EXT_CHECK << 20 | 2 << 12);
	word(f, 1, KLASS_PLAIN);
	mark(f, 0);
	mark(f, 1);
	f->head->phase = 2;
	word(f, 0, (uint32_t)SPOOR_OBJ_NEWK << 28);
	word(f, 0, KLASS_PLAIN);
}

static void assert_story(const struct fixture *f, uint64_t births)
{
	const struct object_sums *s = object_replay_sums(f->replay);
	const struct object_names *n = object_replay_names(f->replay);
	const struct object_collection *c;
	char text[64];
	uint32_t count;

	assert_int_equal(s->count, births);
	assert_int_equal(s->moves, 1);
	assert_int_equal(s->checked, 1);
	assert_int_equal(s->checked_wrong + s->unknown_moves + s->bad_words + s->holes, 0);
	c = object_replay_collections(f->replay, &count);
	assert_int_equal(count, 1);
	assert_int_equal(c->survived, 1);
	assert_int_equal(c->survived_bytes, PLAIN_UNITS * 8);
	assert_string_equal(c->collector, "ABC");
	assert_string_equal(c->cause, "DEF");
	assert_int_equal(n->kinds[1].of.count, 2);
	assert_int_equal(n->kinds[1].of.survived, 1);
	assert_int_equal(n->kinds[2].of.bytes, 16 + 3 * 4 + 4);
	assert_string_equal(object_class_text(n, n->kinds[2].class, text, sizeof(text)),
			    "a.b.Plain[]");
	assert_string_equal(object_frame_text(n, n->kinds[1].site, 0, text, sizeof(text)),
			    "a.b.Plain.add:7");
}

static void drained_as_it_is_written(void **state)
{
	struct fixture *f = *state;

	attach(f);
	object_drain_pass(f->drain, 1);
	story(f);
	object_drain_pass(f->drain, 2);
	object_drain_pass(f->drain, 3);
	hand_over(f, 0);
	hand_over(f, 1);
	while (object_drain_pass(f->drain, 4))
		;
	assert_int_equal(f->slots[0].state, SPOOR_SLOT_FREE);
	assert_int_equal(*(uint32_t *)(void *)(f->memory + AREA), 0);
	finish(f, false);
	assert_story(f, 4);
	assert_int_equal(object_replay_sums(f->replay)->end, OBJECT_END_LEFT);
}

static void slots_out_of_order(void **state)
{
	struct fixture *f = *state;

	attach(f);
	story(f);
	hand_over(f, 0);
	hand_over(f, 1);
	/* The stream's next slot stands before the one that it follows. */
	memcpy(f->memory + AREA + 3 * SLOT_BYTES, f->memory + AREA, SLOT_BYTES);
	f->slots[3] = f->slots[0];
	take(f, 0, 1, 1);
	word(f, 0, (uint32_t)SPOOR_OBJ_NEW << 28 | SITE_PLAIN);
	hand_over(f, 0);
	finish(f, false);
	assert_int_equal(object_replay_sums(f->replay)->count, 5);
	assert_int_equal(object_replay_sums(f->replay)->holes, 0);
}

static void a_jvm_that_was_killed(void **state)
{
	struct fixture *f = *state;

	attach(f);
	story(f);
	finish(f, true);
	assert_story(f, 4);
	assert_int_equal(object_replay_sums(f->replay)->end, OBJECT_END_KILLED);
}

/* One that goes on may be writing what it has not marked. */
static void a_jvm_that_goes_on(void **state)
{
	struct fixture *f = *state;

	attach(f);
	story(f);
	finish(f, false);
	assert_story(f, 3);
}

/* Two objects were in its heap when it was switched on; one is moved. Then it is switched off. */
static void a_jvm_that_was_switched(void **state)
{
	struct fixture *f = *state;
	const struct object_sums *s;
	const struct object_collection *c;
	struct object_drain_stats stats;
	uint32_t count;

	name(f, SPOOR_NAME_SITE, 3, CLASS_PLAIN, SPOOR_TIER_HEAP << 16, "", 0);
	f->head->switched = 1;
	attach(f);
	assert_true(f->ring.switched);
	assert_false(object_ring_is_off(&f->ring));
	take(f, 2, 9, 0);
	tlab(f, 2, 1000, 0);
	word(f, 2, (uint32_t)SPOOR_OBJ_NEW << 28 | 3);
	word(f, 2, (uint32_t)SPOOR_OBJ_NEW << 28 | 3);
	hand_over(f, 2);
	f->head->found = 2;
	f->head->pause_ns = 77;
	story(f);
	f->at[1] -= 1; /* in the collection yet */
	move(f, 1, 1000 + PLAIN_UNITS, 600);
	f->head->phase = 1;
	mark(f, 1);
	f->head->phase = 2;
	hand_over(f, 0);
	hand_over(f, 1);
	f->head->off_ns = 1;
	assert_true(object_ring_is_off(&f->ring));
	finish(f, false);
	object_drain_stats(f->drain, &stats);
	assert_int_equal(stats.found, 2);
	assert_int_equal(stats.pause_ns, 77);
	s = object_replay_sums(f->replay);
	assert_int_equal(s->end, OBJECT_END_OFF);
	assert_int_equal(s->count, 4);
	assert_int_equal(s->found, 2);
	assert_int_equal(s->found_bytes, 2 * PLAIN_UNITS * 8);
	assert_int_equal(s->moves, 2);
	assert_int_equal(s->unknown_moves + s->bad_words + s->holes + s->no_place, 0);
	c = object_replay_collections(f->replay, &count);
	assert_int_equal(c->survived, 2);
	assert_int_equal(c->first, 1);
}

static void gap(struct fixture *f, int slot, uint32_t bytes)
{
	word(f, slot, (uint32_t)SPOOR_OBJ_EXT << 28 | SPOOR_EXT_GAP << 20 | 3 << 12);
	word(f, slot, bytes);
	word(f, slot, 0);
}

/* A thread of Java's has lost births; one of the collector has lost moves, which is counted once,
 * in however many pieces its slot is taken. */
static void moves_that_were_lost(void **state)
{
	struct fixture *f = *state;
	struct object_drain_stats stats;

	attach(f);
	story(f);
	take(f, 2, 3, 0);
	gap(f, 2, 64);
	hand_over(f, 2);
	while (object_drain_pass(f->drain, 1))
		;
	object_drain_stats(f->drain, &stats);
	assert_int_equal(stats.collector_gaps, 0);
	take(f, 3, 4, 0);
	f->slots[3].java_tid = 0;
	gap(f, 3, 128);
	mark(f, 3);
	f->head->phase = 3;
	while (object_drain_pass(f->drain, 2))
		;
	gap(f, 3, 0);
	mark(f, 3);
	f->head->phase = 4;
	hand_over(f, 3);
	while (object_drain_pass(f->drain, 3))
		;
	object_drain_stats(f->drain, &stats);
	assert_int_equal(stats.collector_gaps, 1);
	finish(f, false);
	assert_int_equal(object_replay_sums(f->replay)->gap_bytes, 64 + 128);
}

/* What was read of the ring before, and how much of its slots, is nothing to the next one. */
static void a_further_ring(struct fixture *f)
{
	memset(f->memory + TABLE, 0, BYTES - TABLE);
	f->head->phase = f->head->names_used = f->head->off_ns = f->head->lost_bytes = 0;
	f->head->waits = f->head->pause_ns = f->head->found = 0;
	f->head->switched = 1;
	name(f, SPOOR_NAME_CLASS, CLASS_ARRAY, KLASS_PLAIN, PLAIN_UNITS * 8, "a/b/Plain", 10);
	name(f, SPOOR_NAME_SITE, SITE_ARRAY, CLASS_ARRAY, SPOOR_TIER_HEAP << 16, "", 0);
	object_ring_close(&f->ring);
	assert_int_equal(object_ring_map(f->fd, &f->ring), 0);
}

/* Switched off and on again: the events of both rings are in one log, each with its own names. */
static void a_ring_after_the_first(void **state)
{
	struct fixture *f = *state;
	struct object_drain_stats stats;
	const struct object_sums *s;
	const struct object_names *n;

	attach(f);
	story(f);
	f->head->off_ns = 1;
	f->head->lost_bytes = f->head->waits = 5;
	object_drain_finish(f->drain, false, 1000);
	a_further_ring(f);
	assert_int_equal(object_drain_again(f->drain, &f->ring), 0);
	take(f, 3, 1, 0);
	tlab(f, 3, 100, 50);
	word(f, 3, (uint32_t)SPOOR_OBJ_NEW << 28 | SITE_ARRAY);
	while (object_drain_pass(f->drain, 2000))
		; /* nothing can be read yet */
	hand_over(f, 3);
	f->head->found = 1;
	f->head->pause_ns = 7;
	f->head->lost_bytes = f->head->waits = 2;
	f->head->on_ns = 1;
	while (object_drain_pass(f->drain, 3000))
		;
	object_drain_stats(f->drain, &stats);
	assert_int_equal(stats.lost_bytes, 7);
	assert_int_equal(stats.waits, 7);
	assert_int_equal(stats.found, 1);
	assert_int_equal(stats.pause_ns, 7);
	finish(f, true);
	s = object_replay_sums(f->replay);
	n = object_replay_names(f->replay);
	assert_int_equal(s->rings_again, 1);
	assert_int_equal(s->unrecorded_ns, 2000); /* until it was known that all was walked */
	assert_int_equal(s->count, 3);
	assert_int_equal(s->found, 1);
	assert_int_equal(s->live, 1);
	assert_int_equal(s->lost_bytes, 7);
	assert_int_equal(s->waits, 7);
	assert_int_equal(s->holes + s->bad_words + s->refused, 0);
	assert_int_equal(n->class_map.count, 2);
}

/* The recorder ends, or the JVM gives up, while the heap is walked. */
static void a_walk_that_does_not_end(void **state)
{
	struct fixture *f = *state;

	attach(f);
	f->head->off_ns = 1;
	object_drain_finish(f->drain, false, 1000);
	a_further_ring(f);
	assert_int_equal(object_drain_again(f->drain, &f->ring), 0);
	take(f, 3, 1, 0);
	tlab(f, 3, 100, 50);
	word(f, 3, (uint32_t)SPOOR_OBJ_NEW << 28 | SITE_ARRAY);
	hand_over(f, 3);
	while (object_drain_pass(f->drain, 2000))
		;
	finish(f, false);
	assert_int_equal(object_replay_sums(f->replay)->found, 1);
	assert_true(object_replay_sums(f->replay)->incomplete_now);
}

/* A ring has one reader: who maps it by its process has a lock that ends with it. */
static void a_ring_that_is_read(void **state)
{
	struct fixture *f = *state;
	struct object_ring second;

	assert_int_equal(object_ring_open(getpid(), &f->ring), 0);
	assert_int_equal(object_ring_open(getpid(), &second), -EBUSY);
	assert_null(second.memory);
	object_ring_close(&f->ring);
	assert_int_equal(object_ring_open(getpid(), &second), 0);
	object_ring_close(&second);
	/* Nobody reads one that is not set up yet. */
	f->head->magic = 0;
	assert_int_equal(object_ring_open(getpid(), &second), -EAGAIN);
	assert_null(second.memory);
}

static void heads_that_make_no_sense(void **state)
{
	struct fixture *f = *state;
	const struct spoor_objects_head good = *f->head;
	const struct {
		size_t offset;
		uint64_t value;
	} bad[] = {
		{offsetof(struct spoor_objects_head, slot_table), UINT64_MAX - 7},
		{offsetof(struct spoor_objects_head, slot_table), BYTES - 8},
		{offsetof(struct spoor_objects_head, slot_area), BYTES},
		{offsetof(struct spoor_objects_head, slot_area), AREA + 4},
		{offsetof(struct spoor_objects_head, slots), (uint64_t)SLOT_BYTES << 32 | 1 << 20},
		{offsetof(struct spoor_objects_head, slots), SLOTS},
		{offsetof(struct spoor_objects_head, names_bytes), UINT64_MAX},
		{offsetof(struct spoor_objects_head, names), BYTES + 8},
		{offsetof(struct spoor_objects_head, bytes), BYTES + 1},
		{offsetof(struct spoor_objects_head, heap_shift), 64},
		{offsetof(struct spoor_objects_head, magic), 1},
		{offsetof(struct spoor_objects_head, version), 99}};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		*f->head = good;
		memcpy(f->memory + bad[i].offset, &bad[i].value, sizeof(bad[i].value));
		assert_int_equal(object_ring_map(f->fd, &f->ring), -EPROTO);
		assert_null(f->ring.memory);
	}
	*f->head = good;
	f->head->magic = 0;
	assert_int_equal(object_ring_map(f->fd, &f->ring), -EAGAIN);
}

/* A file that can be cut would end the recorder by SIGBUS. */
static void a_file_that_can_be_cut(void **state)
{
	struct fixture *f = *state;
	int fd = open(f->temp.path, O_RDWR);

	assert_int_equal(ftruncate(fd, BYTES), 0);
	assert_int_not_equal(object_ring_map(fd, &f->ring), 0);
	close(fd);
	fd = memfd_create(SPOOR_OBJECTS_NAME, MFD_CLOEXEC);
	assert_int_equal(ftruncate(fd, BYTES), 0);
	assert_int_equal(object_ring_map(fd, &f->ring), -EAGAIN);
	close(fd);
}

/* Mapped without a huge page at hand, as the target may do: its first byte would be a SIGBUS here. */
static void a_file_of_huge_pages(void **state)
{
	struct fixture *f = *state;
	int fd = memfd_create(SPOOR_OBJECTS_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);

	if (fd < 0)
		skip(); /* the kernel has none */
	assert_int_equal(ftruncate(fd, 2 << 20), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	assert_int_equal(object_ring_map(fd, &f->ring), -EPROTO);
	close(fd);
}

static void any_bytes(void **state)
{
	struct fixture *f = *state;
	uint32_t seed = 1;

	attach(f);
	story(f);
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 64; i++) {
			seed = seed * 1664525 + 1013904223;
			f->memory[TABLE + (seed >> 8) % (BYTES - TABLE)] = (uint8_t)(seed >> 24);
		}
		f->slots[round % SLOTS].state = SPOOR_SLOT_FULL;
		f->head->names_used = seed % (2 * NAMES_BYTES);
		f->head->phase = (uint64_t)round;
		object_drain_pass(f->drain, (uint64_t)round);
	}
	finish(f, true);
}

static void without_memory(void **state)
{
	struct fixture *f = *state;
	bool failed = true;
	int err = 0;

	attach(f);
	story(f);
	object_drain_finish(f->drain, true, 5);
	assert_int_equal(log_writer_close(f->w), 0);
	f->w = NULL;
	for (unsigned long n = 0; failed; n++) {
		object_replay_free(f->replay);
		f->replay = NULL;
		alloc_fail_at(n);
		err = read_back(f);
		failed = alloc_fail_off();
		/* Without the map of the heap, births are known, and that is said. */
		assert_true(err == -ENOMEM || (!err && f->replay));
		assert_true(err || !failed || object_replay_sums(f->replay)->heap_given_up);
	}
	assert_int_equal(err, 0);
	assert_story(f, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(drained_as_it_is_written, begin, end),
		cmocka_unit_test_setup_teardown(slots_out_of_order, begin, end),
		cmocka_unit_test_setup_teardown(a_jvm_that_was_killed, begin, end),
		cmocka_unit_test_setup_teardown(a_jvm_that_goes_on, begin, end),
		cmocka_unit_test_setup_teardown(a_jvm_that_was_switched, begin, end),
		cmocka_unit_test_setup_teardown(moves_that_were_lost, begin, end),
		cmocka_unit_test_setup_teardown(a_ring_after_the_first, begin, end),
		cmocka_unit_test_setup_teardown(a_walk_that_does_not_end, begin, end),
		cmocka_unit_test_setup_teardown(a_ring_that_is_read, begin, end),
		cmocka_unit_test_setup_teardown(heads_that_make_no_sense, begin, end),
		cmocka_unit_test_setup_teardown(a_file_that_can_be_cut, begin, end),
		cmocka_unit_test_setup_teardown(a_file_of_huge_pages, begin, end),
		cmocka_unit_test_setup_teardown(any_bytes, begin, end),
		cmocka_unit_test_setup_teardown(without_memory, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
