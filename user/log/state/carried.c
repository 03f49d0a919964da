/*
 * Every definition is kept, for the next part may need it, until the recorder says that the number
 * is in no event any more (carried_forget), and no definition that is kept refers to it. A
 * definition that comes is in the part in which it comes, with its own time; in a later one it
 * stands before the first event that needs it, with that event's time, so that nobody takes it for
 * an event of the time before. Which fields need which definitions follows from their types.
 *
 * In the first part everything has been defined before it is used, so nothing is looked up: what it
 * costs is that of the open events.
 *
 * Locks, threads, strings and chains are as many as the recorder itself remembers, which is
 * bounded there. Classes and methods stay, besides, as long as some lock or chain refers to them,
 * and have names of any length: they have a budget of their own. Where it ends, those that the
 * recorder has forgotten go; then the lock has no class in the parts that follow, the frame no
 * method.
 */
#include "log/state/carried.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "base/tables/store.h"
#include "log/format/schema.h"
#include "log/state/open_events.h"

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
#define TEXT_OVERHEAD 16 /* of malloc */

struct definition {
	uint64_t number;
	uint32_t part;              /* the last one in which it was defined */
	uint32_t refs : 31;         /* of other definitions */
	uint32_t forgotten : 1;     /* no event refers to it any more */
	union field_value values[]; /* the time is of no use to anybody */
};

/* The fields of an event kind that name something. */
struct needs {
	uint8_t count;
	uint8_t field[EVENT_FIELDS_MAX];
	uint8_t kind[EVENT_FIELDS_MAX];
};

struct carried_definitions {
	struct store *tables[KIND_COUNT];
	struct table_of {
		struct carried_definitions *carry;
		const struct event_desc *desc;
	} of[KIND_COUNT];
	struct needs *needs; /* by index in schema_table */
	struct open_events *open;
	struct budget *budget;       /* of classes and methods */
	bool incomplete[KIND_COUNT]; /* some are not known any more */
	uint32_t part;
	uint64_t *chain; /* numbers of call chains, on the way to the outermost */
	uint32_t chain_capacity;
	carried_emit emit;
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

static bool is_loose(enum kind kind)
{
	return kind == CLASSES || kind == METHODS;
}

static struct definition *find(struct carried_definitions *c, enum kind kind, uint64_t number)
{
	return number ? store_find(c->tables[kind], &number) : NULL;
}

static struct budget *budget_of(struct carried_definitions *c, enum kind kind)
{
	return is_loose(kind) ? c->budget : NULL;
}

/* --- keeping ---------------------------------------------------------------------------------- */

static void texts_free(struct carried_definitions *c, enum kind kind, struct definition *d)
{
	const struct event_desc *desc = c->of[kind].desc;

	for (unsigned i = 0; i < desc->field_count; i++) {
		char *text = (char *)(uintptr_t)d->values[i].s;

		if (desc->fields[i].type != FIELD_STR || !text)
			continue;
		budget_give(budget_of(c, kind), strlen(text) + 1 + TEXT_OVERHEAD);
		free(text);
		d->values[i].s = NULL;
	}
}

/* Of classes and methods: their budget is used up. */
static bool forget_loose(void *ctx, void *entry)
{
	struct definition *d = entry;
	struct table_of *of = ctx;
	enum kind kind = (enum kind)(of - of->carry->of);

	if (!d->forgotten)
		return false;
	texts_free(of->carry, kind, d);
	of->carry->incomplete[kind] = true;
	return true;
}

static int tables_new(struct carried_definitions *c)
{
	struct store_options o = {.key_bytes = sizeof(uint64_t)};
	int err = 0;

	for (unsigned i = 0; i < KIND_COUNT && !err; i++) {
		c->of[i] = (struct table_of){c, schema_event(kinds[i].event)};
		o.entry_bytes = (uint32_t)(sizeof(struct definition) +
					   c->of[i].desc->field_count * sizeof(union field_value));
		o.budget = budget_of(c, i);
		o.forget = is_loose(i) ? forget_loose : NULL;
		o.ctx = &c->of[i];
		err = store_new(&o, &c->tables[i]);
	}
	return err;
}

int carried_new(struct budget *budget, struct carried_definitions **ret)
{
	struct carried_definitions *c = calloc(1, sizeof(*c));
	int err = -ENOMEM;

	if (!c)
		return -ENOMEM;
	c->part = 1;
	c->budget = budget;
	c->open = open_events_new();
	c->needs = calloc(schema_table_count, sizeof(*c->needs));
	if (c->open && c->needs)
		err = tables_new(c);
	if (err) {
		carried_free(c);
		return err;
	}
	for (unsigned i = 0; i < schema_table_count; i++)
		needs_fill(&c->needs[i], &schema_table[i]);
	*ret = c;
	return 0;
}

void carried_free(struct carried_definitions *c)
{
	struct definition *d;

	if (!c)
		return;
	for (unsigned i = 0; i < KIND_COUNT; i++) {
		d = NULL;
		while (c->tables[i] && (d = store_next(c->tables[i], d)))
			texts_free(c, i, d);
		store_free(c->tables[i]);
	}
	free(c->needs);
	free(c->chain);
	open_events_free(c->open);
	free(c);
}

/* What a definition refers to, besides a chain to its caller. */
static struct definition *referred(struct carried_definitions *c, enum kind kind,
				   const struct definition *d)
{
	if (kind == LOCKS)
		return find(c, CLASSES, d->values[LOCK_CLASS].u);
	return kind == STACKS ? find(c, METHODS, d->values[STACK_METHOD].u) : NULL;
}

/* Its caller, which has a smaller number: else there would be circles. */
static struct definition *caller_of(struct carried_definitions *c, enum kind kind,
				    const struct definition *d)
{
	uint64_t caller = kind == STACKS ? d->values[STACK_CALLER].u : 0;

	return caller < d->number ? find(c, STACKS, caller) : NULL;
}

/* False: d is needed still. */
static bool let_go(struct definition *d)
{
	if (d && d->refs)
		d->refs--;
	return d && !d->refs && d->forgotten;
}

static void remove_one(struct carried_definitions *c, enum kind kind, struct definition *d)
{
	texts_free(c, kind, d);
	store_remove(c->tables[kind], d);
	c->incomplete[kind] = true;
}

/* With the callers that only it has needed. */
static void remove_definition(struct carried_definitions *c, enum kind kind, struct definition *d)
{
	struct definition *other, *caller;

	do {
		other = referred(c, kind, d);
		caller = caller_of(c, kind, d);
		if (let_go(other))
			remove_one(c, kind == LOCKS ? CLASSES : METHODS, other);
		remove_one(c, kind, d);
		d = caller;
	} while (let_go(d));
}

void carried_forget(struct carried_definitions *c, uint16_t event, uint64_t number)
{
	enum kind kind = kind_defined_by(event);
	struct definition *d = kind == KIND_NONE ? NULL : find(c, kind, number);

	if (!d)
		return;
	d->forgotten = 1;
	if (!d->refs)
		remove_definition(c, kind, d);
}

bool carried_find(struct carried_definitions *c, uint16_t event, uint64_t number, struct event *ret)
{
	enum kind kind = kind_defined_by(event);
	const struct definition *d = kind == KIND_NONE ? NULL : find(c, kind, number);

	if (!d)
		return false;
	*ret = (struct event){.id = event};
	memcpy(ret->v, d->values, c->of[kind].desc->field_count * sizeof(*ret->v));
	if (kind == THREADS)
		ret->thread = (uint32_t)d->number;
	return true;
}

/* --- definitions that this part needs --------------------------------------------------------- */

static int need_fields(struct carried_definitions *c, const struct event_desc *desc,
		       const union field_value *v);

/* What it refers to and is not known any more, it does not refer to. */
static void clear_unknown(struct carried_definitions *c, const struct event_desc *desc,
			  struct event *e)
{
	const struct needs *n = &c->needs[desc - schema_table];

