/*
 * Decoding is what most of the time of reading a log goes into, so that the common case is written
 * out: an event of a known kind, without texts, with no more fields than are known, and not at the
 * very end of its block, so that all bytes its fields could take are there and only their forms
 * have to be looked at. It is decoded to where its caller gets it: first its numbers as they are,
 * then its counters. Whatever is not like that, damage too, is left to the strict way
 * (event_strict), which begins at the same event.
 */
#include "log/read/batch.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "log/format/codec.h"

/* The first bytes of msgpack's forms. */
enum {
	FIX_MAX = 0x7f,
	ARRAY = 0x90,
	ARRAY_COUNT = 16,
	BOOL = 0xc2,
	UINT8 = 0xcc,
	UINT16 = 0xcd,
	INT8 = 0xd0,
	INT_END = 0xd4,
	ARRAY16 = 0xdc,
	NEGATIVE = 0xe0
};

#define NUMBER_BYTES 9 /* the longest one */
#define FAST_BYTES (3 + (3 + EVENT_FIELDS_MAX) * NUMBER_BYTES)

/* So many fields after those that are stored are made zero at once, the event's own or not. */
#define ZEROED 8
#define EVENT_ROOM (sizeof(struct event) + ZEROED * sizeof(union field_value))

/* Counters that follow each other, in an event and among those that a thread has. */
struct counter_run {
	uint8_t field, counter; /* the first ones */
	uint8_t count;
	uint8_t of; /* the field with the thread; OF_EVENT: the event's own */
};
#define OF_EVENT 0xff
#define RUNS_MAX 11
#define RUNS_END 0xff

/* What the schema's tables say of an event, in one cache line. */
struct event_plan {
	bool simple;              /* the common case may be one of these; false for unknown kinds */
	uint8_t fields;           /* that are known */
	uint8_t run_count;        /* of runs */
	uint16_t event_bytes;     /* in a batch */
	uint8_t cpu; /* 1 + the field of the own thread's time on a CPU; 0: there is none */
	uint8_t others[3]; /* likewise: stolen, runnable, blocked */
	uint32_t bools, counters; /* masks of fields */
	struct counter_run runs[RUNS_MAX + 1]; /* after the last: RUNS_END is its field */
};

static void plan_counter(const struct event_desc *desc, unsigned i, struct event_plan *ret)
{
	struct counter_run run = {
		.field = (uint8_t)i,
		.count = 1,
		.counter = schema_counter[desc - schema_table][i],
		.of = desc->fields[i].of < 0 ? OF_EVENT : (uint8_t)desc->fields[i].of,
	};
	struct counter_run *last = ret->run_count ? &ret->runs[ret->run_count - 1] : NULL;

	ret->counters |= 1u << i;
	if (last && last->of == run.of && last->field + last->count == run.field &&
	    last->counter + last->count == run.counter)
		last->count++;
	else if (ret->run_count < RUNS_MAX)
		ret->runs[ret->run_count++] = run;
	else
		ret->simple = false;
}

static void plan_event(const struct event_desc *desc, struct event_plan *ret)
{
	const uint8_t *fields = schema_counter_field[desc->id][COUNTERS_OF_THREAD];
	unsigned i;

	ret->simple = true;
	ret->fields = (uint8_t)desc->field_count;
	ret->event_bytes = (uint16_t)batch_event_bytes(desc);
	for (i = 0; i < desc->field_count; i++) {
		if (desc->fields[i].type == FIELD_BOOL)
			ret->bools |= 1u << i;
		else if (desc->fields[i].type == FIELD_STR)
			ret->simple = false;
		else if (desc->fields[i].type == FIELD_COUNTER)
			plan_counter(desc, i, ret);
	}
	ret->runs[ret->run_count].field = RUNS_END;
	ret->cpu = fields[COUNTER_CPU_NS];
	ret->others[0] = fields[COUNTER_STOLEN_NS];
	ret->others[1] = fields[COUNTER_RUNNABLE_NS];
	ret->others[2] = fields[COUNTER_BLOCKED_NS];
}

static int plan_events(struct decoder *d)
{
	unsigned i;

	_Static_assert(sizeof(struct event) <= UINT16_MAX, "event_bytes");
	if (d->plans)
		return 0;
	d->plans = calloc(SCHEMA_ID_MAX + 1, sizeof(*d->plans));
	if (!d->plans)
		return -ENOMEM;
	for (i = 0; i < schema_table_count; i++)
		plan_event(&schema_table[i], &d->plans[schema_table[i].id]);
	return 0;
}

