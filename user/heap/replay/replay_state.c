#include "heap/replay/replay_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/replay/object_replay.h"
#include "heap/state/heap_state.h"
#include "jvm-hooks/objects.h"

#define NAME_BYTES 8192
#define ID_BYTES 8
/* Ids of texts and types that no class of a log has, as its numbers have 32 bits. */
#define TEXT_ID(n) (1ull << 40 | (n))
#define TYPE_UNKNOWN (1ull << 41)

struct maker {
	const struct object_names *names;
	struct heap_state *state;
	struct keymap origin_keys; /* kind and age */
	uint32_t *types;           /* by class; HEAP_NONE: not asked for yet */
	uint32_t unknown;          /* the type of objects without a class; HEAP_NONE */
	uint64_t texts;
	struct {
		uint32_t site, method, code;
		bool known;
	} * kinds;
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

static int name_kind(struct maker *m, uint32_t kind)
{
	uint32_t site = m->names->kinds[kind].site;
	char name[NAME_BYTES], *colon;
	int err;

	object_frame_text(m->names, site, 0, name, sizeof(name));
	err = add_text(m, name, &m->kinds[kind].site);
	colon = strrchr(name, ':');
	if (colon)
		*colon = '\0';
	if (!err)
		err = add_text(m, name, &m->kinds[kind].method);
	if (!err)
		err = add_text(
			m, site == INDEX_NONE ? "(unknown)" : code_name(m->names->sites[site].tier),
			&m->kinds[kind].code);
	m->kinds[kind].known = !err;
	return err;
}

static int origin_of(struct maker *m, const struct object_found *f, uint32_t *ret)
{
	struct keymap_key key = {.a = f->kind, .b = 1 + f->age};
	struct heap_state *s = m->state;
	uint32_t known = m->origin_keys.count, at;
	int err = m->kinds[f->kind].known ? 0 : name_kind(m, f->kind);

	if (!err)
		err = keymap_add_row(&m->origin_keys, key, &s->origins, &s->origin_capacity,
				     sizeof(*s->origins), &at);
	if (err)
		return err;
	if (at == known)
		s->origins[at] =
			(struct heap_origin){m->kinds[f->kind].site, m->kinds[f->kind].method,
					     m->kinds[f->kind].code, f->age};
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

int replay_state_make(const struct object_replay *r, bool objects, struct heap_state *ret)
{
	struct maker m = {.names = object_replay_names(r), .state = ret, .unknown = HEAP_NONE};
	uint32_t classes = m.names->class_map.count;
	int err = heap_state_init(ret, ID_BYTES, objects);

	if (err)
		return err;
	ret->is_log = true;
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
