#include "log/check/body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "log/format/codec.h"
#include "log/format/schema.h"
#include "log/format/text.h"

static int bad(struct body *b, const char *why)
{
	b->why = why;
	return -EBADMSG;
}

static int decompress(struct body *b, const struct block *block)
{
	size_t raw = b->preamble.raw_bytes;
	int err = bytes_reserve(&b->bytes, &b->capacity, raw);

	if (!err && !b->codec)
		err = codec_new(&b->codec);
	if (err)
		return err;
	err = codec_decompress(b->codec, b->preamble.codec, block->payload + PREAMBLE_BYTES,
			       block->length - PREAMBLE_BYTES, b->bytes, raw);
	if (err)
		return err == -EBADMSG ? bad(b, "its body cannot be decompressed") : err;
	b->in = (struct unpack){b->bytes, b->bytes + raw};
	return 0;
}

static int body_find(struct body *b, const struct block *block)
{
	const uint8_t *payload = block->payload;

	memset(&b->preamble, 0, sizeof(b->preamble));
	b->in = (struct unpack){payload, payload + block->length};
	if (block->kind != BLOCK_KIND_PACKED)
		return 0;
	if (preamble_get(payload, block->length, &b->preamble))
		return bad(b, "its preamble is none");
	if (b->preamble.codec != BLOCK_CODEC_NONE)
		return b->preamble.raw_bytes ? decompress(b, block) : bad(b, "its body is empty");
	b->in.at += PREAMBLE_BYTES;
	if (b->preamble.raw_bytes != block->length - PREAMBLE_BYTES)
		return bad(b, "its body is not as long as its preamble says");
	return 0;
}

/* What stands after the base time: how numbers are stored, or nothing that is known. */
static int read_rest_of_base(struct body *b, uint32_t count)
{
	struct unpack numbers = b->in;
	uint64_t kind;

	b->relative =
		count && !unpack_uint(&numbers, &kind) && kind == BLOCK_NUMBERS_RELATIVE;
	while (count--)
		if (unpack_skip(&b->in))
			return -EBADMSG;
	return 0;
}

int body_open(struct body *b, const struct block *block)
{
	uint32_t count;
	int err = body_find(b, block);

	b->begin = b->in.at;
	b->left = block->events;
	b->events = b->definitions = b->texts_unclean = 0;
	b->first_ns = b->last_ns = 0;
	counters_reset(&b->counters);
	if (err)
		return err;
	b->stack = 0;
	if (unpack_array(&b->in, &count) || !count || unpack_uint(&b->in, &b->time_ns) ||
	    read_rest_of_base(b, count - 1))
		return bad(b, "it does not begin with a base time");
	return 0;
}

/* The sum of what is stored of the times that a thread can spend beside a CPU: all but cpu_ns. */
static uint64_t stored_beside_cpu(const struct event_desc *desc, const struct event *e)
{
	const uint8_t *counter = schema_counter[desc - schema_table];
	uint64_t sum = 0;

	for (unsigned i = 0; i < e->field_count; i++)
		if (desc->fields[i].type == FIELD_COUNTER && desc->fields[i].of < 0 &&
		    (counter[i] == COUNTER_STOLEN_NS || counter[i] == COUNTER_RUNNABLE_NS ||
		     counter[i] == COUNTER_BLOCKED_NS))
			sum += e->v[i].u;
	return sum;
}

/* What is stored of the thread's cpu_ns is how much all its times have grown beyond what has
 * passed since its last event. */
static int count_elapsed(struct body *b, const struct event_desc *desc, struct event *e)
{
	struct counters_row *row;
	unsigned i;

	for (i = 0; i < e->field_count; i++)
		if (desc->fields[i].type == FIELD_COUNTER && desc->fields[i].of < 0 &&
		    schema_counter[desc - schema_table][i] == COUNTER_CPU_NS)
			break;
	if (i == e->field_count || !e->thread)
		return 0;
	row = counters_row(&b->counters, e->thread);
	if (!row)
		return -ENOMEM;
	if (row->timed)
		e->v[i].u = e->time_ns - row->time_ns + e->v[i].u - stored_beside_cpu(desc, e);
	row->timed = true;
	row->time_ns = e->time_ns;
	return 0;
}

