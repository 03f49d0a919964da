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

#define HASH_FUNCTION(key, length, hash) ((hash) = hash_words((const void *)(key), KEY_WORDS))
#include "base/tables/hash_table.h"
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
	UT_hash_handle hh;
	struct open_key key;
	struct entry *outer; /* the one that it nests in; or the next free one */
	unsigned depth;
	struct event event; /* as far as it has fields: the last member */
};

struct open_events {
	struct entry *all; /* by key, the innermost of each; in the order in which they came */
	struct entry *unused;
	struct text_set *texts;
	size_t count;
	unsigned notes;
};

struct open_events *open_events_new(void)
{
	return calloc(1, sizeof(struct open_events));
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
	struct entry *e, *next;

	if (!o)
		return;
	HASH_ITER (hh, o->all, e, next) {
		HASH_DEL(o->all, e);
		list_free(e);
	}
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

static struct entry *find(const struct open_events *o, const struct open_key *key)
{
	struct entry *e;

	HASH_FIND(hh, o->all, key, sizeof(*key), e);
	return e;
}

static void drop_all(struct open_events *o, struct entry *e)
{
	struct entry *outer;

	for (; e; e = outer) {
		outer = e->outer;
		drop(o, e);
	}
}

static void forget(struct open_events *o, struct entry *e)
{
	HASH_DEL(o->all, e);
	drop_all(o, e);
}

/* With those that it nests in. */
static int insert(struct open_events *o, struct entry *e)
{
	HASH_ADD(hh, o->all, key, sizeof(e->key), e);
	if (e->hh.tbl)
		return 0;
	drop_all(o, e);
	return -ENOMEM;
}

static int open_new(struct open_events *o, const struct event_desc *desc,
		    const struct open_key *key, const struct event *e)
{
	struct entry *new;

	if (o->count >= OPEN_MAX)
		forget(o, o->all);
	new = take(o);
	if (!new)
		return -ENOMEM;
	new->key = *key;
	new->outer = NULL;
	new->depth = 1;
	copy(&new->event, e, desc->field_count);
	return insert(o, new);
}

static int open_inner(struct open_events *o, const struct event_desc *desc, struct entry *outer,
		      const struct event *e)
{
	struct entry *inner;

	if (outer->depth >= DEPTH_MAX) {
		outer->depth++; /* its end takes it back */
		return 0;
	}
	inner = take(o);
	if (!inner)
		return -ENOMEM;
	inner->key = outer->key;
	inner->depth = outer->depth + 1;
	inner->outer = outer;
	copy(&inner->event, e, desc->field_count);
	HASH_DEL(o->all, outer);
	return insert(o, inner);
}

static int on_open(struct open_events *o, const struct event_desc *desc,
		   const struct schema_state *s, const struct event *e)
{
	struct open_key key;
	struct entry *old;

	key_of(s, e, &key);
	old = find(o, &key);
	if (!old)
		return open_new(o, desc, &key, e);
	if (s->nests)
		return open_inner(o, desc, old, e);
	copy(&old->event, e, desc->field_count);
	return 0;
}

static int on_close(struct open_events *o, const struct schema_state *s, const struct event *e)
{
	struct entry *inner, *outer;
	struct open_key key;

	key_of(s, e, &key);
	inner = find(o, &key);
	if (!inner)
		return 0;
	if (inner->depth > DEPTH_MAX) {
		inner->depth--;
		return 0;
	}
	outer = inner->outer;
	HASH_DEL(o->all, inner);
	drop(o, inner);
	return outer ? insert(o, outer) : 0;
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
		struct entry *e;

		if (s->role == STATE_NONE || s->role == STATE_CLOSES || s->of_count != 1 ||
		    s->of[0] >= 0)
			continue;
		key_of(s, &of, &key);
		e = find(o, &key);
		if (e)
			forget(o, e);
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
		return on_close(o, s, e);
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

	for (const struct entry *e = o->all; e && !err; e = e->hh.next)
		err = each_outer_first(e, on, ctx);
	return err;
}