	for (unsigned i = 0; i < n->count; i++)
		if (c->incomplete[n->kind[i]] && !find(c, n->kind[i], e->v[n->field[i]].u))
			e->v[n->field[i]].u = 0;
}

static int define(struct carried_definitions *c, enum kind kind, const struct definition *d)
{
	const struct event_desc *desc = c->of[kind].desc;
	struct event e = {.id = kinds[kind].event, .time_ns = c->time_ns};

	memcpy(e.v, d->values, desc->field_count * sizeof(*e.v));
	clear_unknown(c, desc, &e);
	if (kind == THREADS)
		e.thread = (uint32_t)d->number;
	return c->emit(c->ctx, &e);
}

/* The definition that is to be made here; NULL: it is there already, or cannot be. */
static const struct definition *missing(struct carried_definitions *c, enum kind kind,
					uint64_t number)
{
	struct definition *d = find(c, kind, number);

	if (!d || d->part == c->part)
		return NULL;
	d->part = c->part;
	return d;
}

static int chain_push(struct carried_definitions *c, uint32_t at, uint64_t number)
{
	int err = array_grow(&c->chain, &c->chain_capacity, at, sizeof(*c->chain));

	if (!err)
		c->chain[at] = number;
	return err;
}

static int define_frame(struct carried_definitions *c, uint64_t number)
{
	const struct definition *d = find(c, STACKS, number);
	const struct definition *method = missing(c, METHODS, d->values[STACK_METHOD].u);
	int err = method ? define(c, METHODS, method) : 0;

	return err ? err : define(c, STACKS, d);
}

/* Callers first, and no recursion: chains are as deep as the program's stacks. */
static int need_stack(struct carried_definitions *c, uint64_t number)
{
	const struct definition *d;
	size_t depth = 0;
	uint64_t caller;
	int err = 0;

	while (!err && (d = missing(c, STACKS, number))) {
		err = chain_push(c, depth++, number);
		caller = d->values[STACK_CALLER].u;
		number = caller < number ? caller : 0; /* else it would be a circle */
	}
	while (!err && depth)
		err = define_frame(c, c->chain[--depth]);
	return err;
}

static int need(struct carried_definitions *c, enum kind kind, uint64_t number)
{
	const struct definition *d;
	int err;

	if (kind == STACKS)
		return need_stack(c, number);
	d = missing(c, kind, number);
	if (!d)
		return 0;
	err = need_fields(c, c->of[kind].desc, d->values);
	return err ? err : define(c, kind, d);
}

static int need_fields(struct carried_definitions *c, const struct event_desc *desc,
		       const union field_value *v)
{
	const struct needs *n = &c->needs[desc - schema_table];
	int err = 0;

	for (unsigned i = 0; i < n->count && !err; i++)
		if (v[n->field[i]].u)
			err = need(c, n->kind[i], v[n->field[i]].u);
	return err;
}

static int need_event(struct carried_definitions *c, const struct event_desc *desc,
		      const struct event *e)
{
	int err;

	if (c->part == 1)
		return 0;
	c->time_ns = e->time_ns;
	err = e->thread ? need(c, THREADS, e->thread) : 0;
	return err ? err : need_fields(c, desc, e->v);
}

/* --- definitions that come -------------------------------------------------------------------- */

/* -ENOSPC: there is no room for the text. */
static int text_keep(struct carried_definitions *c, enum kind kind, const char *text,
		     const char **ret)
{
	uint64_t bytes = strlen(text) + 1 + TEXT_OVERHEAD;
	char *copy;

	while (!budget_take(budget_of(c, kind), bytes))
		if (store_squeeze(c->tables[kind]))
			return -ENOSPC;
	copy = strdup(text);
	if (!copy) {
		budget_give(budget_of(c, kind), bytes);
		return -ENOMEM;
	}
	*ret = copy;
	return 0;
}

static int values_keep(struct carried_definitions *c, enum kind kind, const struct event *e,
		       struct definition *d)
{
	const struct event_desc *desc = c->of[kind].desc;
	int err = 0;

