#include "heap/replay/replay_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "heap/replay/object_replay.h"
#include "heap/state/heap_state.h"
#include "jvm-hooks/objects.h"

#define NAME_BYTES 8192
#define ID_BYTES 8
/* Ids of texts and types that no class of a log has, as its numbers have 32 bits. */
#define TEXT_ID(n) (1ull << 40 | (n))
#define TYPE_UNKNOWN (1ull << 41)

struct maker {
	const struct object_replay *replay;
	const struct object_names *names;
	const struct replay_state_options *options;
	struct heap_state *state;
	struct keymap origin_keys; /* kind and age */
	uint32_t *types;           /* by class; HEAP_NONE: not asked for yet */
	uint32_t unknown;          /* the type of objects without a class; HEAP_NONE */
	uint64_t texts;
	struct heap_origin *kinds;    /* frame_count 0: not asked for yet */
	uint32_t spaces[SPACE_COUNT]; /* texts; HEAP_NONE: not asked for yet */
	uint32_t collections;
};

static int add_text(struct maker *m, const char *text, uint32_t *ret)
{
	uint64_t id = TEXT_ID(m->texts++);
	int err = heap_types_text_add(&m->state->types, id, text, (uint32_t)strlen(text));

	*ret = heap_types_text_find(&m->state->types, id);
	return err;
}

static int add_type(struct maker *m, uint64_t id, const char *name, uint32_t *ret)
{
	struct heap_types *t = &m->state->types;
	uint32_t text;
	int err = heap_types_add(t, id, ret);

	if (!err)
		err = add_text(m, name, &text);
	return err ? err : heap_types_name(t, *ret, text);
}

static int type_of(struct maker *m, uint32_t class, uint32_t *ret)
{
	uint32_t *type = class == INDEX_NONE ? &m->unknown : &m->types[class];
	int err = 0;

	if (*type == HEAP_NONE && class == INDEX_NONE)
		err = add_type(m, TYPE_UNKNOWN, "(unknown)", type);
	else if (*type == HEAP_NONE)
		err = add_type(m, 1 + (uint64_t) class, m->names->classes[class].name, type);
	*ret = *type;
	return err;
}

static const char *code_name(uint32_t tier)
{
	static const char *const names[] = {
		[SPOOR_TIER_VM] = "the JVM's runtime",
		[SPOOR_TIER_INTERPRETER] = "interpreter",
		[SPOOR_TIER_C1] = "C1",
		[SPOOR_TIER_C2] = "C2",
	};

	return tier < sizeof(names) / sizeof(*names) ? names[tier] : "(unknown)";
}

static int add_frame(struct maker *m, uint32_t site, uint32_t frame, struct heap_origin *o)
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
static int name_frames(struct maker *m, uint32_t site, struct heap_origin *o)
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

static int name_thread(struct maker *m, uint32_t thread, struct heap_origin *o)
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

static int name_kind(struct maker *m, uint32_t kind)
{
	const struct object_kind *k = &m->names->kinds[kind];
	struct heap_origin *o = &m->kinds[kind];
	char name[NAME_BYTES], *colon;
	int err = name_frames(m, k->site, o);

	object_frame_text(m->names, k->site, 0, name, sizeof(name));
	colon = strrchr(name, ':');
	if (colon)
		*colon = '\0';
	if (!err)
		err = add_text(m, name, &o->method);
	if (!err)
		err = add_text(m,
			       k->site == INDEX_NONE ? "(unknown)"
						     : code_name(m->names->sites[k->site].tier),
			       &o->code);
	return err ? err : name_thread(m, k->thread, o);
}

static int space_of(struct maker *m, const struct object_found *f, enum heap_space *ret)
{
	*ret = heap_space_of(&m->options->spaces, object_replay_base(m->replay), m->collections, f);
	return m->spaces[*ret] == HEAP_NONE ? add_text(m, heap_space_name(*ret), &m->spaces[*ret])
					    : 0;
}

static int origin_of(struct maker *m, const struct object_found *f, uint32_t *ret)
{
	struct keymap_key key = {.a = f->kind, .b = 1 + f->age};
	struct heap_state *s = m->state;
	uint32_t known = m->origin_keys.count, at;
	int err = m->kinds[f->kind].frame_count ? 0 : name_kind(m, f->kind);
	enum heap_space space = SPACE_UNKNOWN;

	if (!err)
		err = space_of(m, f, &space);
	key.c = space;
	if (!err)
		err = keymap_add_row(&m->origin_keys, key, &s->origins, &s->origin_capacity,
				     sizeof(*s->origins), &at);
	if (err)
		return err;
	if (at == known) {
		s->origins[at] = m->kinds[f->kind];
		s->origins[at].age = f->age;
		s->origins[at].space = m->spaces[space];
	}
	s->origin_count = m->origin_keys.count;
	*ret = 1 + at;
	return 0;
}

static int add_objects(struct maker *m, const struct object_replay *r)
{
	struct object_found f;
	uint64_t unit = 0;
	int err = 0;

	while (!err && object_replay_next(r, &unit, &f)) {
		struct heap_desc d = {.of_class = HEAP_NONE, .bytes = f.bytes};

		d.length = (uint32_t)f.length;
		err = type_of(m, f.class, &d.type);
		if (!err)
			err = origin_of(m, &f, &d.origin);
		if (!err)
			err = heap_state_described(m->state, f.address, d);
	}
	return err;
}

int replay_state_make(const struct object_replay *r, const struct replay_state_options *o,
		      struct heap_state *ret)
{
	struct maker m = {.replay = r,
			  .names = object_replay_names(r),
			  .options = o,
			  .state = ret,
			  .unknown = HEAP_NONE};
	uint32_t classes = m.names->class_map.count;
	int err = heap_state_init(ret, ID_BYTES, o->objects);

	if (err)
		return err;
	ret->is_log = true;
	m.collections = object_replay_ended(r);
	memset(m.spaces, 0xff, sizeof(m.spaces));
	m.types = malloc((classes + 1ul) * sizeof(*m.types));
	m.kinds = calloc(m.names->kind_count, sizeof(*m.kinds));
	if (m.types && m.kinds) {
		memset(m.types, 0xff, (classes + 1ul) * sizeof(*m.types));
		err = add_objects(&m, r);
	} else {
		err = -ENOMEM;
	}
	if (!err)
		err = heap_state_finish(ret);
	keymap_free(&m.origin_keys);
	free(m.types);
	free(m.kinds);
	return err;
}
