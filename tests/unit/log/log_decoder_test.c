/* The decoder against a plain one: every form of msgpack in every position of every kind of event. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "log/read/batch.h"
#include "tests/unit/alloc_fail.h"

/*
 * The decoder has a short way for what is common, which is taken only where enough bytes are behind
 * an event. So the same events decoded at the end of a block and far from it must say the same.
 */
#define FILLERS 100 /* safepoint_begin: more than an event can be long */

struct bytes {
	uint8_t at[4096];
	size_t count;
};

static void put(struct bytes *b, const void *bytes, size_t count)
{
	assert_true(b->count + count <= sizeof(b->at));
	memcpy(b->at + b->count, bytes, count);
	b->count += count;
}

static void put_byte(struct bytes *b, unsigned byte)
{
	put(b, &(uint8_t){(uint8_t)byte}, 1);
}

/* One element of an event has this form instead of its own. */
struct form {
	const char *bytes;
	unsigned count;
};
#define FORM(bytes)                                                                                \
	{                                                                                          \
		bytes, sizeof(bytes) - 1                                                           \
	}

static const struct form forms[] = {
	FORM("\x00"),
	FORM("\x7f"),
	FORM("\xcc\xff"),
	FORM("\xcd\xff\xfe"),
	FORM("\xce\xff\xff\xff\xfe"),
	FORM("\xcf\x80\x00\x00\x00\x00\x00\x00\x01"),
	FORM("\xcf\x00\x00\x00\x01\x00\x00\x00\x00"),
	FORM("\xd0\x05"),
	FORM("\xd0\x85"),
	FORM("\xd1\x7f\xff"),
	FORM("\xd1\x80\x00"),
	FORM("\xd2\x00\x00\x00\x09"),
	FORM("\xd2\x80\x00\x00\x01"),
	FORM("\xd3\x00\x00\x00\x00\x00\x00\x00\x07"),
	FORM("\xd3\xff\xff\xff\xff\xff\xff\xff\xfe"),
	FORM("\xe0"),
	FORM("\xff"),
	FORM("\xc0"),
	FORM("\xc1"),
	FORM("\xc2"),
	FORM("\xc3"),
	FORM("\xca\x00\x00\x00\x00"),
	FORM("\xa0"),
	FORM("\xa1x"),
	FORM("\x80"),
	FORM("\x90"),
	FORM("\x91\x01"),
	FORM("\xd9\x01x"),
	FORM("\xce\x00\x04\x00\x00"), /* a thread whose number is not small any more */
};

static void put_element(struct bytes *b, const struct event_desc *desc, unsigned position)
{
	enum field_type type = FIELD_UINT;

	if (position == 0)
		put_byte(b, desc->id);
	else if (position < 3)
		put_byte(b, position);
	else {
		if (position - 3 < desc->field_count)
			type = desc->fields[position - 3].type;
		if (type == FIELD_STR)
			put(b, "\xa1y", 2);
		else
			put_byte(b, type == FIELD_BOOL ? 0xc3 : position);
	}
}

static void put_event(struct bytes *b, const struct event_desc *desc, unsigned elements,
		      unsigned odd, const struct form *form)
{
	if (elements < 16)
		put_byte(b, 0x90 + elements);
	else
		put(b, (uint8_t[]){0xdc, 0, (uint8_t)elements}, 3);
	for (unsigned i = 0; i < elements; i++) {
		if (i == odd)
			put(b, form->bytes, form->count);
		else
			put_element(b, desc, i);
	}
}

/* Events in front of the fillers; the last of these is *ret. */
static unsigned decode(const struct bytes *b, unsigned events, unsigned fillers, struct event *ret)
{
	struct block block = {.length = (uint32_t)b->count,
			      .events = events + fillers,
			      .kind = BLOCK_KIND_EVENTS,
			      .payload = b->at};
	const struct event_desc *desc;
	struct decoder d = {0};
	struct batch batch = {0};
	const uint8_t *at;
	unsigned n, known;

	assert_int_equal(decoder_begin(&d, &block), 0);
	assert_int_equal(decoder_next(&d, &batch), 0);
	memset(ret, 0, sizeof(*ret));
	known = events + fillers - d.left - d.unknown;
	assert_int_equal(batch.events, known);
	n = known < events ? known : events;
	for (at = batch.bytes; n; n--) {
		desc = schema_event(((const struct event *)at)->id);
		memset(ret, 0, sizeof(*ret));
		memcpy(ret, at, batch_event_bytes(desc));
		for (unsigned i = 0; i < desc->field_count; i++)
			if (desc->fields[i].type == FIELD_STR)
				ret->v[i].u = 0; /* a position in the block */
		at += batch_event_bytes(desc);
	}
	decoder_free(&d);
	free(batch.bytes);
	return known < events ? known : events;
}

