#include "log/write/pack.h"

#include <errno.h>
#include <msgpack.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/block.h"
#include "log/format/event.h"
#include "log/format/schema.h"
#include "log/format/text.h"

struct out {
	struct open_block *block;
	msgpack_packer pk;
};

void open_block_free(struct open_block *b)
{
	packet_free(b->packet);
	counters_free(&b->counters);
}

void open_block_begin(struct open_block *b, struct packet *packet)
{
	b->packet = packet;
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
		return msgpack_pack_str_with_body(&o->pk, text, length);
	clean = malloc(LOG_TEXT_MAX);
	if (!clean)
		return -1;
	length = text_clean(text, length, clean, LOG_TEXT_MAX);
	err = msgpack_pack_str_with_body(&o->pk, clean, length);
	free(clean);
	return err;
}

/* The difference to the thread's last value in this block; thread 0 has no counters. */
static int pack_counter(struct out *o, uint64_t thread, unsigned counter, uint64_t value)
{
	uint64_t *last;
	int64_t diff;

	if (!thread)
		return msgpack_pack_int64(&o->pk, 0);
	last = counters_of(&o->block->counters, thread);
	if (!last)
		return -1;
	diff = (int64_t)(value - last[counter]);
	last[counter] = value;
	return msgpack_pack_int64(&o->pk, diff);
}

static uint64_t counted_thread(const struct field_desc *field, const struct event *e)
{
	return field->of < 0 ? e->thread : e->v[field->of].u;
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
	const uint8_t *counter = schema_counter[desc - schema_table];
	const struct field_desc *field = desc->fields;
	unsigned i;
	int err = 0;

	for (i = 0; i < count && !err; i++, field++) {
		switch (field->type) {
		case FIELD_STR:
			err = pack_text(o, e->v[i].s);
			break;
		case FIELD_BOOL:
			err = e->v[i].u ? msgpack_pack_true(&o->pk) : msgpack_pack_false(&o->pk);
			break;
		case FIELD_COUNTER:
			err = pack_counter(o, counted_thread(field, e), counter[i], e->v[i].u);
			break;
		default:
			err = msgpack_pack_uint64(&o->pk, e->v[i].u);
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
	    (msgpack_pack_array(&o->pk, 1) || msgpack_pack_uint64(&o->pk, e->time_ns)))
		return -ENOMEM;
	if (msgpack_pack_array(&o->pk, 3 + count) || msgpack_pack_uint64(&o->pk, e->id) ||
	    msgpack_pack_int64(&o->pk, (int64_t)(e->time_ns - last)) ||
	    msgpack_pack_uint64(&o->pk, e->thread) || pack_fields(o, desc, e, count))
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
	msgpack_packer_init(&o.pk, &p->buf, msgpack_sbuffer_write);
	err = pack_event(&o, desc, e);
	if (err) {
		p->buf.size = size;
		return err;
	}
	if (!p->events || e->time_ns < p->first_ns)
		p->first_ns = e->time_ns;
	if (!p->events || e->time_ns > p->last_ns)
		p->last_ns = e->time_ns;
	b->time_ns = e->time_ns;
	p->events++;
	return 0;
}
