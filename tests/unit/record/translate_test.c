/* record/decode/translate.c: ring records to events, through the log and its reader. */
#include <linux/types.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/wire/wire_kinds.h"
#include "log/format/event.h"
#include "log/read/reader.h"
#include "log/write/writer.h"
#include "record/decode/chains.h"
#include "record/decode/event_out.h"
#include "record/decode/translate.h"
#include "record/identity/ids.h"
#include "tests/unit/alloc_fail.h"

#define RECORD_MAX 4096
#define EVENTS_MAX 64

static const size_t sizes[] = {
#define KIND(name, size, event) [WIRE_##name] = size,
	WIRE_KINDS(KIND)
#undef KIND
};

struct decoder {
	char path[64];
	struct log_writer *w;
	struct ids *ids;
	struct chains *chains;
	struct translate *t;
	uint32_t epoch;
};

static void decoder_close(struct decoder *d)
{
	translate_free(d->t);
	chains_free(d->chains);
	ids_free(d->ids);
	d->t = NULL;
	d->chains = NULL;
	d->ids = NULL;
}

static int decoder_open(struct decoder *d)
{
	struct log_writer_options options = {.path = d->path, .overwrite = true};
	json_t *header = json_object();
	int err;

	snprintf(d->path, sizeof(d->path), "/tmp/translate_test.%d.spoor", getpid());
	err = header ? log_writer_open(&options, header, &d->w) : -ENOMEM;
	json_decref(header);
	if (!err)
		err = ids_new(d->w, NULL, &d->ids);
	if (!err)
		err = chains_new(d->w, NULL, &d->epoch, &d->chains);
	if (!err)
		err = translate_new(d->ids, d->chains, d->w, &d->t);
	return err;
}

/* Events of the log but definitions, with their numbers; texts are those of the last event. */
static unsigned decoder_read(struct decoder *d, struct event *ret)
{
	struct log_reader *r;
	const struct event *e;
	unsigned count = 0;

	translate_flush(d->t, UINT64_MAX);
	assert_int_equal(ids_error(d->ids) | chains_error(d->chains), 0);
	decoder_close(d);
	assert_int_equal(log_writer_close(d->w), 0);
	assert_int_equal(log_reader_open(d->path, &r), 0);
	while (log_reader_next(r, &e) == 1) {
		if (e->id == EVENT_THREAD || e->id == EVENT_CLASS || e->id == EVENT_LOCK ||
		    e->id == EVENT_STRING || e->id == EVENT_END)
			continue;
		assert_true(count < EVENTS_MAX);
		ret[count++] = *e;
	}
	log_reader_close(r);
	unlink(d->path);
	return count;
}

static void begin(struct decoder *d)
{
	*d = (struct decoder){0};
	assert_int_equal(decoder_open(d), 0);
}

static uint64_t unknown_of(const struct decoder *d)
{
	uint64_t sum = 0;

	for (uint16_t event = 0; event <= SCHEMA_ID_MAX; event++)
		sum += translate_unknown(d->t, event);
	return sum;
}

static struct wire_head head_of(unsigned kind, uint32_t tid, uint64_t time_ns)
{
	return (struct wire_head){.kind = (__u16)kind, .tid = tid, .time_ns = time_ns};
}

#define COUNTERS(n)                                                                                \
	{                                                                                          \
		.cpu_ns = (n) + 1, .stolen_ns = (n) + 2, .runnable_ns = (n) + 4,                   \
		.throttled_ns = (n) + 3                                                            \
	}

