/*
 * Decoding is what most of the time of reading a log goes into, so that the common case is written
 * out: of an event without texts that is not at the very end of its block, all bytes that its
 * fields could take are there, and only their forms have to be looked at.
 */
#include "log/batch.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/codec.h"

/* The first bytes of msgpack's integers. */
enum {
	UINT8 = 0xcc,
	NEGATIVE = 0xe0,
	ARRAY = 0x90,
	ARRAY_COUNT = 16,
	ARRAY16 = 0xdc,
	ARRAY32 = 0xdd,
	BOOL = 0xc2
};

#define NUMBER_BYTES 9 /* the longest one */
#define FAST_BYTES ((3 + EVENT_FIELDS_MAX) * NUMBER_BYTES)

enum field_how { HOW_UINT, HOW_BOOL, HOW_TEXT, HOW_OWN_COUNTER, HOW_COUNTER };

static void plan_event(const struct event_desc *desc, struct event_plan *ret)
{
	unsigned i;

	ret->fields = (uint8_t)desc->field_count;
	for (i = 0; i < desc->field_count; i++) {
		const struct field_desc *field = &desc->fields[i];
		struct field_plan *plan = &ret->field[i];

		plan->how = field->type == FIELD_BOOL  ? HOW_BOOL
			    : field->type == FIELD_STR ? HOW_TEXT
						       : HOW_UINT;
		ret->texts |= field->type == FIELD_STR;
		if (field->type != FIELD_COUNTER)
			continue;
		plan->how = field->of < 0 ? HOW_OWN_COUNTER : HOW_COUNTER;
		plan->of = field->of < 0 ? 0 : (uint8_t)field->of;
		plan->counter = schema_counter[desc - schema_table][i];
	}
}

static int plan_events(struct decoder *d)
{
	unsigned i;

	if (d->plans)
		return 0;
	d->plans = calloc(schema_table_count, sizeof(*d->plans));
	if (!d->plans)
		return -ENOMEM;
	for (i = 0; i < schema_table_count; i++)
		plan_event(&schema_table[i], &d->plans[i]);
	return 0;
}

/* Makes d->in the body of a packed block. */
static int unwrap(struct decoder *d, const struct block *b)
{
	struct preamble p;
	uint8_t *body;

	if (preamble_get(b->payload, b->length, &p))
		return -EBADMSG;
	d->in = (struct unpack){b->payload + PREAMBLE_BYTES, b->payload + b->length};
	if (p.codec == BLOCK_CODEC_NONE)
		return (size_t)(d->in.end - d->in.at) == p.raw_bytes ? 0 : -EBADMSG;
	if (p.raw_bytes > d->body_capacity) {
		body = realloc(d->body, p.raw_bytes);
		if (!body)
			return -ENOMEM;
		d->body = body;
		d->body_capacity = p.raw_bytes;
	}
	if (!d->body)
		return -EBADMSG;
	int err = codec_decompress(p.codec, d->in.at, (size_t)(d->in.end - d->in.at), d->body,
				   p.raw_bytes);
	d->in = (struct unpack){d->body, d->body + p.raw_bytes};
	return err;
}

/* The base time, and elements behind it that nobody knows yet. */
static int read_base(struct decoder *d)
{
	uint32_t count;
	int err;

	if (unpack_array(&d->in, &count) || !count || unpack_uint(&d->in, &d->time_ns))
		return -EBADMSG;
	for (err = 0; count > 1 && !err; count--)
		err = unpack_skip(&d->in);
	return err;
}

int decoder_begin(struct decoder *d, const struct block *b)
{
	int err = plan_events(d);

	if (err)
		return err;
	counters_reset(&d->counters);
	d->left = b->events;
	d->unknown = 0;
	d->in = (struct unpack){b->payload, b->length ? b->payload + b->length : b->payload};
	if (b->kind == BLOCK_KIND_PACKED)
		err = unwrap(d, b);
	if (!err)
		err = read_base(d);
	d->damaged = err && err != -ENOMEM;
	return err == -ENOMEM ? err : 0;
}

