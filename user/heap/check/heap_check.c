/*
 * Both heaps are walked by address, side by side. Classes are the same if their names are: a log
 * and a dump have no other name of a class in common.
 */
#include "heap/check/heap_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/replay/object_replay.h"
#include "base/tables/array.h"
#include "heap/state/heap_state.h"

#define NAME_MAX_BYTES 8192

struct walk {
	const struct object_replay *log;
	const struct object_names *names;
	const struct heap_state *dump;
	struct heap_check *result;
	uint32_t *type_of; /* by class of the log: the type that had the same name; HEAP_NONE */
	uint8_t *referred; /* bits, by ordinal: something refers to the object */
	bool g1, g1_full; /* g1_full: the log's moment is the end of such a collection */
	bool *is_filler;   /* by type */
	int err;
};

static void refer(struct walk *w, uint32_t object)
{
	if (object < w->dump->objects.count)
		w->referred[object / 8] |= (uint8_t)(1u << object % 8);
}

static int walk_init(struct walk *w)
{
	const struct heap_objects *o = &w->dump->objects;
	const struct heap_types *t = &w->dump->types;
	uint32_t classes = w->names->class_map.count;

	w->type_of = malloc((classes + 1ull) * sizeof(*w->type_of));
	w->referred = calloc(1, o->count / 8 + 1);
	w->is_filler = calloc(t->count + 1ull, sizeof(bool));
	if (!w->type_of || !w->referred || !w->is_filler)
		return -ENOMEM;
	memset(w->type_of, 0xff, (classes + 1ull) * sizeof(*w->type_of));
	for (uint32_t i = 0; i < t->count; i++) {
		const char *name = heap_type_name(t, i);

		w->is_filler[i] = !strcmp(name, "int[]") || !strcmp(name, "java.lang.Object");
	}
	for (uint32_t i = 0; i < o->ref_count; i++)
		refer(w, o->refs[i]);
	for (uint32_t i = 0; i < w->dump->root_count; i++)
		refer(w, w->dump->roots[i].object);
	return 0;
}

static bool same_class(struct walk *w, uint32_t class, uint32_t type)
{
	char name[NAME_MAX_BYTES], *hidden; /* a.B$$Lambda$4+0x..., and with / in a dump */

	if (class == INDEX_NONE || type == HEAP_NONE)
		return false;
	if (w->type_of[class] == type)
		return true;
	object_class_text(w->names, class, name, sizeof(name));
	hidden = strstr(name, "+0x");
	if (hidden)
		*hidden = '/';
	if (strcmp(name, heap_type_name(&w->dump->types, type)) != 0)
		return false;
	w->type_of[class] = type;
	return true;
}

static void count(struct walk *w, enum heap_check_kind kind, struct heap_check_example example)
{
	struct heap_check *c = w->result;

	c->kinds[kind]++;
	if (kind >= CHECK_DIFFERENCES || c->example_count == CHECK_EXAMPLES_MAX || w->err)
		return;
	w->err = array_grow(&c->examples, &c->example_capacity, c->example_count,
			    sizeof(*c->examples));
	if (w->err)
		return;
	example.kind = kind;
	c->examples[c->example_count++] = example;
}

static bool is_mirror(const struct walk *w, uint32_t class)
{
	char name[NAME_MAX_BYTES];

	if (class == INDEX_NONE)
		return false;
	return !strcmp(object_class_text(w->names, class, name, sizeof(name)), "java.lang.Class");
}

static bool is_dead_of_an_archive(const struct walk *w, const struct object_found *f)
{
	bool was_there = object_names_was_found(w->names, f->kind) ||
			 w->names->kinds[f->kind].part == OBJECT_PART_CARRIED;

	return w->g1_full && !f->age && was_there && object_replay_left_out(w->log, f->address);
}

static void only_log(struct walk *w, const struct object_found *f)
{
	struct heap_check_example e = {.address = f->address,
				       .class = f->class,
				       .type = HEAP_NONE,
				       .log_length = f->length};

	if (is_mirror(w, f->class))
		count(w, CHECK_CLASS_OBJECT, e);
	else
		count(w, is_dead_of_an_archive(w, f) ? CHECK_ARCHIVED_DEAD : CHECK_ONLY_LOG, e);
}

static void only_dump(struct walk *w, uint32_t object)
{
	const struct heap_desc *d = &w->dump->descs[w->dump->objects.desc[object]];
	struct heap_check_example e = {.address = w->dump->objects.address[object],
				       .class = INDEX_NONE,
				       .type = d->type,
				       .dump_length = d->length};
	bool referred = w->referred[object / 8] >> object % 8 & 1;

	if (w->g1 && !object_replay_ever(w->log, e.address))
		count(w, CHECK_ARCHIVED, e);
	else if (d->type < w->dump->types.count && w->is_filler[d->type] && !referred)
		count(w, CHECK_FILLER, e);
	else
		count(w, CHECK_ONLY_DUMP, e);
}

static void both(struct walk *w, const struct object_found *f, uint32_t object)
{
	const struct heap_desc *d = &w->dump->descs[w->dump->objects.desc[object]];
	struct heap_check_example e = {.address = f->address,
				       .class = f->class,
				       .type = d->type,
				       .log_length = f->length,
				       .dump_length = d->length};

	if (!same_class(w, f->class, d->type)) {
		count(w, CHECK_OTHER_CLASS, e);
	} else if (object_names_is_array(w->names, f->class) && f->length != d->length) {
		count(w, CHECK_OTHER_LENGTH, e);
	} else {
		w->result->equal++;
		w->result->other_size += f->bytes != d->bytes;
	}
}

static void walk(struct walk *w)
{
	const struct heap_objects *o = &w->dump->objects;
	struct object_found f;
	uint64_t unit = 0;
	bool more = object_replay_next(w->log, &unit, &f);

	w->result->dump_objects = o->count;
	for (uint32_t i = 0; more || i < o->count;) {
		uint32_t object = i < o->count && o->order ? o->order[i] : i;
		bool in_dump = i < o->count;

		if (more && (!in_dump || f.address < o->address[object])) {
			only_log(w, &f);
		} else if (!more || f.address > o->address[object]) {
			only_dump(w, object);
			i++;
			continue;
		} else {
			both(w, &f, object);
			i++;
		}
		w->result->log_objects++;
		more = object_replay_next(w->log, &unit, &f);
	}
}

static bool is_full_of_g1(const struct object_replay *log)
{
	uint32_t count;
	const struct object_collection *c = object_replay_collections(log, &count);

	return count && object_replay_ended(log) == count &&
	       !strcmp(c[count - 1].collector, "G1Full");
}

int heap_check(const struct object_replay *log, const struct heap_state *dump, bool g1,
	       struct heap_check *ret)
{
	struct walk w = {.log = log,
			 .names = object_replay_names(log),
			 .dump = dump,
			 .result = ret,
			 .g1 = g1,
			 .g1_full = is_full_of_g1(log)};

	*ret = (struct heap_check){0};
	w.err = walk_init(&w);
	if (!w.err)
		walk(&w);
	free(w.type_of);
	free(w.referred);
	free(w.is_filler);
	return w.err;
}

void heap_check_free(struct heap_check *c)
{
	free(c->examples);
	*c = (struct heap_check){0};
}

uint64_t heap_check_differences(const struct heap_check *c)
{
	uint64_t sum = 0;

	for (int i = 0; i < CHECK_DIFFERENCES; i++)
		sum += c->kinds[i];
	return sum;
}