static void a_contention(void **state)
{
	const struct wire_lock enter = {.head = head_of(WIRE_MONITOR_ENTER, 7, 1000),
					.self = COUNTERS(100),
					.object = 0x1000,
					.handle = 0x20,
					.hash = 0x123,
					.owner = COUNTERS(200),
					.owner_doing_ns = 55,
					.owner_tid = 8,
					.owner_source = WIRE_OWNER_JAVA_THREAD,
					.owner_doing = WIRE_BLOCKED_PARK};
	struct wire_lock entered = enter;
	struct event e[EVENTS_MAX];
	struct decoder d;

	(void)state;
	begin(&d);
	entered.head = head_of(WIRE_MONITOR_ENTERED, 7, 2000);
	translate_record(d.t, &enter, sizeof(enter));
	translate_record(d.t, &entered, sizeof(entered));
	assert_true(translate_contended(d.t));
	assert_false(translate_contended(d.t));
	assert_int_equal(unknown_of(&d), 0);
	assert_int_equal(decoder_read(&d, e), 2);
	assert_int_equal(e[0].id, EVENT_MONITOR_CONTENDED_ENTER);
	assert_int_equal(e[0].time_ns, 1000);
	assert_int_equal(e[0].v[MONITOR_CONTENDED_ENTER_CPU_NS].u, 101);
	assert_int_equal(e[0].v[MONITOR_CONTENDED_ENTER_STOLEN_NS].u, 102);
	assert_int_equal(e[0].v[MONITOR_CONTENDED_ENTER_RUNNABLE_NS].u, 104);
	assert_int_equal(e[0].v[MONITOR_CONTENDED_ENTER_THROTTLED_NS].u, 103);
	assert_int_equal(e[0].v[MONITOR_CONTENDED_ENTER_OWNER_CPU_NS].u, 201);
	assert_int_equal(e[0].v[MONITOR_CONTENDED_ENTER_OWNER_DOING].u, BLOCKED_REASON_PARK);
	assert_int_equal(e[0].v[MONITOR_CONTENDED_ENTER_OWNER_DOING_NS].u, 55);
	assert_int_equal(e[0].v[MONITOR_CONTENDED_ENTER_OWNER_SOURCE].u, OWNER_SOURCE_JAVA_THREAD);
	assert_int_not_equal(e[0].v[MONITOR_CONTENDED_ENTER_OWNER].u, e[0].thread);
	assert_int_equal(e[1].id, EVENT_MONITOR_CONTENDED_ENTERED);
	assert_int_equal(e[1].thread, e[0].thread);
	assert_int_equal(e[1].v[MONITOR_CONTENDED_ENTERED_LOCK].u,
			 e[0].v[MONITOR_CONTENDED_ENTER_LOCK].u);
}

/* The owner's exit comes before the enter that tells which object the monitor is of. */
static void a_contention_of_a_patched_jvm(void **state)
{
	const struct wire_lock exit = {.head = head_of(WIRE_MONITOR_EXIT, 8, 2000),
				       .object = 0x1000,
				       .sequence = 5,
				       .time = 900,
				       .forward = 6};
	const struct wire_lock enter = {.head = head_of(WIRE_MONITOR_ENTER, 7, 1000),
					.object = 0x1000,
					.klass = 0x300,
					.hash = 7,
					.sequence = 5,
					.owner_tid = 8,
					.owner_source = WIRE_OWNER_JAVA_THREAD};
	const struct wire_lock waited = {
		.head = head_of(WIRE_MONITOR_WAIT_END, 9, 3000),
		.object = 0x1000,
		.sequence = WIRE_UNNUMBERED,
		.how = 1};
	const struct wire_lock unpark = {
		.head = head_of(WIRE_UNPARK, 9, 4000), .sequence = 3, .target = 7};
	struct event e[EVENTS_MAX];
	struct decoder d;

	(void)state;
	begin(&d);
	translate_record(d.t, &exit, WIRE_LOCK_SHORT);
	translate_record(d.t, &enter, sizeof(enter));
	translate_record(d.t, &waited, WIRE_LOCK_SHORT);
	translate_record(d.t, &unpark, WIRE_LOCK_SHORT);
	assert_int_equal(decoder_read(&d, e), 4);
	assert_int_equal(e[0].id, EVENT_MONITOR_CONTENDED_EXIT);
	assert_int_equal(e[0].v[MONITOR_CONTENDED_EXIT_SEQUENCE].u, 5);
	assert_int_equal(e[0].v[MONITOR_CONTENDED_EXIT_HELD_NS].u, 900);
	assert_int_equal(e[0].v[MONITOR_CONTENDED_EXIT_FORWARD].u, 6);
	assert_int_equal(e[1].id, EVENT_MONITOR_CONTENDED_ENTER);
	assert_int_equal(e[1].v[MONITOR_CONTENDED_ENTER_SEQUENCE].u, 5);
	assert_int_equal(e[1].v[MONITOR_CONTENDED_ENTER_OWNER].u, e[0].thread);
	assert_int_not_equal(e[1].v[MONITOR_CONTENDED_ENTER_LOCK].u, 0);
	assert_int_equal(e[0].v[MONITOR_CONTENDED_EXIT_LOCK].u,
			 e[1].v[MONITOR_CONTENDED_ENTER_LOCK].u);
	assert_int_equal(e[2].id, EVENT_MONITOR_WAIT_END);
	assert_int_equal(e[2].v[MONITOR_WAIT_END_LOCK].u, e[1].v[MONITOR_CONTENDED_ENTER_LOCK].u);
	assert_int_equal(e[2].v[MONITOR_WAIT_END_HOW].u, 1);
	assert_int_equal(e[3].id, EVENT_UNPARK);
	assert_int_equal(e[3].v[UNPARK_TARGET].u, e[1].thread);
	assert_int_equal(e[3].v[UNPARK_SEQUENCE].u, 3);
}

