/*
 * Every definition is kept, for the next part may need it: about 100 bytes each, as long as the
 * recorder itself remembers what it has defined, but for threads that have ended and are named in
 * no event of two parts. A definition that comes is in the part in which it comes, with its own
 * time; in a later one it stands before the first event that needs it, with that event's time, so
 * that nobody takes it for an event of the time before. Which fields need which definitions
 * follows from their types.
 *
 * In the first part everything has been defined before it is used, so nothing is looked up: what it
 * costs is that of the open events.
 */
#include "log/carry.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "log/open_events.h"
#include "log/schema.h"
#include "log/text.h"

enum kind { THREADS, CLASSES, LOCKS, STRINGS, METHODS, STACKS, KIND_COUNT };

static const struct {
	uint16_t event;
	int number; /* the field with the number; -1: event.thread */
} kinds[] = {
	[THREADS] = {EVENT_THREAD, -1},
	[CLASSES] = {EVENT_CLASS, CLASS_CLASS},
	[LOCKS] = {EVENT_LOCK, LOCK_LOCK},
	[STRINGS] = {EVENT_STRING, STRING_STRING},
	[METHODS] = {EVENT_METHOD, METHOD_METHOD},
	[STACKS] = {EVENT_STACK, STACK_STACK},
};
_Static_assert(sizeof(kinds) / sizeof(*kinds) == KIND_COUNT, "all kinds");

#define KIND_NONE KIND_COUNT
#define FIRST_BITS 8

struct slot {
	uint64_t number;     /* 0: free */
	uint32_t part;       /* the last one in which it was defined or asked for */
	uint32_t place : 31; /* of the definition: 1 + index; 0: there is none (any more) */
	uint32_t ended : 1;  /* a thread that will have no events */
};

/* Open addressing, as numbers are looked up several times per event. */
struct table {
	struct slot *slots;
	unsigned bits;
	uint32_t used; /* slots */
	/* The definitions: field_count values each, and the time is of no use to anybody. */
	const struct event_desc *desc;
	union field_value *values;
	uint32_t count, capacity;
	uint32_t free_place; /* 0: none; the others follow in their first values */
};

/* The fields of an event kind that name something. */
struct needs {
	uint8_t count;
	uint8_t field[EVENT_FIELDS_MAX];
	uint8_t kind[EVENT_FIELDS_MAX];
};

struct log_carry {
	struct table tables[KIND_COUNT];
	struct needs *needs; /* by place in schema_table */
	struct open_events *open;
	struct text_set *texts;
	uint32_t part;
	uint64_t *chain; /* numbers of call chains, on the way to the outermost */
	size_t chain_capacity;
	log_carry_emit emit;
	void *ctx;
	uint64_t time_ns; /* of the event that needs something */
};

static enum kind kind_of(enum field_type type)
{
	switch (type) {
	case FIELD_THREAD:
		return THREADS;
	case FIELD_CLASS:
		return CLASSES;
	case FIELD_LOCK:
		return LOCKS;
	case FIELD_STRING:
		return STRINGS;
	case FIELD_METHOD:
		return METHODS;
	case FIELD_STACK:
		return STACKS;
	default:
		return KIND_NONE;
	}
}

static enum kind kind_defined_by(uint16_t event)
{
	unsigned i;

	for (i = 0; i < KIND_COUNT && kinds[i].event != event; i++)
		;
	return i;
}

static void needs_fill(struct needs *n, const struct event_desc *desc)
{
	enum kind own = kind_defined_by(desc->id);

	for (unsigned i = 0; i < desc->field_count; i++) {
		enum kind kind = kind_of(desc->fields[i].type);

		if (kind == KIND_NONE || (own != KIND_NONE && kinds[own].number == (int)i))
			continue;
		n->field[n->count] = (uint8_t)i;
		n->kind[n->count++] = (uint8_t)kind;
	}
}

int log_carry_new(struct log_carry **ret)
{
	struct log_carry *c = calloc(1, sizeof(*c));
	unsigned i;

	if (!c)
		return -ENOMEM;
	c->part = 1;
	c->open = open_events_new();
	c->needs = calloc(schema_table_count, sizeof(*c->needs));
	if (!c->open || !c->needs) {
		log_carry_free(c);
		return -ENOMEM;
	}
	for (i = 0; i < KIND_COUNT; i++)
		c->tables[i].desc = schema_event(kinds[i].event);
	for (i = 0; i < schema_table_count; i++)
		needs_fill(&c->needs[i], &schema_table[i]);
	*ret = c;
	return 0;
}

void log_carry_free(struct log_carry *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < KIND_COUNT; i++) {
		free(c->tables[i].slots);
		free(c->tables[i].values);
	}
	free(c->needs);
	free(c->chain);
	open_events_free(c->open);
	text_set_free(&c->texts);
	free(c);
}

/* --- tables of numbers ----------------------------------------------------------------------- */