/* NULL: no integer, or a negative one that must not be; else behind it. Its bytes are there. */
static inline const uint8_t *number(const uint8_t *p, bool negative, uint64_t *ret)
{
	unsigned first = *p++, form;
	uint64_t bits;

	if (first < 0x80) {
		*ret = first;
		return p;
	}
	form = first - UINT8;
	if (form < 8) {
		memcpy(&bits, p, sizeof(bits));
		bits = be64toh(bits);
		p += 1u << (form & 3);
		*ret = form < 4 ? bits >> (64 - (8u << form))
				: (uint64_t)((int64_t)bits >> (64 - (8u << (form & 3))));
		return form >= 4 && !negative && (int64_t)*ret < 0 ? NULL : p;
	}
	if (first < NEGATIVE || !negative)
		return NULL;
	*ret = (uint64_t)(int8_t)first;
	return p;
}

/* Adds to a count of a thread, if there is such a thread. values: of the thread last asked for. */
static inline int count(struct decoder *d, uint64_t thread, unsigned counter, uint64_t *last_thread,
			uint64_t **values, uint64_t *diff)
{
	if (!thread)
		return 0;
	if (thread != *last_thread) {
		*values = counters_of(&d->counters, thread);
		if (!*values)
			return -ENOMEM;
		*last_thread = thread;
	}
	*diff = (*values)[counter] += *diff;
	return 0;
}

static int fields_fast(struct decoder *d, const struct event_plan *plan, struct event *e)
{
	const struct field_plan *field = plan->field;
	const uint8_t *p = d->in.at;
	uint64_t thread = 0, *values = NULL, *v = &e->v[0].u;
	unsigned i;

	for (i = 0; i < e->field_count; i++, field++, v++) {
		if (field->how == HOW_UINT) {
			p = number(p, false, v);
			if (!p)
				return -EBADMSG;
		} else if (field->how == HOW_BOOL) {
			*v = *p++ - BOOL;
			if (*v > 1)
				return -EBADMSG;
		} else {
			p = number(p, true, v);
			if (!p)
				return -EBADMSG;
			if (count(d, field->how == HOW_COUNTER ? e->v[field->of].u : e->thread,
				  field->counter, &thread, &values, v))
				return -ENOMEM;
		}
	}
	for (; i < plan->fields; i++)
		*v++ = 0;
	d->in.at = p;
	return 0;
}

/* Checks it, and keeps where it begins. */
static int text(struct unpack *in, const char **ret)
{
	const char *place = (const char *)in->at;
	struct unpack_value value;

	if (unpack_value(in, &value) || value.type != UNPACK_STR || value.count > LOG_TEXT_MAX)
		return -EBADMSG;
	*ret = place;
	return 0;
}

static int fields_slow(struct decoder *d, const struct event_plan *plan, struct event *e)
{
	const struct field_plan *field = plan->field;
	uint64_t thread = 0, *values = NULL;
	unsigned i;
	int err = 0;

	for (i = 0; i < e->field_count && !err; i++, field++) {
		uint64_t *v = &e->v[i].u;

		if (field->how == HOW_UINT)
			err = unpack_uint(&d->in, v);
		else if (field->how == HOW_BOOL)
			err = unpack_bool(&d->in, v);
		else if (field->how == HOW_TEXT)
			err = text(&d->in, &e->v[i].s);
		else if (!(err = unpack_signed(&d->in, v)))
			err = count(d, field->how == HOW_COUNTER ? e->v[field->of].u : e->thread,
				    field->counter, &thread, &values, v);
	}
	for (; i < plan->fields; i++, field++) {
		e->v[i].u = 0;
		if (field->how == HOW_TEXT)
			e->v[i].s = NULL;
	}
	return err;
}

/* NULL: no array. Its bytes are there. */
static inline const uint8_t *array(const uint8_t *p, uint32_t *ret)
{
	unsigned first = *p++;

	if (first - ARRAY < ARRAY_COUNT) {
		*ret = first - ARRAY;
		return p;
	}
	*ret = (uint32_t)p[0] << 8 | p[1];
	return first == ARRAY16 ? p + 2 : NULL;
}