/*
 * Records that differ in their sequence number alone. 0: they are a stock JVM's, and become events at
 * once. Otherwise they are a patched JVM's, and wait for the record that has their object.
 */
static void the_sequence_says_whose_a_record_is(void **state)
{
	static const uint16_t stock[] = {EVENT_MONITOR_WAIT_BEGIN, EVENT_MONITOR_OWNER_SEEN,
					 EVENT_UNPARK, EVENT_MONITOR_INFLATE};
	static const uint16_t patched[] = {EVENT_UNPARK, EVENT_MONITOR_WAIT_BEGIN,
					   EVENT_MONITOR_OWNER_SEEN, EVENT_MONITOR_INFLATE};
	const struct wire_lock unpark = {.head = head_of(WIRE_UNPARK, 9, 2500), .target = 7};
	const struct wire_lock learn = {.head = head_of(WIRE_MONITOR_INFLATE, 7, 3000),
					.object = 0x1000,
					.klass = 0x300,
					.hash = 7,
					.sequence = WIRE_UNNUMBERED};
	struct wire_lock wait = {.head = head_of(WIRE_MONITOR_WAIT_BEGIN, 7, 1000),
				 .object = 0x1000};
	struct wire_lock seen = {.head = head_of(WIRE_MONITOR_OWNER_SEEN, 7, 2000),
				 .object = 0x1000,
				 .owner_tid = 8,
				 .owner = COUNTERS(200)};

	(void)state;
	for (unsigned is_patched = 0; is_patched < 2; is_patched++) {
		const uint16_t *ids = is_patched ? patched : stock;
		struct event e[EVENTS_MAX];
		struct decoder d;

		begin(&d);
		wait.sequence = seen.sequence = is_patched ? WIRE_UNNUMBERED : 0;
		translate_record(d.t, &wait, WIRE_LOCK_SHORT);
		translate_record(d.t, &seen, sizeof(seen));
		translate_record(d.t, &unpark, WIRE_LOCK_SHORT);
		translate_record(d.t, &learn, WIRE_LOCK_SHORT);
		assert_int_equal(decoder_read(&d, e), 4);
		for (unsigned i = 0; i < 4; i++) {
			assert_int_equal(e[i].id, ids[i]);
			if (e[i].id == EVENT_MONITOR_OWNER_SEEN) /* none of it is cut */
				assert_int_equal(e[i].v[MONITOR_OWNER_SEEN_OWNER_CPU_NS].u, 201);
		}
	}
}