static void same_everywhere(const struct event_desc *desc, unsigned elements, unsigned odd,
			    const struct form *form)
{
	struct bytes b = {.count = 0};
	struct event end, far;
	unsigned n;

	put(&b, "\x91\x05", 2);
	put_event(&b, desc, elements, odd, form);
	put_event(&b, desc, elements, odd, form); /* with counters that are not 0 */
	n = decode(&b, 2, 0, &end);
	for (unsigned i = 0; i < FILLERS; i++)
		put(&b, "\x93\x23\x01\x01", 4);
	assert_int_equal(decode(&b, 2, FILLERS, &far), n);
	assert_memory_equal(&far, &end, sizeof(far));
}

static void test_any_form_at_any_position(void **state)
{
	unsigned count, form;
	const struct event_desc *all = schema_events(&count);

	(void)state;
	for (unsigned i = 0; i < count; i++)
		for (unsigned odd = 1; odd < 3 + all[i].field_count; odd++)
			for (form = 0; form < sizeof(forms) / sizeof(*forms); form++)
				same_everywhere(&all[i], 3 + all[i].field_count, odd, &forms[form]);
}

static void test_any_number_of_fields(void **state)
{
	const struct form none = {NULL, 0};
	unsigned count;
	const struct event_desc *all = schema_events(&count);

	(void)state;
	for (unsigned i = 0; i < count; i++)
		for (unsigned n = 1; n < 3 + all[i].field_count + 3; n++)
			same_everywhere(&all[i], n, n, &none);
}

/* What the common way gives is what was put in, not only what the other one gives. */
static void test_values(void **state)
{
	static const struct form back = FORM("\xd1\xff\x00");
	const struct event_desc *desc = schema_event(EVENT_PARK_BEGIN);
	struct bytes b = {.count = 0};
	struct event e;

	(void)state;
	put(&b, "\x91\x05", 2);
	put_event(&b, desc, 3 + desc->field_count, 1, &back);
	put_event(&b, desc, 3 + PARK_BEGIN_STACK, 1, &back);
	for (unsigned i = 0; i < FILLERS; i++)
		put(&b, "\x93\x23\x01\x01", 4);
	assert_int_equal(decode(&b, 2, FILLERS, &e), 2);
	assert_int_equal(e.id, EVENT_PARK_BEGIN);
	assert_int_equal(e.field_count, PARK_BEGIN_STACK);
	assert_int_equal(e.thread, 2);
	assert_true(e.time_ns == 5 - 2 * 256ull);
	assert_int_equal(e.v[PARK_BEGIN_OWNER].u, 3 + PARK_BEGIN_OWNER);
	assert_int_equal(e.v[PARK_BEGIN_ABSOLUTE].u, 1);
	assert_int_equal(e.v[PARK_BEGIN_RUNNABLE_NS].u, 2 * (3 + PARK_BEGIN_RUNNABLE_NS));
	assert_int_equal(e.v[PARK_BEGIN_OWNER_CPU_NS].u, 2 * (3 + PARK_BEGIN_OWNER_CPU_NS));
	for (unsigned i = PARK_BEGIN_STACK; i < desc->field_count; i++)
		assert_int_equal(e.v[i].u, 0);
}

static void test_nth_allocation_fails(void **state)
{
	static const struct form large = FORM("\xce\x00\x04\x00\x00");
	const struct event_desc *desc = schema_event(EVENT_UNPARK);
	struct bytes b = {.count = 0};
	struct block block = {.events = 2 + FILLERS, .kind = BLOCK_KIND_EVENTS, .payload = b.at};
	bool failed = true;
	unsigned n;
	int err;

	(void)state;
	put(&b, "\x91\x05", 2);
	put_event(&b, desc, 3 + desc->field_count, 0, &(struct form)FORM("\x16"));
	put_event(&b, desc, 3 + desc->field_count, 2, &large);
	for (unsigned i = 0; i < FILLERS; i++)
		put(&b, "\x93\x23\x01\x01", 4);
	block.length = (uint32_t)b.count;
	for (n = 0; failed; n++) {
		struct decoder d = {0};
		struct batch batch = {0};

		alloc_fail_at(n);
		err = decoder_begin(&d, &block);
		if (!err)
			err = decoder_next(&d, &batch);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		decoder_free(&d);
		free(batch.bytes);
	}
	/* Plans, batch, counters, keys of threads, positions of small ones, and none that fails. */
	assert_int_equal(n, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_form_at_any_position),
		cmocka_unit_test(test_any_number_of_fields),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_nth_allocation_fails),
	};

	return cmocka_run_group_tests_name("log_batch", tests, NULL, NULL);
}