	for (unsigned i = 0; i < desc->field_count; i++) {
		d->values[i].u = 0;
		if (desc->fields[i].type != FIELD_STR)
			d->values[i] = e->v[i];
		else if (!err)
			err = text_keep(c, kind, e->v[i].s ? e->v[i].s : "", &d->values[i].s);
	}
	return err;
}

static void count_ref(struct definition *d)
{
	if (d)
		d->refs++;
}

/* -ENOSPC: it is a class or a method, and the budget is used up: it is not kept. */
static int keep(struct carried_definitions *c, enum kind kind, uint64_t number,
		const struct event *e)
{
	struct definition *d = find(c, kind, number);
	void *entry;
	int err;

	if (d) {
		let_go(referred(c, kind, d));
		let_go(caller_of(c, kind, d));
		texts_free(c, kind, d);
	} else {
		err = store_add(c->tables[kind], &number, &entry);
		if (err)
			return err;
		d = entry;
	}
	d->part = c->part;
	d->forgotten = 0;
	err = values_keep(c, kind, e, d);
	if (err) {
		remove_one(c, kind, d);
		return err;
	}
	count_ref(referred(c, kind, d));
	count_ref(caller_of(c, kind, d));
	return 0;
}

static int on_definition(struct carried_definitions *c, enum kind kind,
			 const struct event_desc *desc, const struct event *e)
{
	uint64_t number = kinds[kind].number < 0 ? e->thread : e->v[kinds[kind].number].u;
	int err;

	if (number) {
		err = keep(c, kind, number, e);
		if (err && err != -ENOSPC)
			return err;
		c->incomplete[kind] |= err != 0;
		c->time_ns = e->time_ns;
		err = c->part == 1 ? 0 : need_fields(c, desc, e->v);
		if (err)
			return err;
	}
	return c->emit(c->ctx, e);
}

int carried_event(struct carried_definitions *c, const struct event *e, carried_emit emit,
		  void *ctx)
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
	return err ? err : open_events_add(c->open, e);
}

/* --- parts ------------------------------------------------------------------------------------ */

void carried_cut(struct carried_definitions *c)
{
	c->part++;
}

/* What was open for long may name what has been forgotten since. */
static int emit_open(void *ctx, const struct event *e)
{
	const struct event_desc *desc = schema_event(e->id);
	struct carried_definitions *c = ctx;
	struct event known = {.id = e->id, .thread = e->thread, .time_ns = e->time_ns};
	int err = need_event(c, desc, e);

	if (err)
		return err;
	memcpy(known.v, e->v, desc->field_count * sizeof(*e->v));
	if (c->part > 1)
		clear_unknown(c, desc, &known);
	return c->emit(c->ctx, &known);
}

int carried_open(struct carried_definitions *c, carried_emit emit, void *ctx)
{
	c->emit = emit;
	c->ctx = ctx;
	return open_events_each(c->open, emit_open, c);
}
