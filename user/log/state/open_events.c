/*
 * An event is copied when it opens something, and forgotten when that is closed or its thread
 * ends: some tens of ns, as the copies are used again and have only the fields that the event
 * has. What can be open is bounded by the number of threads, CPUs and collections, but for three
 * things that are bounded here: how deep things nest (DEPTH_MAX as in analyze/spans/spans.c),
 * notes, of which the first NOTES_MAX are kept, and begins of which the end is lost, of which the
 * oldest go at OPEN_MAX.
 */
#include "log/state/open_events.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/tables/hash.h"
#include "base/tables/segments.h"
#include "base/tables/slots.h"
#include "log/format/schema.h"
#include "log/format/text.h"

#define DEPTH_MAX 64
#define NOTES_MAX 256
#define OPEN_MAX (64 * 1024) /* of some 350 bytes */

struct open_key {
	uint64_t what;
	uint64_t of[STATE_OF_MAX];
};
#define KEY_WORDS (1 + STATE_OF_MAX)
_Static_assert(sizeof(struct open_key) == KEY_WORDS * sizeof(uint64_t) && KEY_WORDS <= HASH_WORDS,
	       "keys are words");

struct entry {
	struct entry *outer; /* the one that it nests in; or the next free one */
	unsigned depth;
	struct event event; /* as far as it has fields: the last member */
};

/* What is open of one key. */
struct open {
	struct open_key key;
	uint32_t hash, index; /* of the key; of this one among all */
	struct entry *inner;  /* the innermost */
	TAILQ_ENTRY(open) order;
};

struct open_events {
	struct segments opens; /* by index; they do not move */
	struct slots slots;    /* by key, those in order */
	uint32_t open_count, slot_count;
	TAILQ_HEAD(open_list, open) order; /* in that of their innermost events */
	struct open_list free;
	struct entry *unused;
	struct text_set *texts;
	size_t count;
	unsigned notes;
};

struct open_events *open_events_new(void)
{
	struct open_events *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	TAILQ_INIT(&o->order);
	TAILQ_INIT(&o->free);
	return o;
}

static void list_free(struct entry *e)
{
	struct entry *outer;

	for (; e; e = outer) {
		outer = e->outer;
		free(e);
	}
}

void open_events_free(struct open_events *o)
{
	struct open *of;

	if (!o)
		return;
	TAILQ_FOREACH (of, &o->order, order)
		list_free(of->inner);
	segments_free(&o->opens);
	slots_free(&o->slots);
	list_free(o->unused);
	text_set_free(&o->texts);
	free(o);
}

static void drop(struct open_events *o, struct entry *e)
{
	e->outer = o->unused;
	o->unused = e;
	o->count--;
}

static struct entry *take(struct open_events *o)
{
	struct entry *e = o->unused;

	if (e)
		o->unused = e->outer;
	else
		e = malloc(sizeof(*e));
	if (e)
		o->count++;
	return e;
}

static void copy(struct event *to, const struct event *from, unsigned field_count)
{
	memcpy(to, from, offsetof(struct event, v) + field_count * sizeof(from->v[0]));
}

/* Text is as lent as the event is; what stays is the set's own. */
static int keep_texts(struct open_events *o, const struct event_desc *desc, struct event *e)
{
	for (unsigned i = 0; i < desc->field_count; i++) {
		const char *text = e->v[i].s;

		if (desc->fields[i].type != FIELD_STR)
			continue;
		e->v[i].s = text_set_add(&o->texts, text ? text : "", text ? strlen(text) : 0);
		if (!e->v[i].s)
			return -ENOMEM;
	}
	return 0;
}

static void key_of(const struct schema_state *s, const struct event *e, struct open_key *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->what = s->what;
	for (unsigned i = 0; i < s->of_count; i++)
		ret->of[i] = s->of[i] < 0 ? e->thread : e->v[s->of[i]].u;
}

static struct open *open_at(const struct open_events *o, uint32_t index)
{
	return segments_at(&o->opens, index, sizeof(struct open));
}

static uint32_t open_hash(const struct open_key *key)
{
	return hash_words((const uint64_t *)key, KEY_WORDS);
}

/* NULL: nothing is open of the key. */
static struct open *open_find(const struct open_events *o, const struct open_key *key,
			      uint32_t hash)
{
	struct slot *slot;

	if (!o->slot_count)
		return NULL;
	slot = slots_first(&o->slots, hash);
	while (slot->index && memcmp(&open_at(o, slot->index - 1)->key, key, sizeof(*key)) != 0)
		slot = slots_next(&o->slots, slot);
	return slot->index ? open_at(o, slot->index - 1) : NULL;
}

/* The last one, of a key of which nothing is open yet; NULL: no memory. */
static struct open *open_add(struct open_events *o, const struct open_key *key, uint32_t hash)
{
	struct open *of = TAILQ_FIRST(&o->free);
	struct slot *slot;

	if (slots_reserve(&o->slots, o->slot_count))
		return NULL;
	if (of) {
		TAILQ_REMOVE(&o->free, of, order);
	} else {
		if (segments_reserve(&o->opens, o->open_count, sizeof(*of)))
			return NULL;
		of = open_at(o, o->open_count);
		of->index = o->open_count++;
	}
	of->key = *key;
	of->hash = hash;
	slot = slots_first(&o->slots, hash);
	while (slot->index)
		slot = slots_next(&o->slots, slot);
	*slot = (struct slot){hash, of->index + 1};
	o->slot_count++;
	TAILQ_INSERT_TAIL(&o->order, of, order);
	return of;
}