/* id, time and thread; *ret_count is the number of elements behind them. */
static int head(struct decoder *d, uint64_t *ret_id, uint64_t *ret_thread, uint32_t *ret_count)
{
	const uint8_t *p = d->in.at;
	uint64_t dt = 0;
	uint32_t elements;

	if (d->in.end - p > FAST_BYTES && *p != ARRAY32) {
		if (!(p = array(p, &elements)) || elements < 3 || !(p = number(p, false, ret_id)) ||
		    !(p = number(p, true, &dt)) || !(p = number(p, false, ret_thread)))
			return -EBADMSG;
		d->in.at = p;
	} else if (unpack_array(&d->in, &elements) || elements < 3 || unpack_uint(&d->in, ret_id) ||
		   unpack_signed(&d->in, &dt) || unpack_uint(&d->in, ret_thread)) {
		return -EBADMSG;
	}
	d->time_ns += dt;
	*ret_count = elements - 3;
	return *ret_thread > UINT32_MAX ? -EBADMSG : 0;
}

/* 1: there is an event. 0: it was of an unknown kind. */
static int decode(struct decoder *d, struct event *e)
{
	const struct event_plan *plan;
	uint64_t id, thread;
	uint32_t rest;
	unsigned place;
	int err = head(d, &id, &thread, &rest);

	if (err)
		return err;
	place = id <= SCHEMA_ID_MAX ? schema_place[id] : 0;
	if (place) {
		plan = &d->plans[place - 1];
		e->id = (uint16_t)id;
		e->thread = (uint32_t)thread;
		e->time_ns = d->time_ns;
		e->field_count = (uint16_t)(rest < plan->fields ? rest : plan->fields);
		rest -= e->field_count;
		err = plan->texts || d->in.end - d->in.at < FAST_BYTES ? fields_slow(d, plan, e)
								       : fields_fast(d, plan, e);
		if (err)
			return err;
	}
	while (rest--)
		if (unpack_skip(&d->in))
			return -EBADMSG;
	return place != 0;
}

/* Room for one more event. */
static int reserve(struct batch *b)
{
	size_t capacity = b->capacity ? 2 * b->capacity : 64 * 1024;
	uint8_t *bytes;

	if (b->capacity - b->used >= sizeof(struct event))
		return 0;
	bytes = realloc(b->bytes, capacity);
	if (!bytes)
		return -ENOMEM;
	b->bytes = bytes;
	b->capacity = capacity;
	return 0;
}

int decoder_next(struct decoder *d, struct batch *ret)
{
	struct event *e;
	int err;

	ret->used = 0;
	while (decoder_more(d) && ret->used < BATCH_BYTES) {
		err = reserve(ret);
		if (err)
			return err;
		e = (struct event *)(ret->bytes + ret->used);
		err = decode(d, e);
		if (err == -EBADMSG) {
			d->damaged = true;
			return 0;
		}
		if (err < 0)
			return err;
		d->left--;
		d->unknown += !err;
		ret->used += err ? batch_event_bytes(e) : 0;
	}
	if (!d->left && d->in.at != d->in.end)
		d->damaged = true;
	return 0;
}

void decoder_text(const struct decoder *d, const char *place, const char **ret, size_t *ret_length)
{
	struct unpack in = {(const uint8_t *)place, d->in.end};
	struct unpack_value value = {0};

	*ret = "";
	if (place && !unpack_value(&in, &value))
		*ret = value.data;
	*ret_length = value.count;
}

void decoder_trim(struct decoder *d, size_t kept)
{
	if (d->body_capacity <= kept)
		return;
	free(d->body);
	d->body = NULL;
	d->body_capacity = 0;
}

void decoder_free(struct decoder *d)
{
	counters_free(&d->counters);
	free(d->plans);
	free(d->body);
	*d = (struct decoder){0};
}