/* All counters are as they are stored. */
static int add_counters(struct body *b, const struct event_desc *desc, struct event *e)
{
	int err = b->relative ? count_elapsed(b, desc, e) : 0;

	for (unsigned i = 0; i < e->field_count && !err; i++) {
		const struct field_desc *field = &desc->fields[i];
		uint64_t thread, *last;

		if (field->type != FIELD_COUNTER)
			continue;
		thread = field->of < 0 ? e->thread : e->v[field->of].u;
		if (!thread)
			continue;
		last = counters_of(&b->counters, thread);
		if (!last)
			return -ENOMEM;
		last += schema_counter[desc - schema_table][i];
		*last += e->v[i].u;
		e->v[i].u = *last;
	}
	return err;
}

/* The chain and its caller, of the distance to the chain that was defined before, and of that
 * between the two. */
static void position_stack(struct body *b, struct event *e)
{
	if (e->field_count)
		e->v[STACK_STACK].u = b->stack + e->v[STACK_STACK].u;
	b->stack = e->v[STACK_STACK].u;
	if (e->field_count > STACK_CALLER)
		e->v[STACK_CALLER].u = b->stack - e->v[STACK_CALLER].u;
}

static int read_text(struct body *b)
{
	struct unpack_value v;

	if (unpack_value(&b->in, &v) || v.type != UNPACK_STR)
		return bad(b, "a text is none");
	if (v.count > LOG_TEXT_MAX)
		return bad(b, "a text is longer than 65536 bytes");
	if (!text_is_clean(v.data, v.count))
		b->texts_unclean++;
	return 0;
}

static int read_field(struct body *b, const struct field_desc *field, union field_value *ret)
{
	switch (field->type) {
	case FIELD_STR:
		ret->s = NULL;
		return read_text(b);
	case FIELD_BOOL:
		return unpack_bool(&b->in, &ret->u) ? bad(b, "a bool is none") : 0;
	case FIELD_COUNTER:
		return unpack_signed(&b->in, &ret->u) ? bad(b, "a counter is no integer") : 0;
	default:
		return unpack_uint(&b->in, &ret->u) ? bad(b, "a number is none") : 0;
	}
}

static int read_fields(struct body *b, const struct event_desc *desc, uint32_t count,
		       struct event *e)
{
	unsigned i;
	int err;

	e->field_count = (uint16_t)(count < desc->field_count ? count : desc->field_count);
	for (i = 0; i < e->field_count; i++) {
		err = read_field(b, &desc->fields[i], &e->v[i]);
		if (err)
			return err;
	}
	for (; i < desc->field_count; i++)
		memset(&e->v[i], 0, sizeof(e->v[i]));
	if (b->relative && e->id == EVENT_STACK)
		position_stack(b, e);
	return add_counters(b, desc, e);
}

static int body_end(struct body *b)
{
	return b->in.at == b->in.end ? 0 : bad(b, "it has more than the events it promises");
}

static void add_event(struct body *b, uint64_t time_ns, unsigned id)
{
	if (!b->events || time_ns < b->first_ns)
		b->first_ns = time_ns;
	if (!b->events || time_ns > b->last_ns)
		b->last_ns = time_ns;
	b->events++;
	b->left--;
	b->definitions += schema_is_definition(id);
}

int body_next(struct body *b, struct event *ret)
{
	const struct event_desc *desc;
	uint64_t id, dt, thread;
	uint32_t count;
	int err;

	if (!b->left)
		return body_end(b);
	if (unpack_array(&b->in, &count) || count < 3 || unpack_uint(&b->in, &id) ||
	    unpack_signed(&b->in, &dt) || unpack_uint(&b->in, &thread) || thread > UINT32_MAX)
		return bad(b, "an event is none, or not there");
	count -= 3;
	desc = id <= SCHEMA_ID_MAX ? schema_event((unsigned)id) : NULL;
	b->time_ns += dt;
	ret->id = desc ? desc->id : 0;
	ret->thread = (uint32_t)thread;
	ret->time_ns = b->time_ns;
	ret->field_count = 0;
	err = desc ? read_fields(b, desc, count, ret) : 0;
	if (err)
		return err;
	for (count -= ret->field_count; count; count--)
		if (unpack_skip(&b->in))
			return bad(b, "an event is none, or not there");
	add_event(b, b->time_ns, ret->id);
	return 1;
}

void body_free(struct body *b)
{
	counters_free(&b->counters);
	codec_free(b->codec);
	b->codec = NULL;
	free(b->bytes);
	b->bytes = NULL;
	b->capacity = 0;
}
