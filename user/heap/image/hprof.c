/*
 * The format, as the JDK's heapDumper.cpp writes it: a header, then records with a length; strings,
 * classes, call chains, and the heap itself, in one record or in many segments. What is in a
 * segment has no length of its own, so a wrong byte there makes all that follows unreadable.
 */
#include "heap/image/hprof.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "heap/image/hprof_parser.h"

enum record {
	RECORD_TEXT = 0x01,
	RECORD_LOAD_CLASS = 0x02,
	RECORD_HEAP_DUMP = 0x0c,
	RECORD_HEAP_SEGMENT = 0x1c,
	RECORD_HEAP_END = 0x2c,
	RECORD_LAST = RECORD_HEAP_END,
};

#define MAGIC "JAVA PROFILE 1.0."
#define HEAD_BYTES 9
#define TEXT_MAX 65535 /* of a symbol of the JVM */

static int read_text(struct hprof_parser *p)
{
	uint32_t length = (uint32_t)p->left - p->id_bytes;
	const uint8_t *bytes;
	int err = 0;

	if (p->left < p->id_bytes)
		return hprof_damage(p, "a name is too short");
	if (p->left > UINT32_MAX || length > TEXT_MAX - p->id_bytes)
		length = TEXT_MAX - p->id_bytes;
	bytes = hprof_need(p, p->id_bytes + length, &err);
	if (!bytes)
		return err;
	return heap_types_text_add(&p->state->types, hprof_id(p, bytes), bytes + p->id_bytes,
				   length);
}

/* "[I" is the class of a type that is there already. */
static int primitive_array(struct heap_types *t, const char *name, uint64_t id)
{
	static const char letters[] = "ZCFDBSIJ";
	const char *letter;

	if (name[0] != '[' || !name[1] || name[2])
		return -ENOENT;
	letter = strchr(letters, name[1]);
	if (!letter)
		return -ENOENT;
	t->all[letter - letters].id = id;
	return 0;
}

static int read_load_class(struct hprof_parser *p)
{
	struct heap_types *t = &p->state->types;
	uint32_t type, text;
	int err = 0;
	const uint8_t *bytes = hprof_need(p, 8 + 2 * p->id_bytes, &err);

	if (!bytes)
		return err;
	text = heap_types_text_find(t, hprof_id(p, bytes + 8 + p->id_bytes));
	err = heap_types_add(t, hprof_id(p, bytes + 4), &type);
	if (err || text == HEAP_NONE || t->all[type].name != HEAP_NONE)
		return err;
	primitive_array(t, heap_types_text(t, text), t->all[type].id);
	return heap_types_name(t, type, text);
}

static int read_record(struct hprof_parser *p, unsigned tag)
{
	switch (tag) {
	case RECORD_TEXT:
		return read_text(p);
	case RECORD_LOAD_CLASS:
		return read_load_class(p);
	case RECORD_HEAP_DUMP:
	case RECORD_HEAP_SEGMENT:
		return hprof_heap(p);
	default:
		return 0;
	}
}

/* A record of the heap whose length was not known when it began, or had no room in four bytes, has
 * the length 0: it goes on to the end. */
static int next_record(struct hprof_parser *p, bool *ret_end)
{
	const uint8_t *head;
	unsigned tag;
	int err;

	p->left = UINT64_MAX;
	head = dump_need(p->in, 1);
	if (!head && dump_error(p->in) == -ENODATA) {
		*ret_end = true;
		return 0;
	}
	err = 0;
	head = hprof_need(p, HEAD_BYTES, &err);
	if (!head)
		return err;
	tag = head[0];
	p->left = dump_u4(head + 5);
	if (!tag || tag > RECORD_LAST)
		return hprof_damage(p, "there is no kind of record with this number");
	if (tag == RECORD_HEAP_DUMP && !p->left)
		p->left = UINT64_MAX;
	dump_skip(p->in, HEAD_BYTES);
	err = read_record(p, tag);
	if (err == HPROF_END) {
		*ret_end = true;
		return 0;
	}
	return err ? err : hprof_skip(p, p->left);
}

static int read_header(struct hprof_parser *p)
{
	const uint8_t *bytes = dump_need(p->in, sizeof(MAGIC) + 1);
	int err = dump_error(p->in);
	unsigned version;

	p->result->is_gzip = dump_is_gzip(p->in);
	if (!bytes && err != -ENODATA && err != -EBADMSG)
		return err;
	if (!bytes || memcmp(bytes, MAGIC, sizeof(MAGIC) - 1) != 0) {
		hprof_damage(p, "it does not begin as a heap dump does");
		return -EPROTO;
	}
	version = bytes[sizeof(MAGIC) - 1];
	if ((version != '1' && version != '2') || bytes[sizeof(MAGIC)]) {
		hprof_damage(p, version == '3' ? "it is a dump of Android: hprof-conv of its "
						 "tools makes one that spoor reads"
					       : "it is of an unknown version of the format");
		return -ENOTSUP;
	}
	dump_skip(p->in, sizeof(MAGIC) + 1);
	bytes = hprof_need(p, 12, &err);
	if (!bytes)
		return err;
	p->id_bytes = dump_u4(bytes);
	if (p->id_bytes != 4 && p->id_bytes != 8)
		return hprof_damage(p, "its ids have neither 4 nor 8 bytes");
	p->result->taken_ms = dump_u8(bytes + 4);
	dump_skip(p->in, 12);
	return 0;
}

static int read_all_records(struct hprof_parser *p)
{
	bool end = false;
	int err = 0;

	while (!err && !end)
		err = next_record(p, &end);
	if (!err)
		p->result->offset = dump_offset(p->in);
	return err;
}

int hprof_read(dump_read *read, void *ctx, bool objects, struct heap_state *ret,
	       struct hprof_result *result)
{
	struct hprof_parser p = {.state = ret, .result = result, .left = UINT64_MAX};
	int err = dump_input_open(read, ctx, &p.in);

	*result = (struct hprof_result){0};
	memset(ret, 0, sizeof(*ret));
	if (err)
		return err;
	err = read_header(&p);
	if (!err)
		err = heap_state_init(ret, p.id_bytes, objects);
	if (!err)
		err = read_all_records(&p);
	if (err == -EBADMSG && ret->object_count)
		err = 0;
	if (!err)
		err = heap_state_finish(ret);
	dump_input_close(p.in);
	return err;
}