static void a_sample_and_a_span(void **state)
{
	struct wire_sample sample = {.head = head_of(WIRE_THREAD_SAMPLE, 7, 1000),
				     .self = {.counters = COUNTERS(10), .blocked_ns = 77}};
	struct wire_span span = {.head = head_of(WIRE_SPAN_BEGIN, 7, 2000),
				 .self = {.counters = COUNTERS(20)},
				 .name_length = 3,
				 .name = "GET"};
	struct event e[EVENTS_MAX];
	struct decoder d;

	(void)state;
	begin(&d);
	for (int i = 1; i < WIRE_REASON_COUNT; i++)
		sample.self.reason_ns[i] = (__u64)i;
	translate_record(d.t, &sample, sizeof(sample));
	translate_record(d.t, &span, sizeof(span));
	span.head = head_of(WIRE_SPAN_END, 7, 3000);
	translate_record(d.t, &span, WIRE_SPAN_SHORT);
	assert_int_equal(decoder_read(&d, e), 3);
	assert_int_equal(e[0].id, EVENT_THREAD_SAMPLE);
	assert_int_equal(e[0].v[THREAD_SAMPLE_CPU_NS].u, 11);
	assert_int_equal(e[0].v[THREAD_SAMPLE_BLOCKED_NS].u, 77);
	assert_int_equal(e[0].v[THREAD_SAMPLE_LOCK_NS].u, WIRE_BLOCKED_LOCK);
	assert_int_equal(e[0].v[THREAD_SAMPLE_PAUSE_NS].u, WIRE_BLOCKED_PAUSE);
	assert_int_equal(e[1].id, EVENT_SPAN_BEGIN);
	assert_int_equal(e[1].v[SPAN_BEGIN_CPU_NS].u, 21);
	assert_int_not_equal(e[1].v[SPAN_BEGIN_NAME].u, 0);
	assert_int_equal(e[2].id, EVENT_SPAN_END);
	assert_int_equal(e[2].time_ns, 3000);
}

/* One record of a wait gives the events that one of its begin and one of its end would give. */
static void a_wait_in_one_record(void **state)
{
	static const struct {
		__u32 what;
		uint16_t begin, end;
	} kinds[] = {
		{WIRE_BLOCKED_LOCK, WIRE_MONITOR_ENTER, WIRE_MONITOR_ENTERED},
		{WIRE_BLOCKED_WAIT, WIRE_MONITOR_WAIT_BEGIN, WIRE_MONITOR_WAIT_END},
		{WIRE_BLOCKED_PARK, WIRE_PARK_BEGIN, WIRE_PARK_END},
	};
	const struct wire_class class = {.head = head_of(WIRE_CLASS, 7, 100),
					 .klass = 0x77,
					 .name_length = 1,
					 .name = "L"};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct wire_lock enter = {.head = head_of(kinds[i].begin, 7, 1000),
					  .self = COUNTERS(10),
					  .owner = COUNTERS(50),
					  .object = 0x1000,
					  .handle = kinds[i].what == WIRE_BLOCKED_PARK ? 0 : 0x20,
					  .klass = 0x77,
					  .owner_doing_ns = 9,
					  .hash = 0x123,
					  .readers = 3,
					  .owner_tid = 8,
					  .owner_source = WIRE_OWNER_JAVA_THREAD,
					  .owner_doing = WIRE_BLOCKED_IO};
		struct wire_wait wait = {.begin = enter,
					 .end_ns = 5000,
					 .end_self = COUNTERS(30),
					 .end_owner = COUNTERS(70),
					 .end_owner_tid = 9,
					 .end_owner_source = WIRE_OWNER_STACK_LOCK,
					 .what = kinds[i].what};
		struct wire_lock end = enter;
		struct event e[EVENTS_MAX], both[EVENTS_MAX];
		struct decoder d;

		end.head = head_of(kinds[i].end, 7, 5000);
		end.self = (struct wire_counters)COUNTERS(30);
		end.owner = (struct wire_counters)COUNTERS(70);
		end.owner_tid = 9;
		end.owner_source = WIRE_OWNER_STACK_LOCK;
		begin(&d);
		translate_record(d.t, &class, sizeof(class));
		translate_record(d.t, &enter, sizeof(enter));
		translate_record(d.t, &end, sizeof(end));
		assert_int_equal(decoder_read(&d, both), 2);
		begin(&d);
		translate_record(d.t, &class, sizeof(class));
		wait.begin.head = head_of(WIRE_WAIT, 7, 1000);
		wait.begin.head.flags = WIRE_AFTER_WAIT * (i == 0);
		both[0].v[MONITOR_CONTENDED_ENTER_AFTER_WAIT].u |= i == 0;
		translate_record(d.t, &wait, sizeof(wait));
		assert_int_equal(decoder_read(&d, e), 2);
		for (unsigned k = 0; k < 2; k++) {
			assert_int_equal(e[k].id, both[k].id);
			assert_int_equal(e[k].time_ns, both[k].time_ns);
			assert_memory_equal(e[k].v, both[k].v,
					    schema_event(e[k].id)->field_count * sizeof(*e[k].v));
		}
		assert_int_equal(e[0].time_ns, 1000);
		assert_int_equal(e[1].time_ns, 5000);
	}
}

