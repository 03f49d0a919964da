#include "log/write/pack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/block.h"
#include "log/format/event.h"
#include "log/format/schema.h"
#include "log/format/text.h"
#include "log/write/packer.h"

/* For all of an event but its texts: each number, the heads of the event and of the block. */
#define EVENT_ROOM ((EVENT_FIELDS_MAX + 8) * PACKER_NUMBER_MAX)

struct out {
	struct open_block *block;
	struct packer pk;
};

/* The packer goes on in the block's buffer, where there is room for so many bytes. */
static int out_reserve(struct out *o, size_t bytes)
{
	msgpack_sbuffer *buf = &o->block->packet->buf;
	size_t alloc = buf->alloc;
	char *data;

	if (alloc - buf->size < bytes) {
		while (alloc - buf->size < bytes)
			alloc = alloc ? 2 * alloc : MSGPACK_SBUFFER_INIT_SIZE;
		data = realloc(buf->data, alloc);
		if (!data)
			return -ENOMEM;
		buf->data = data;
		buf->alloc = alloc;
	}
	o->pk.at = buf->data + buf->size;
	return 0;
}

static void out_commit(struct out *o)
{
	msgpack_sbuffer *buf = &o->block->packet->buf;

	buf->size = (size_t)(o->pk.at - buf->data);
}

static int pack_bytes(struct out *o, const char *bytes, size_t length)
{
	out_commit(o);
	if (out_reserve(o, length + EVENT_ROOM))
		return -1;
	return packer_str(&o->pk, length) || packer_str_body(&o->pk, bytes, length);
}

void open_block_free(struct open_block *b)
{
	packet_free(b->packet);
	counters_free(&b->counters);
}

void open_block_begin(struct open_block *b, struct packet *packet)
{
	b->packet = packet;
	b->stack = 0;
	counters_reset(&b->counters);
}

static int pack_text(struct out *o, const char *text)
{
	size_t length;
	char *clean;
	int err;

	if (!text)
		text = "";
	length = strlen(text);
	if (length <= LOG_TEXT_MAX && text_is_clean(text, length))
		return pack_bytes(o, text, length);
	clean = malloc(LOG_TEXT_MAX);
	if (!clean)
		return -1;
	length = text_clean(text, length, clean, LOG_TEXT_MAX);
	err = pack_bytes(o, clean, length);
	free(clean);
	return err;
}

static uint64_t counted_thread(const struct field_desc *field, const struct event *e)
{
	return field->of < 0 ? e->thread : e->v[field->of].u;
}

/* By how much the growth of a thread's other times falls short of the time since its last event:
 * most often all that has passed is in one of them, and its time on a CPU need not be said. count:
 * so many fields are stored. */
static uint64_t not_on_cpu(const struct counters_row *row, const struct event *e, unsigned count)
{
	static const uint8_t others[] = {COUNTER_STOLEN_NS, COUNTER_RUNNABLE_NS,
					 COUNTER_BLOCKED_NS};
	const uint8_t *fields = event_counter_fields(e, COUNTERS_OF_THREAD);
	uint64_t rest = e->time_ns - row->time_ns;

	for (unsigned i = 0; i < sizeof(others); i++) {
		unsigned field = fields[others[i]];

		if (field && field <= count)
			rest -= e->v[field - 1].u - row->v[others[i]];
	}
	return rest;
}

/* The difference to the thread's last value in this block; thread 0 has no counters. */
static int pack_counter(struct out *o, const struct event *e, unsigned i, unsigned count)
{
	const struct event_desc *desc = schema_event(e->id);
	unsigned counter = schema_counter[desc - schema_table][i];
	uint64_t thread = counted_thread(&desc->fields[i], e), value = e->v[i].u, diff;
	struct counters_row *row;

	if (!thread)
		return packer_int64(&o->pk, 0);
	row = counters_row(&o->block->counters, thread);
	if (!row)
		return -1;
	diff = value - row->v[counter];
	row->v[counter] = value;
	if (counter == COUNTER_CPU_NS && desc->fields[i].of < 0) {
		if (row->timed)
			diff -= not_on_cpu(row, e, count);
		row->timed = true;
		row->time_ns = e->time_ns;
	}
	return packer_int64(&o->pk, (int64_t)diff);
}

/* A call chain's number, and its caller's, are most often one more than what was before. */
static uint64_t number_stored(const struct out *o, const struct event *e, unsigned i)
{
	if (e->id == EVENT_STACK && i == STACK_STACK)
		return e->v[i].u - o->block->stack;
	if (e->id == EVENT_STACK && i == STACK_CALLER)
		return e->v[STACK_STACK].u - e->v[i].u;
	return e->v[i].u;
}

/* What a reader takes a field for that is not there. */
static bool is_default(const struct field_desc *field, const struct event *e, unsigned i)
{
	if (field->type == FIELD_STR)
		return !e->v[i].s || !*e->v[i].s;
	return !e->v[i].u || (field->type == FIELD_COUNTER && !counted_thread(field, e));
}

/* Fields are appended to events as spoor grows, and most of them are of use in few recordings. */
static unsigned fields_needed(const struct event_desc *desc, const struct event *e)
{
	unsigned count = desc->field_count;

	while (count && is_default(&desc->fields[count - 1], e, count - 1))
		count--;
	return count;
}

static int pack_fields(struct out *o, const struct event_desc *desc, const struct event *e,
		       unsigned count)
{
	const struct field_desc *field = desc->fields;
	unsigned i;
	int err = 0;

	for (i = 0; i < count && !err; i++, field++) {
		switch (field->type) {
		case FIELD_STR:
			err = pack_text(o, e->v[i].s);
			break;
		case FIELD_BOOL:
			err = e->v[i].u ? packer_true(&o->pk) : packer_false(&o->pk);
			break;
		case FIELD_COUNTER:
			err = pack_counter(o, e, i, count);
			break;
		default:
			err = packer_uint64(&o->pk, number_stored(o, e, i));
			break;
		}
	}
	return err;
}

static int pack_event(struct out *o, const struct event_desc *desc, const struct event *e)
{
	struct packet *p = o->block->packet;
	uint64_t last = p->events ? o->block->time_ns : e->time_ns;
	unsigned count = fields_needed(desc, e);

	if (!p->events &&
	    (packer_array(&o->pk, 2) || packer_uint64(&o->pk, e->time_ns) ||
	     packer_uint64(&o->pk, BLOCK_NUMBERS_RELATIVE)))
		return -ENOMEM;
	if (packer_array(&o->pk, 3 + count) || packer_uint64(&o->pk, e->id) ||
	    packer_int64(&o->pk, (int64_t)(e->time_ns - last)) ||
	    packer_uint64(&o->pk, e->thread) || pack_fields(o, desc, e, count))
		return -ENOMEM;
	return 0;
}

int open_block_add(struct open_block *b, const struct event *e)
{
	const struct event_desc *desc = schema_event(e->id);
	struct out o = {.block = b};
	struct packet *p = b->packet;
	size_t size = p->buf.size;
	int err;

	if (!desc)
		return -EINVAL;
	err = out_reserve(&o, EVENT_ROOM);
	if (!err)
		err = pack_event(&o, desc, e);
	if (err) {
		p->buf.size = size;
		return err;
	}
	out_commit(&o);
	if (!p->events || e->time_ns < p->first_ns)
		p->first_ns = e->time_ns;
	if (!p->events || e->time_ns > p->last_ns)
		p->last_ns = e->time_ns;
	b->time_ns = e->time_ns;
	if (e->id == EVENT_STACK)
		b->stack = e->v[STACK_STACK].u;
	p->events++;
	return 0;
}