static void open_remove(struct open_events *o, struct open *of)
{
	struct slot *slot = slots_first(&o->slots, of->hash);

	while (slot->index != of->index + 1)
		slot = slots_next(&o->slots, slot);
	slots_remove(&o->slots, slot);
	o->slot_count--;
	TAILQ_REMOVE(&o->order, of, order);
	TAILQ_INSERT_HEAD(&o->free, of, order);
}

static void forget(struct open_events *o, struct open *of)
{
	struct entry *outer;

	for (struct entry *e = of->inner; e; e = outer) {
		outer = e->outer;
		drop(o, e);
	}
	open_remove(o, of);
}

/* Another event is the innermost now. */
static void set_inner(struct open_events *o, struct open *of, struct entry *e)
{
	of->inner = e;
	TAILQ_REMOVE(&o->order, of, order);
	TAILQ_INSERT_TAIL(&o->order, of, order);
}

static int open_new(struct open_events *o, const struct event_desc *desc,
		    const struct open_key *key, uint32_t hash, const struct event *e)
{
	struct entry *new;
	struct open *of;

	if (o->count >= OPEN_MAX)
		forget(o, TAILQ_FIRST(&o->order));
	new = take(o);
	if (!new)
		return -ENOMEM;
	of = open_add(o, key, hash);
	if (!of) {
		drop(o, new);
		return -ENOMEM;
	}
	new->outer = NULL;
	new->depth = 1;
	copy(&new->event, e, desc->field_count);
	of->inner = new;
	return 0;
}

static int open_inner(struct open_events *o, const struct event_desc *desc, struct open *of,
		      const struct event *e)
{
	struct entry *outer = of->inner, *inner;

	if (outer->depth >= DEPTH_MAX) {
		outer->depth++; /* its end takes it back */
		return 0;
	}
	inner = take(o);
	if (!inner)
		return -ENOMEM;
	inner->depth = outer->depth + 1;
	inner->outer = outer;
	copy(&inner->event, e, desc->field_count);
	set_inner(o, of, inner);
	return 0;
}

static int on_open(struct open_events *o, const struct event_desc *desc,
		   const struct schema_state *s, const struct event *e)
{
	struct open_key key;
	struct open *of;
	uint32_t hash;

	key_of(s, e, &key);
	hash = open_hash(&key);
	of = open_find(o, &key, hash);
	if (!of)
		return open_new(o, desc, &key, hash, e);
	if (s->nests)
		return open_inner(o, desc, of, e);
	copy(&of->inner->event, e, desc->field_count);
	return 0;
}

static void on_close(struct open_events *o, const struct schema_state *s, const struct event *e)
{
	struct open_key key;
	struct entry *inner;
	struct open *of;

	key_of(s, e, &key);
	of = open_find(o, &key, open_hash(&key));
	if (!of)
		return;
	inner = of->inner;
	if (inner->depth > DEPTH_MAX) {
		inner->depth--;
	} else if (inner->outer) {
		set_inner(o, of, inner->outer);
		drop(o, inner);
	} else {
		forget(o, of);
	}
}

static int on_note(struct open_events *o, const struct event_desc *desc,
		   const struct schema_state *s, const struct event *e)
{
	struct event kept = *e;
	int err = keep_texts(o, desc, &kept);

	if (err)
		return err;
	return on_open(o, desc, s, &kept);
}

/* What is open that only its thread identifies. */
static void forget_thread(struct open_events *o, uint32_t thread)
{
	for (unsigned i = 0; i < schema_table_count; i++) {
		const struct schema_state *s = &schema_state[i];
		struct event of = {.thread = thread};
		struct open_key key;
		struct open *open;

		if (s->role == STATE_NONE || s->role == STATE_CLOSES || s->of_count != 1 ||
		    s->of[0] >= 0)
			continue;
		key_of(s, &of, &key);
		open = open_find(o, &key, open_hash(&key));
		if (open)
			forget(o, open);
	}
}

int open_events_add(struct open_events *o, const struct event *e)
{
	const struct event_desc *desc = schema_event(e->id);
	const struct schema_state *s;

	if (!desc)
		return 0;
	s = &schema_state[desc - schema_table];
	switch ((enum state_role)s->role) {
	case STATE_NONE:
		if (e->id == EVENT_THREAD_END)
			forget_thread(o, e->thread);
		return 0;
	case STATE_CLOSES:
		on_close(o, s, e);
		return 0;
	default:
		if (e->id != EVENT_NOTE)
			return on_open(o, desc, s, e);
		return o->notes++ < NOTES_MAX ? on_note(o, desc, s, e) : 0;
	}
}

static int each_outer_first(const struct entry *e, int (*on)(void *ctx, const struct event *e),
			    void *ctx)
{
	const struct entry *chain[DEPTH_MAX];
	unsigned depth = 0;
	int err = 0;

	for (; e && depth < DEPTH_MAX; e = e->outer)
		chain[depth++] = e;
	while (depth-- && !err)
		err = on(ctx, &chain[depth]->event);
	return err;
}

int open_events_each(const struct open_events *o, int (*on)(void *ctx, const struct event *e),
		     void *ctx)
{
	int err = 0;

	for (const struct open *of = TAILQ_FIRST(&o->order); of && !err; of = TAILQ_NEXT(of, order))
		err = each_outer_first(of->inner, on, ctx);
	return err;
}