/* Makes d->in the body of a packed block. */
static int unwrap(struct decoder *d, const struct block *b)
{
	struct preamble p;
	int err;

	if (preamble_get(b->payload, b->length, &p))
		return -EBADMSG;
	d->in = (struct unpack){b->payload + PREAMBLE_BYTES, b->payload + b->length};
	if (p.codec == BLOCK_CODEC_NONE)
		return (size_t)(d->in.end - d->in.at) == p.raw_bytes ? 0 : -EBADMSG;
	if (bytes_reserve(&d->body, &d->body_capacity, p.raw_bytes))
		return -ENOMEM;
	if (!d->body)
		return -EBADMSG;
	err = d->codec ? 0 : codec_new(&d->codec);
	if (err)
		return err;
	err = codec_decompress(d->codec, p.codec, d->in.at, (size_t)(d->in.end - d->in.at), d->body,
			       p.raw_bytes);
	d->in = (struct unpack){d->body, d->body + p.raw_bytes};
	return err;
}

/* The base time, how numbers are stored, and elements after it that nobody knows yet. */
static int read_base(struct decoder *d)
{
	struct unpack numbers;
	uint64_t kind;
	uint32_t count;
	int err;

	d->relative = false;
	d->stack = 0;
	if (unpack_array(&d->in, &count) || !count || unpack_uint(&d->in, &d->time_ns))
		return -EBADMSG;
	numbers = d->in;
	d->relative = count > 1 && !unpack_uint(&numbers, &kind) && kind == BLOCK_NUMBERS_RELATIVE;
	for (err = 0; count > 1 && !err; count--)
		err = unpack_skip(&d->in);
	return err;
}

/* Makes the numbers of a call chain and of its caller of what is stored. */
static inline void stack_numbers(struct decoder *d, struct event *e)
{
	if (e->field_count > STACK_STACK)
		e->v[STACK_STACK].u += d->stack;
	if (e->field_count > STACK_CALLER)
		e->v[STACK_CALLER].u = e->v[STACK_STACK].u - e->v[STACK_CALLER].u;
	d->stack = e->v[STACK_STACK].u;
}

/* Makes the growth of the own thread's time on a CPU of what is stored, where all growths are
 * as they are stored still. */