/* The slot of a number, or the free one where it belongs. */
static struct slot *slot_at(struct slot *slots, unsigned bits, uint64_t number)
{
	size_t mask = ((size_t)1 << bits) - 1;
	size_t i = (size_t)(number * 0x9e3779b97f4a7c15ull >> (64 - bits));

	while (slots[i].number && slots[i].number != number)
		i = (i + 1) & mask;
	return &slots[i];
}

/* Makes room, if only by leaving out numbers without a definition. */
static int grow_slots(struct table *t)
{
	size_t size = t->slots ? (size_t)1 << t->bits : 0;
	unsigned bits = FIRST_BITS;
	struct slot *slots;
	uint32_t used = 0;

	for (size_t i = 0; i < size; i++)
		used += t->slots[i].place != 0;
	while ((size_t)1 << bits < 4 * ((size_t)used + 1))
		bits++;
	slots = calloc((size_t)1 << bits, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < size; i++)
		if (t->slots[i].place)
			*slot_at(slots, bits, t->slots[i].number) = t->slots[i];
	free(t->slots);
	t->slots = slots;
	t->bits = bits;
	t->used = used;
	return 0;
}

/* Lent until the next call. */
static int slot_of(struct table *t, uint64_t number, struct slot **ret)
{
	struct slot *slot = t->slots ? slot_at(t->slots, t->bits, number) : NULL;
	int err;

	if (!slot || !slot->number) {
		if (!t->slots || t->used >= 1u << (t->bits - 1)) {
			err = grow_slots(t);
			if (err)
				return err;
			slot = slot_at(t->slots, t->bits, number);
		}
		slot->number = number;
		t->used++;
	}
	*ret = slot;
	return 0;
}

static union field_value *values_at(const struct table *t, uint32_t place)
{
	return t->values + (size_t)(place - 1) * t->desc->field_count;
}

static int place_new(struct table *t, uint32_t *ret)
{
	uint32_t capacity;
	void *grown;

	if (t->free_place) {
		*ret = t->free_place;
		t->free_place = (uint32_t)values_at(t, *ret)->u;
		return 0;
	}
	if (t->count == t->capacity) {
		capacity = t->capacity ? 2 * t->capacity : 64;
		grown = realloc(t->values,
				(size_t)capacity * t->desc->field_count * sizeof(*t->values));
		if (!grown)
			return -ENOMEM;
		t->values = grown;
		t->capacity = capacity;
	}
	*ret = ++t->count;
	return 0;
}

static void place_free(struct table *t, struct slot *slot)
{
	values_at(t, slot->place)->u = t->free_place;
	t->free_place = slot->place;
	slot->place = 0;
}

/* --- definitions that this part needs --------------------------------------------------------- */

static int need_fields(struct log_carry *c, const struct event_desc *desc,
		       const union field_value *v);

static int define(struct log_carry *c, enum kind kind, uint64_t number, uint32_t place)
{
	const struct table *t = &c->tables[kind];
	struct event e = {.id = kinds[kind].event, .time_ns = c->time_ns};

	memcpy(e.v, values_at(t, place), t->desc->field_count * sizeof(*e.v));
	if (kind == THREADS)
		e.thread = (uint32_t)number;
	return c->emit(c->ctx, &e);
}

/* 1: it is to be defined: *ret is its place. 0: it has been, or cannot be. */
static int is_missing(struct log_carry *c, enum kind kind, uint64_t number, uint32_t *ret)
{
	struct slot *slot;
	int err;

	*ret = 0;
	if (!number)
		return 0;
	err = slot_of(&c->tables[kind], number, &slot);
	if (err || slot->part == c->part)
		return err;
	slot->part = c->part;
	*ret = slot->place;
	return slot->place != 0;
}

static int chain_push(struct log_carry *c, size_t at, uint64_t number)
{
	size_t capacity = c->chain_capacity ? 2 * c->chain_capacity : 64;
	void *grown;

	if (at == c->chain_capacity) {
		grown = realloc(c->chain, capacity * sizeof(*c->chain));
		if (!grown)
			return -ENOMEM;
		c->chain = grown;
		c->chain_capacity = capacity;
	}
	c->chain[at] = number;
	return 0;
}

static int define_frame(struct log_carry *c, uint64_t number)
{
	struct table *t = &c->tables[STACKS];
	struct slot *slot;
	uint64_t method;
	uint32_t place;
	int err;

	err = slot_of(t, number, &slot);
	if (err)
		return err;
	method = values_at(t, slot->place)[STACK_METHOD].u;
	err = is_missing(c, METHODS, method, &place);
	if (err > 0)
		err = define(c, METHODS, method, place);
	return err ? err : define(c, STACKS, number, slot->place);
}

