/* tests/unit/log/log_fixture.h: logs with every kind of event and extreme values. */
#pragma once

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "log/format/event.h"
#include "log/write/writer.h"

enum fixture_style { FIXTURE_ZERO, FIXTURE_MAX, FIXTURE_PLAIN, FIXTURE_DOWN, FIXTURE_STYLE_COUNT };

static inline uint64_t fixture_number(enum fixture_style style, unsigned salt)
{
	const uint64_t numbers[] = {0, UINT64_MAX, 1000000007ull * (salt + 1), 7 + salt};

	return numbers[style];
}

/* Every field gets a value; counters of thread 0 are 0, as the format demands. */
static inline void fixture_event(const struct event_desc *desc, enum fixture_style style,
				 struct event *ret)
{
	static const char *const texts[] = {"", "\x01\x1f\x7f \"quoted\" \\ \t\n \xf0\x9f\x90\xbe",
					    "Thread-\xc3\xa4", "x"};
	unsigned i;

	memset(ret, 0, sizeof(*ret));
	ret->id = desc->id;
	ret->field_count = (uint16_t)desc->field_count;
	ret->time_ns = fixture_number(style, 5);
	ret->thread = style == FIXTURE_MAX ? UINT32_MAX : style == FIXTURE_ZERO ? 0 : 3;
	for (i = 0; i < desc->field_count; i++) {
		const struct field_desc *field = &desc->fields[i];

		ret->v[i].u = fixture_number(style, desc->id + i);
		if (field->type == FIELD_STR)
			ret->v[i].s = texts[style];
		else if (field->type == FIELD_BOOL)
			ret->v[i].u = style == FIXTURE_MAX || style == FIXTURE_PLAIN;
		else if (field->type == FIELD_ENUM && style == FIXTURE_PLAIN)
			ret->v[i].u = field->enum_count - 1;
		else if (field->type >= FIELD_THREAD && field->type <= FIELD_STACK &&
			 style >= FIXTURE_PLAIN)
			ret->v[i].u = 1 + i % 3;
		else if (field->type == FIELD_COUNTER &&
			 !(field->of < 0 ? ret->thread : ret->v[field->of].u))
			ret->v[i].u = 0;
	}
}

static inline bool fixture_is_definition(const struct event_desc *desc)
{
	return (desc->id >= EVENT_THREAD && desc->id <= EVENT_STRING) || desc->id == EVENT_METHOD ||
	       desc->id == EVENT_STACK;
}

/* The nth kind, in the order of a flushed writer: definitions first. */
static inline const struct event_desc *fixture_kind(unsigned n)
{
	unsigned count, i, pass;
	const struct event_desc *events = schema_events(&count);

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < count; i++)
			if (fixture_is_definition(&events[i]) == !pass && !n--)
				return &events[i];
	return NULL;
}

/* The nth event of the log: every kind in every style, style by style; false behind the last. */
static inline bool fixture_nth(unsigned n, struct event *ret)
{
	unsigned count;

	schema_events(&count);
	if (n >= count * FIXTURE_STYLE_COUNT)
		return false;
	fixture_event(fixture_kind(n % count), n / count, ret);
	return true;
}

static inline json_t *fixture_header(void)
{
	json_t *json = json_pack(
		"{s:s, s:s, s:s, s:I, s:{s:s, s:i, s:f}, s:[b, n, I, i], s:{s:{}, s:[]}}", "spoor",
		"0.1.0", "boot_id", "6f1c", "clock", "CLOCK_MONOTONIC", "start_wall_ns",
		(json_int_t)1760000000123456789, "host", "name", "h\xc3\xb6st", "cpus", 2, "load",
		0.5, "odd", 1, (json_int_t)INT64_MIN, -1, "empty", "object", "array");

	assert(json);
	return json;
}

#ifdef assert_int_equal /* cmocka is there */
static inline void fixture_assert_same(const struct event *e, const struct event *want)
{
	const struct event_desc *desc = schema_event(want->id);
	unsigned i;

	assert_int_equal(e->id, want->id);
	assert_int_equal(e->thread, want->thread);
	assert_int_equal(e->time_ns, want->time_ns);
	for (i = 0; i < desc->field_count; i++) {
		if (desc->fields[i].type == FIELD_STR)
			assert_string_equal(e->v[i].s, want->v[i].s);
		else
			assert_int_equal(e->v[i].u, want->v[i].u);
	}
}
#endif

/* A path for bytes in memory, good while *ret_fd is open. */
static inline void fixture_file(const void *bytes, size_t size, char path[64], int *ret_fd)
{
	*ret_fd = memfd_create("log", MFD_CLOEXEC);
	assert(*ret_fd >= 0);
	if (size && pwrite(*ret_fd, bytes, size, 0) != (ssize_t)size)
		assert(!"memfd");
	snprintf(path, 64, "/proc/self/fd/%d", *ret_fd);
}

/* Writes the fixture log, with a new block after each style. */
static inline int fixture_write(const char *path, bool overwrite)
{
	json_t *header = fixture_header();
	struct log_writer *w;
	enum fixture_style style = FIXTURE_ZERO;
	struct event e;
	unsigned count, n;
	int err;

	schema_events(&count);
	err = log_writer_open(&(struct log_writer_options){.path = path, .overwrite = overwrite},
			      header, &w);
	json_decref(header);
	if (err)
		return err;
	for (n = 0; fixture_nth(n, &e); n++) {
		if (n / count != style)
			log_writer_flush(w);
		style = n / count;
		log_write(w, &e);
	}
	return log_writer_close(w);
}