static inline int cpu_growth(struct decoder *d, const struct event_plan *plan, struct event *e)
{
	struct counters_row *row;
	uint64_t rest;

	if (!plan->cpu || plan->cpu > e->field_count || !e->thread)
		return 0;
	row = counters_row(&d->counters, e->thread);
	if (!row)
		return -ENOMEM;
	rest = e->time_ns - row->time_ns;
	for (unsigned i = 0; i < sizeof(plan->others); i++)
		if (plan->others[i] && plan->others[i] <= e->field_count)
			rest -= e->v[plan->others[i] - 1].u;
	if (row->timed)
		e->v[plan->cpu - 1].u += rest;
	row->timed = true;
	row->time_ns = e->time_ns;
	return 0;
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

/* Of the forms from UINT8 on: all bytes, and how far eight of them are shifted to be the number. */
static const struct {
	uint8_t bytes, shift;
} forms[] = {{2, 56}, {3, 48}, {5, 32}, {9, 0}, {2, 56}, {3, 48}, {5, 32}, {9, 0}};
_Static_assert(sizeof(forms) / sizeof(*forms) == INT_END - UINT8, "one for each form");

/* What only some fields may be, by their indices: it is looked at when all have been read. */
struct seen {
	uint32_t bools, negatives;
};

/* After a value of more than a byte, or negative, or bool; NULL: it is none of these. */
static inline const uint8_t *longer(const uint8_t *p, unsigned field, uint64_t *ret,
				    struct seen *seen)
{
	unsigned first = *p, form = first - UINT8;
	uint64_t bits;

	if (form < INT8 - UINT8) {
		memcpy(&bits, p + 1, sizeof(bits));
		*ret = be64toh(bits) >> forms[form].shift;
		return p + forms[form].bytes;
	}
	if (form < INT_END - UINT8) {
		memcpy(&bits, p + 1, sizeof(bits));
		bits = be64toh(bits);
		*ret = (uint64_t)((int64_t)bits >> forms[form].shift);
		seen->negatives |= (uint32_t)(bits >> 63) << field;
		return p + forms[form].bytes;
	}
	if (first >= NEGATIVE) {
		*ret = (uint64_t)(int8_t)first;
		seen->negatives |= 1u << field;
		return p + 1;
	}
	*ret = first & 1;
	seen->bools |= 1u << field;
	return (first | 1) == (BOOL | 1) ? p + 1 : NULL;
}

/* After the value at p; NULL: it is no integer and no bool. Its bytes are there. */
static inline const uint8_t *value(const uint8_t *p, unsigned field, uint64_t *ret,
				   struct seen *seen)
{
	uint16_t two;

	if (*p <= FIX_MAX) {
		*ret = *p;
		return p + 1;
	}
	if (*p == UINT16) {
		memcpy(&two, p + 1, sizeof(two));
		*ret = be16toh(two);
		return p + 3;
	}
	return longer(p, field, ret, seen);
}

/* Whether only those fields are bools or negative that may be, of so many. */
static bool is_right(const struct event_plan *plan, unsigned count, const struct seen *seen)
{
	return !(seen->negatives & ~plan->counters) &&
	       seen->bools == (plan->bools & ((1u << count) - 1));
}

/* After the fields, as they are stored; NULL: they are not what the plan says. */
static inline const uint8_t *fields(const uint8_t *p, const struct event_plan *plan, unsigned count,
				    union field_value *v)
{
	union field_value *at = v, *end = v + count;
	struct seen seen = {0, 0};

	for (; at < end; at++) {
		p = value(p, (unsigned)(at - v), &at->u, &seen);
		if (!p)
			return NULL;
	}
	if (plan->bools | seen.bools | seen.negatives && !is_right(plan, count, &seen))
		return NULL;
	memset(at, 0, ZEROED * sizeof(*at));
	for (at += ZEROED; at < v + plan->fields; at++)
		at->u = 0;
	return p;
}

/* Makes sums of the counters' differences, of those that have a thread. */
static inline int counts(struct decoder *d, const struct event_plan *plan, struct event *e)
{
	const struct counter_run *run;
	unsigned i, count, fields = e->field_count;

	if (d->relative && cpu_growth(d, plan, e))
		return -ENOMEM;
	for (run = plan->runs; run->field < fields; run++) {
		uint64_t thread = run->of == OF_EVENT ? e->thread : e->v[run->of].u;
		uint64_t *v = &e->v[run->field].u, *sum;

		if (!thread)
			continue;
		sum = counters_of(&d->counters, thread);
		if (!sum)
			return -ENOMEM;
		sum += run->counter;
		count = fields - run->field;
		count = count < run->count ? count : run->count;
		if (count == 3) {
			v[0] = sum[0] += v[0];
			v[1] = sum[1] += v[1];
			v[2] = sum[2] += v[2];
			continue;
		}
		for (i = 0; i < count; i++)
			v[i] = sum[i] += v[i];
	}
	return 0;
}

/*
 * After the event at p, and what it takes in its batch. NULL: it is not of the common case, or
 * there is no memory, *err says.
 */
static inline const uint8_t *event_fast(struct decoder *d, const uint8_t *p, struct event *e,
					size_t *ret_bytes, int *err)
{
	const struct event_plan *plan;
	struct seen seen = {0, 0};
	uint64_t dt, thread;
	unsigned count = *p++ - ARRAY, id;

	if (count >= ARRAY_COUNT) {
		if (count != ARRAY16 - ARRAY)
			return NULL;
		count = (unsigned)p[0] << 8 | p[1];
		p += 2;
	}
	id = *p++;
	if (id > SCHEMA_ID_MAX)
		return NULL;
	plan = &d->plans[id];
	count -= 3;
	if (!plan->simple || count > plan->fields)
		return NULL;
	p = value(p, 1, &dt, &seen);
	p = p ? value(p, 0, &thread, &seen) : NULL;
	if (!p || seen.bools || seen.negatives & 1 || thread > UINT32_MAX)
		return NULL;
	p = fields(p, plan, count, e->v);
	if (!p)
		return NULL;
	e->id = (uint16_t)id;
	e->field_count = (uint16_t)count;
	e->thread = (uint32_t)thread;
	e->time_ns = d->time_ns += dt;
	*ret_bytes = plan->event_bytes;
	if (id == EVENT_STACK && d->relative)
		stack_numbers(d, e);
	*err = counts(d, plan, e);
	return *err ? NULL : p;
}

/* Checks it, and keeps where it begins. */
static int text(struct unpack *in, const char **ret)
{
	const char *text = (const char *)in->at;
	struct unpack_value value;

	if (unpack_value(in, &value) || value.type != UNPACK_STR || value.count > LOG_TEXT_MAX)
		return -EBADMSG;
	*ret = text;
	return 0;
}

/* As counts(), field by field. */
static int counts_strict(struct decoder *d, const struct event_desc *desc, struct event *e)
{
	const uint8_t *counter = schema_counter[desc - schema_table];
	const struct field_desc *field = desc->fields;

	if (d->relative && cpu_growth(d, &d->plans[desc->id], e))
		return -ENOMEM;
	for (unsigned i = 0; i < e->field_count; i++, field++) {
		uint64_t thread, *sums;

		if (field->type != FIELD_COUNTER)
			continue;
		thread = field->of < 0 ? e->thread : e->v[field->of].u;
		sums = thread ? counters_of(&d->counters, thread) : NULL;
		if (thread && !sums)
			return -ENOMEM;
		if (sums)
			e->v[i].u = sums[counter[i]] += e->v[i].u;
	}
	return 0;
}

static int fields_strict(struct decoder *d, const struct event_desc *desc, struct event *e)
{
	const struct field_desc *field = desc->fields;
	unsigned i;
	int err = 0;

	for (i = 0; i < e->field_count && !err; i++, field++) {
		uint64_t *v = &e->v[i].u;

		if (field->type == FIELD_BOOL)
			err = unpack_bool(&d->in, v);
		else if (field->type == FIELD_STR)
			err = text(&d->in, &e->v[i].s);
		else if (field->type == FIELD_COUNTER)
			err = unpack_signed(&d->in, v);
		else
			err = unpack_uint(&d->in, v);
	}
	for (; i < desc->field_count; i++, field++) {
		e->v[i].u = 0;
		if (field->type == FIELD_STR)
			e->v[i].s = NULL;
	}
	if (!err && d->relative && e->id == EVENT_STACK)
		stack_numbers(d, e);
	return err ? err : counts_strict(d, desc, e);
}

/* 1: there is an event. 0: it was of an unknown kind. */
static int event_strict(struct decoder *d, struct event *e)
{
	const struct event_desc *desc;
	uint64_t id, thread, dt;
	uint32_t rest;
	int err;

	if (unpack_array(&d->in, &rest) || rest < 3 || unpack_uint(&d->in, &id) ||
	    unpack_signed(&d->in, &dt) || unpack_uint(&d->in, &thread) || thread > UINT32_MAX)
		return -EBADMSG;
	d->time_ns += dt;
	rest -= 3;
	desc = id <= SCHEMA_ID_MAX ? schema_event((unsigned)id) : NULL;
	if (desc) {
		e->id = (uint16_t)id;
		e->thread = (uint32_t)thread;
		e->time_ns = d->time_ns;
		e->field_count = (uint16_t)(rest < desc->field_count ? rest : desc->field_count);
		rest -= e->field_count;
		err = fields_strict(d, desc, e);
		if (err)
			return err;
	}
	while (rest--)
		if (unpack_skip(&d->in))
			return -EBADMSG;
	return desc != NULL;
}

/* Room for one more event, and for as many again. */
static int reserve(struct batch *b)
{
	if (b->capacity - b->used >= EVENT_ROOM)
		return 0;
	return bytes_reserve(&b->bytes, &b->capacity, b->capacity ? 2 * b->capacity : 64 * 1024);
}

/* As many as are of the common case, and as there is room for. */
static int events_fast(struct decoder *d, struct batch *b)
{
	const uint8_t *p = d->in.at, *next;
	size_t bytes, room = b->capacity - EVENT_ROOM, used = b->used;
	uint32_t left = d->left;
	int err = 0;

	if (d->in.end - p <= FAST_BYTES)
		return 0;
	room = room < BATCH_BYTES - 1 ? room : BATCH_BYTES - 1;
	for (; left && p < d->in.end - FAST_BYTES && used <= room; left--) {
		next = event_fast(d, p, (struct event *)(b->bytes + used), &bytes, &err);
		if (!next)
			break;
		used += bytes;
		p = next;
	}
	b->events += d->left - left;
	b->used = used;
	d->left = left;
	d->in.at = p;
	return err;
}

/* One event. 0: there was one, maybe of an unknown kind. */
static int event_add(struct decoder *d, struct batch *b)
{
	struct event *e = (struct event *)(b->bytes + b->used);
	int known = event_strict(d, e);

	if (known < 0)
		return known;
	d->left--;
	if (!known) {
		d->unknown++;
		return 0;
	}
	b->events++;
	b->texts |= !d->plans[e->id].simple;
	b->used += d->plans[e->id].event_bytes;
	return 0;
}

int decoder_next(struct decoder *d, struct batch *ret)
{
	int err;

	ret->used = ret->events = 0;
	ret->texts = false;
	while (decoder_more(d) && ret->used < BATCH_BYTES) {
		err = reserve(ret);
		if (!err)
			err = events_fast(d, ret);
		if (!err && d->left && ret->capacity - ret->used >= EVENT_ROOM)
			err = event_add(d, ret);
		if (err == -EBADMSG) {
			d->damaged = true;
			return 0;
		}
		if (err)
			return err;
	}
	if (!d->left && d->in.at != d->in.end)
		d->damaged = true;
	return 0;
}

void decoder_text(const struct decoder *d, const char *at, const char **ret, size_t *ret_length)
{
	struct unpack in = {(const uint8_t *)at, d->in.end};
	struct unpack_value value = {0};

	*ret = "";
	if (at && !unpack_value(&in, &value))
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
	codec_free(d->codec);
	*d = (struct decoder){0};
}