/* Callers first, and no recursion: chains are as deep as the program's stacks. */
static int need_stack(struct log_carry *c, uint64_t number)
{
	size_t depth = 0;
	uint64_t caller;
	uint32_t place;
	int err;

	while ((err = is_missing(c, STACKS, number, &place)) == 1) {
		err = chain_push(c, depth++, number);
		if (err)
			return err;
		caller = values_at(&c->tables[STACKS], place)[STACK_CALLER].u;
		number = caller < number ? caller : 0; /* else it would be a circle */
	}
	while (!err && depth)
		err = define_frame(c, c->chain[--depth]);
	return err;
}

static int need(struct log_carry *c, enum kind kind, uint64_t number)
{
	uint32_t place;
	int err;

	if (kind == STACKS)
		return need_stack(c, number);
	err = is_missing(c, kind, number, &place);
	if (err <= 0)
		return err;
	err = need_fields(c, c->tables[kind].desc, values_at(&c->tables[kind], place));
	return err ? err : define(c, kind, number, place);
}

static int need_fields(struct log_carry *c, const struct event_desc *desc,
		       const union field_value *v)
{
	const struct needs *n = &c->needs[desc - schema_table];
	int err = 0;

	for (unsigned i = 0; i < n->count && !err; i++)
		if (v[n->field[i]].u)
			err = need(c, n->kind[i], v[n->field[i]].u);
	return err;
}

static int need_event(struct log_carry *c, const struct event_desc *desc, const struct event *e)
{
	int err;

	if (c->part == 1)
		return 0;
	c->time_ns = e->time_ns;
	err = e->thread ? need(c, THREADS, e->thread) : 0;
	return err ? err : need_fields(c, desc, e->v);
}

/* --- definitions that come -------------------------------------------------------------------- */

static int keep(struct log_carry *c, enum kind kind, const struct event *e, uint32_t place)
{
	struct table *t = &c->tables[kind];
	union field_value *v = values_at(t, place);

	for (unsigned i = 0; i < t->desc->field_count; i++) {
		const char *text = e->v[i].s;

		if (t->desc->fields[i].type == FIELD_STR) {
			text = text_set_add(&c->texts, text ? text : "", text ? strlen(text) : 0);
			if (!text)
				return -ENOMEM;
			v[i].s = text;
		} else {
			v[i] = e->v[i];
		}
	}
	return 0;
}

static int on_definition(struct log_carry *c, enum kind kind, const struct event_desc *desc,
			 const struct event *e)
{
	uint64_t number = kinds[kind].number < 0 ? e->thread : e->v[kinds[kind].number].u;
	struct table *t = &c->tables[kind];
	struct slot *slot;
	uint32_t place;
	int err;

	if (number) {
		err = slot_of(t, number, &slot);
		if (err)
			return err;
		place = slot->place;
		err = place ? 0 : place_new(t, &place);
		if (!err)
			err = keep(c, kind, e, place);
		if (err)
			return err;
		slot->place = place;
		slot->part = c->part;
		slot->ended = 0;
		c->time_ns = e->time_ns;
		err = c->part == 1 ? 0 : need_fields(c, desc, e->v);
		if (err)
			return err;
	}
	return c->emit(c->ctx, e);
}

static int thread_ended(struct log_carry *c, uint32_t thread)
{
	struct slot *slot;
	int err;

	if (!thread)
		return 0;
	err = slot_of(&c->tables[THREADS], thread, &slot);
	if (!err)
		slot->ended = 1;
	return err;
}

int log_carry_event(struct log_carry *c, const struct event *e, log_carry_emit emit, void *ctx)
{
	const struct event_desc *desc = schema_event(e->id);
	enum kind kind;
	int err;

	if (!desc)
		return 0;
	c->emit = emit;
	c->ctx = ctx;
	kind = kind_defined_by(e->id);
	if (kind != KIND_NONE)
		return on_definition(c, kind, desc, e);
	err = need_event(c, desc, e);
	if (!err && e->id == EVENT_THREAD_END)
		err = thread_ended(c, e->thread);
	return err ? err : open_events_add(c->open, e);
}

/* --- parts ------------------------------------------------------------------------------------ */

/* Its definition goes when two parts have not needed it: as an owner, it may be named late. */
static void forget_ended(struct log_carry *c)
{
	struct table *t = &c->tables[THREADS];

	for (size_t i = 0; t->slots && i < (size_t)1 << t->bits; i++) {
		struct slot *slot = &t->slots[i];

		if (slot->ended && slot->place && c->part - slot->part > 2)
			place_free(t, slot);
	}
}

void log_carry_cut(struct log_carry *c)
{
	c->part++;
	forget_ended(c);
}

static int emit_open(void *ctx, const struct event *e)
{
	struct log_carry *c = ctx;
	int err = need_event(c, schema_event(e->id), e);

	return err ? err : c->emit(c->ctx, e);
}

int log_carry_open(struct log_carry *c, log_carry_emit emit, void *ctx)
{
	c->emit = emit;
	c->ctx = ctx;
	return open_events_each(c->open, emit_open, c);
}
