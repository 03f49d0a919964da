#include "heap/snapshot/object_origins.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "base/tables/keymap.h"
#include "heap/replay/object_replay.h"
#include "heap/state/heap_state.h"

#define NAME_BYTES 8192
_Static_assert(sizeof(OBJECT_FRAME_INFERRED) == sizeof(HEAP_FRAME_INFERRED),
	       "both rooms have the same mark");
/* Ids of texts that no class of a log has, as its numbers have 32 bits. */
#define TEXT_ID(n) (1ull << 40 | (n))

struct object_origins {
	const struct object_replay *replay;
	const struct object_names *names;
	const struct replay_state_options *options;
	struct heap_state *state;
	struct keymap keys; /* kind, age and space */
	uint64_t texts;
	struct heap_origin *kinds;    /* frame_count 0: not asked for yet */
	uint32_t spaces[SPACE_COUNT]; /* texts; HEAP_NONE: not asked for yet */
	uint32_t collections;
};

static int add_text(struct object_origins *m, const char *text, uint32_t *ret)
{
	uint64_t id = TEXT_ID(m->texts++);
	int err = heap_types_text_add(&m->state->types, id, text, (uint32_t)strlen(text));

	*ret = heap_types_text_find(&m->state->types, id);
	return err;
}

static int add_frame(struct object_origins *m, uint32_t site, uint32_t frame, struct heap_origin *o)
{
	struct heap_state *s = m->state;
	char name[NAME_BYTES];
	int err = array_grow(&s->frames, &s->frame_capacity, s->frame_count, sizeof(*s->frames));

	if (err)
		return err;
	object_frame_text(m->names, site, frame, name, sizeof(name));
	err = add_text(m, name, &s->frames[s->frame_count++]);
	o->frame_count++;
	return err;
}

/* All frames that the site knows, of which there is one at least. */
static int name_frames(struct object_origins *m, uint32_t site, struct heap_origin *o)
{
	uint32_t count = site == INDEX_NONE ? 0 : m->names->sites[site].frame_count;
	int err = 0;

	o->first_frame = m->state->frame_count;
	do
		err = add_frame(m, site, o->frame_count, o);
	while (!err && o->frame_count < count);
	if (!err)
		o->site = m->state->frames[o->first_frame];
	return err;
}

static int name_thread(struct object_origins *m, uint32_t thread, struct heap_origin *o)
{
	const struct object_thread *t;
	const char *name = NULL;
	char number[32];

	o->thread = HEAP_NONE;
	if (thread == INDEX_NONE)
		return 0;
	t = object_replay_thread(m->replay, thread);
	if (t->java_tid && m->options->thread_name)
		name = m->options->thread_name(m->options->ctx, t->java_tid);
	snprintf(number, sizeof(number), "(thread %" PRIu32 ")", t->tid);
	return add_text(m, name ? name : t->java_tid ? number : "(the JVM's own)", &o->thread);
}

static int name_kind(struct object_origins *m, uint32_t kind)
{
	const struct object_kind *k = &m->names->kinds[kind];
	struct heap_origin *o = &m->kinds[kind];
	char name[NAME_BYTES];
	int err = name_frames(m, k->site, o);

	if (!err)
		err = add_text(m, object_method_text(m->names, k->site, 0, name, sizeof(name)),
			       &o->method);
	if (!err)
		err = add_text(m, object_code_text(m->names, k->site), &o->code);
	return err ? err : name_thread(m, k->thread, o);
}

static int space_of(struct object_origins *m, const struct object_found *f, enum heap_space *ret)
{
	*ret = heap_space_of(&m->options->spaces, object_replay_base(m->replay), m->collections, f);
	return m->spaces[*ret] == HEAP_NONE ? add_text(m, heap_space_name(*ret), &m->spaces[*ret])
					    : 0;
}

int object_origins_of(struct object_origins *m, const struct object_found *f, uint32_t *ret)
{
	struct keymap_key key = {.a = f->kind, .b = 1 + f->age};
	struct heap_state *s = m->state;
	uint32_t known = m->keys.count, at;
	int err = m->kinds[f->kind].frame_count ? 0 : name_kind(m, f->kind);
	enum heap_space space = SPACE_UNKNOWN;

	if (!err)
		err = space_of(m, f, &space);
	key.c = space;
	if (!err)
		err = keymap_add_row(&m->keys, key, &s->origins, &s->origin_capacity,
				     sizeof(*s->origins), &at);
	if (err)
		return err;
	if (at == known) {
		s->origins[at] = m->kinds[f->kind];
		s->origins[at].age = f->age;
		s->origins[at].space = m->spaces[space];
	}
	s->origin_count = m->keys.count;
	*ret = 1 + at;
	return 0;
}

int object_origins_at(struct object_origins *m, uint64_t address, uint64_t bytes, uint32_t *ret)
{
	struct object_found f;
	uint64_t unit = (address - object_replay_base(m->replay)) >>
			object_replay_sums(m->replay)->heap_shift;

	*ret = 0;
	if (!object_replay_next(m->replay, &unit, &f) || f.address != address || f.bytes != bytes)
		return 0;
	return object_origins_of(m, &f, ret);
}

int object_origins_new(const struct object_replay *r, const struct replay_state_options *o,
		       struct heap_state *state, struct object_origins **ret)
{
	struct object_origins *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->replay = r;
	m->names = object_replay_names(r);
	m->options = o;
	m->state = state;
	m->collections = object_replay_ended(r);
	memset(m->spaces, 0xff, sizeof(m->spaces));
	m->kinds = calloc(m->names->kind_count, sizeof(*m->kinds));
	if (!m->kinds) {
		object_origins_free(m);
		return -ENOMEM;
	}
	*ret = m;
	return 0;
}

void object_origins_free(struct object_origins *m)
{
	if (!m)
		return;
	keymap_free(&m->keys);
	free(m->kinds);
	free(m);
}