/* A sum has the lock of the waits that it has, and ends none that goes on. */
static void a_sum_of_waits(void **state)
{
	const struct wire_lock wait = {.head = head_of(WIRE_MONITOR_WAIT_BEGIN, 7, 1000),
				       .object = 0x1000,
				       .handle = 0x20,
				       .hash = 0x123};
	struct wire_wait_sum sum = {.head = head_of(WIRE_WAIT_SUM, 7, 9000),
				    .object = 0x1000,
				    .handle = 0x20,
				    .hash = 0x123,
				    .what = WIRE_BLOCKED_WAIT,
				    .count = 5,
				    .first_ns = 2000,
				    .off_ns = 600,
				    .runnable_ns = 60,
				    .longest_ns = 200};
	struct event e[EVENTS_MAX];
	struct decoder d;

	(void)state;
	begin(&d);
	translate_record(d.t, &wait, WIRE_LOCK_SHORT);
	translate_record(d.t, &sum, sizeof(sum));
	sum.what = WIRE_BLOCKED_PARK;
	sum.object = 0;
	sum.first_ns = 10000; /* the clocks of two CPUs */
	translate_record(d.t, &sum, sizeof(sum));
	sum.what = WIRE_REASON_COUNT;
	translate_record(d.t, &sum, sizeof(sum));
	assert_int_equal(unknown_of(&d), 0);
	assert_int_equal(decoder_read(&d, e), 4);
	assert_int_equal(e[1].id, EVENT_WAIT_SUM);
	assert_int_equal(e[1].thread, e[0].thread);
	assert_int_equal(e[1].time_ns, 9000);
	assert_int_equal(e[1].v[WAIT_SUM_LOCK].u, e[0].v[MONITOR_WAIT_BEGIN_LOCK].u);
	assert_int_equal(e[1].v[WAIT_SUM_REASON].u, BLOCKED_REASON_WAIT);
	assert_int_equal(e[1].v[WAIT_SUM_COUNT].u, 5);
	assert_int_equal(e[1].v[WAIT_SUM_OFF_NS].u, 600);
	assert_int_equal(e[1].v[WAIT_SUM_CPU_WAIT_NS].u, 60);
	assert_int_equal(e[1].v[WAIT_SUM_LONGEST_NS].u, 200);
	assert_int_equal(e[1].v[WAIT_SUM_BEGIN_NS].u, 7000);
	assert_int_equal(e[2].v[WAIT_SUM_LOCK].u, 0);
	assert_int_equal(e[2].v[WAIT_SUM_BEGIN_NS].u, 0);
	assert_int_equal(e[3].v[WAIT_SUM_REASON].u, BLOCKED_REASON_OTHER);
}

/* A record of the kind, with only its least size, gives no event but its own. */
static void least_size(unsigned kind, int fill, uint16_t flags)
{
	struct event e[EVENTS_MAX];
	struct wire_head *record;
	struct decoder d;
	unsigned count;

	begin(&d);
	record = malloc(sizes[kind]);
	assert_non_null(record);
	memset(record, fill, sizes[kind]);
	*record = head_of(kind, 7, 1000);
	record->flags = flags;
	translate_record(d.t, record, sizes[kind]);
	free(record);
	assert_int_equal(unknown_of(&d), 0);
	count = decoder_read(&d, e);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(e[i].id, translate_event_of(kind));
}

