#include "heap/snapshot/replay_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/replay/object_replay.h"
#include "heap/snapshot/object_origins.h"
#include "heap/state/heap_state.h"

#define ID_BYTES 8
/* Ids of texts and types that no class of a log has, as its numbers have 32 bits. */
#define TEXT_ID(n) (1ull << 42 | (n))
#define TYPE_UNKNOWN (1ull << 41)
#define TYPE_OTHERS (TYPE_UNKNOWN + 1)

struct maker {
	const struct object_names *names;
	struct heap_state *state;
	struct object_origins *origins;
	uint32_t *types;  /* by class; HEAP_NONE: not asked for yet */
	uint32_t unknown; /* the type of objects without a class; HEAP_NONE */
	uint64_t texts;
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
			err = object_origins_of(m->origins, &f, &d.origin);
		if (!err)
			err = heap_state_described(m->state, f.address, d);
	}
	return err;
}

#define OTHERS "(others, of few bytes)"

static int add_kinds(struct maker *m, const struct object_replay *r)
{
	int err = 0;

	(void)r;
	for (uint32_t i = 0; i < m->names->kind_count && !err; i++) {
		const struct object_found f = {.kind = i, .class = m->names->kinds[i].class};
		struct heap_desc d = {.of_class = HEAP_NONE};

		err = i ? type_of(m, f.class, &d.type) : add_type(m, TYPE_OTHERS, OTHERS, &d.type);
		if (!err && i)
			err = object_origins_of(m->origins, &f, &d.origin);
		if (!err)
			err = heap_state_described(m->state, (i + 1ull) << 3, d);
	}
	return err;
}

static int make(const struct object_replay *r, const struct replay_state_options *o,
		int (*add)(struct maker *m, const struct object_replay *r), struct heap_state *ret)
{
	struct maker m = {.names = object_replay_names(r), .state = ret, .unknown = HEAP_NONE};
	uint32_t classes = m.names->class_map.count;
	int err = heap_state_init(ret, ID_BYTES, o->objects);

	if (err)
		return err;
	ret->is_log = true;
	m.types = malloc((classes + 1ul) * sizeof(*m.types));
	err = m.types ? object_origins_new(r, o, ret, &m.origins) : -ENOMEM;
	if (!err) {
		memset(m.types, 0xff, (classes + 1ul) * sizeof(*m.types));
		err = add(&m, r);
	}
	if (!err)
		err = heap_state_finish(ret);
	object_origins_free(m.origins);
	free(m.types);
	return err;
}

int replay_state_make(const struct object_replay *r, const struct replay_state_options *o,
		      struct heap_state *ret)
{
	return make(r, o, add_objects, ret);
}

int replay_state_kinds(const struct object_replay *r, const struct replay_state_options *o,
		       struct heap_state *ret)
{
	struct replay_state_options each = *o;

	each.objects = true;
	return make(r, &each, add_kinds, ret);
}