/* Each kind is read within its least size (ASan), whatever the flags say of it. */
static void every_kind_of_its_least_size(void **state)
{
	(void)state;
	for (unsigned kind = WIRE_NONE + 1; kind < WIRE_KIND_COUNT; kind++) {
		if (kind == WIRE_STACK || kind == WIRE_NATIVE)
			continue;
		for (int fill = 0; fill < 2; fill++) {
			least_size(kind, fill, 0);
			least_size(kind, fill, UINT16_MAX);
		}
	}
}

/* Whatever the rest of a record holds, all ones or any bytes, what comes of it can be read. */
static void any_bytes(void **state)
{
	unsigned char record[RECORD_MAX];
	struct event e[EVENTS_MAX];
	uint32_t random = 1;

	(void)state;
	for (unsigned kind = WIRE_NONE + 1; kind < WIRE_KIND_COUNT; kind++) {
		for (unsigned n = 0; n < 8; n++) {
			struct wire_head *h = (struct wire_head *)record;
			struct decoder d;

			begin(&d);
			for (size_t i = 0; i < sizeof(record); i++) {
				random = random * 1103515245 + 12345;
				record[i] = n ? (unsigned char)(random >> 16) : 0xff;
			}
			h->kind = (__u16)kind;
			h->time_ns = 1000 + n;
			translate_record(d.t, record, sizeof(record));
			decoder_read(&d, e);
		}
	}
}

static void what_is_no_record_is_counted(void **state)
{
	struct event e[EVENTS_MAX];
	struct wire_head *record;
	struct decoder d;
	uint64_t unknown = 0;

	(void)state;
	begin(&d);
	for (unsigned kind = 0; kind < WIRE_KIND_COUNT; kind++) {
		size_t size = kind == WIRE_NONE || kind == WIRE_STACK || kind == WIRE_NATIVE
				      ? sizeof(*record)
				      : sizes[kind] - 1;

		record = calloc(1, size < sizeof(*record) ? sizeof(*record) : size);
		assert_non_null(record);
		*record = head_of(kind, 7, 1000);
		translate_record(d.t, record, size);
		free(record);
		assert_int_equal(unknown_of(&d), ++unknown);
	}
	translate_record(d.t, &(struct wire_head){.kind = WIRE_KIND_COUNT},
			 sizeof(struct wire_head));
	assert_int_equal(unknown_of(&d), ++unknown);
	assert_int_equal(decoder_read(&d, e), 0);
}

/* One of each, with the nth allocation failing: an error, or all of them. */
static bool without_memory(unsigned long n)
{
	struct decoder d = {0};
	bool failed;
	int err;

	alloc_fail_at(n);
	err = decoder_open(&d);
	for (unsigned at = 0; at < WIRE_KIND_COUNT && !err; at++) {
		/* The thread of all records comes first. */
		unsigned kind = at ? at : WIRE_THREAD;
		unsigned char record[1024] = {0};

		*(struct wire_head *)record = head_of(kind, 7, 1000);
		if (kind != WIRE_STACK && kind != WIRE_NATIVE)
			translate_record(d.t, record, sizes[kind]);
		err = ids_error(d.ids) ? ids_error(d.ids) : chains_error(d.chains);
	}
	if (!err)
		translate_flush(d.t, UINT64_MAX);
	failed = alloc_fail_off();
	decoder_close(&d);
	if (d.w)
		log_writer_close(d.w);
	unlink(d.path);
	assert_true(failed || !err);
	assert_true(!err || err == -ENOMEM);
	return failed;
}

static void survives_without_memory(void **state)
{
	unsigned long n = 0;

	(void)state;
	while (without_memory(n))
		n++;
	assert_true(n > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_contention),
		cmocka_unit_test(a_contention_of_a_patched_jvm),
		cmocka_unit_test(the_sequence_says_whose_a_record_is),
		cmocka_unit_test(a_sample_and_a_span),
		cmocka_unit_test(a_wait_in_one_record),
		cmocka_unit_test(a_sum_of_waits),
		cmocka_unit_test(every_kind_of_its_least_size),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(what_is_no_record_is_counted),
		cmocka_unit_test(survives_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
