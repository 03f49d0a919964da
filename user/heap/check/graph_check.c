#include "heap/check/graph_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/keymap.h"

/* What a root of a dump may be in a log. */
enum root_group { GROUP_NONE, GROUP_HANDLE, GROUP_THREAD_OWN, GROUP_CLASS, GROUP_THREAD };

struct compare {
	const struct heap_state *log, *dump;
	struct graph_check *result;
	uint32_t *
		type_of; /* by type of the log: the dump's of the same name; HEAP_NONE: not known */
	int err;
};

const char *graph_check_name(enum graph_check_kind kind)
{
	static const char *const names[GRAPH_CHECK_KIND_COUNT] = {
		[GRAPH_ONLY_LOG] = "only_log",          [GRAPH_ONLY_DUMP] = "only_dump",
		[GRAPH_OTHER_CLASS] = "other_class",    [GRAPH_OTHER_REFS] = "other_references",
		[GRAPH_ROOT_MISSING] = "missing_roots",
	};

	return names[kind];
}

uint64_t graph_check_differences(const struct graph_check *c)
{
	uint64_t sum = 0;

	for (int i = 0; i < GRAPH_CHECK_KIND_COUNT; i++)
		sum += c->kinds[i];
	return sum;
}

static void count(struct compare *c, enum graph_check_kind kind, uint64_t address)
{
	if (!c->result->kinds[kind]++)
		c->result->example[kind] = address;
}

/* --- objects ------------------------------------------------------------------------------ */

static const struct heap_desc *desc_of(const struct heap_state *s, uint32_t object)
{
	return &s->descs[s->objects.desc[object]];
}

static bool same_type(struct compare *c, uint32_t log, uint32_t dump)
{
	if (c->type_of[log] == dump)
		return true;
	if (strcmp(heap_type_name(&c->log->types, log), heap_type_name(&c->dump->types, dump)) != 0)
		return false;
	c->type_of[log] = dump;
	return true;
}

static bool same_class(struct compare *c, const struct heap_desc *log, const struct heap_desc *dump)
{
	if (!same_type(c, log->type, dump->type) || log->length != dump->length)
		return false;
	if (log->of_class == HEAP_NONE || dump->of_class == HEAP_NONE)
		return log->of_class == dump->of_class;
	return same_type(c, log->of_class, dump->of_class);
}

static uint64_t address_of(const struct heap_state *s, uint32_t object)
{
	return object == HEAP_NONE ? 0 : s->objects.address[object];
}

/* Nulls count as references, too, but in arrays, where neither side has them. */
static bool same_refs(struct compare *c, uint32_t log, uint32_t dump)
{
	const struct heap_objects *l = &c->log->objects, *d = &c->dump->objects;
	uint32_t n = l->ref_at[log + 1] - l->ref_at[log];

	if (n != d->ref_at[dump + 1] - d->ref_at[dump])
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (address_of(c->log, l->refs[l->ref_at[log] + i]) !=
		    address_of(c->dump, d->refs[d->ref_at[dump] + i]))
			return false;
	return true;
}

static void compare_objects(struct compare *c)
{
	const struct heap_objects *l = &c->log->objects, *d = &c->dump->objects;

	c->result->objects = d->count;
	c->result->refs = d->ref_count;
	for (uint32_t i = 0; i < l->count; i++)
		if (heap_objects_find(d, l->address[i]) == HEAP_NONE)
			count(c, GRAPH_ONLY_LOG, l->address[i]);
	for (uint32_t i = 0; i < d->count; i++) {
		uint32_t at = heap_objects_find(l, d->address[i]);

		if (at == HEAP_NONE)
			count(c, GRAPH_ONLY_DUMP, d->address[i]);
		else if (!same_class(c, desc_of(c->log, at), desc_of(c->dump, i)))
			count(c, GRAPH_OTHER_CLASS, d->address[i]);
		else if (!same_refs(c, at, i))
			count(c, GRAPH_OTHER_REFS, d->address[i]);
	}
}

/* --- roots -------------------------------------------------------------------------------- */

static enum root_group group_of(unsigned kind)
{
	static const uint8_t groups[HEAP_ROOT_KIND_COUNT] = {
		[HEAP_ROOT_JNI_GLOBAL] = GROUP_HANDLE,
		[HEAP_ROOT_VM] = GROUP_HANDLE,
		[HEAP_ROOT_JNI_LOCAL] = GROUP_THREAD_OWN,
		[HEAP_ROOT_JAVA_FRAME] = GROUP_THREAD_OWN,
		[HEAP_ROOT_NATIVE_STACK] = GROUP_THREAD_OWN,
		[HEAP_ROOT_CODE] = GROUP_THREAD_OWN,
		[HEAP_ROOT_STICKY_CLASS] = GROUP_CLASS,
		[HEAP_ROOT_THREAD] = GROUP_THREAD,
	};

	return (enum root_group)groups[kind];
}

/* Of the thread of this number: its java.lang.Thread, as numbers differ. 0: none. */
static uint64_t thread_of(const struct keymap *threads, const uint64_t *objects, uint32_t number)
{
	uint32_t at = keymap_find(threads, (struct keymap_key){.a = number});

	return at == INDEX_NONE ? 0 : objects[at];
}

struct threads {
	struct keymap numbers;
	uint64_t *objects;
	uint32_t capacity;
};

static int threads_init(const struct heap_state *s, struct threads *ret)
{
	uint32_t at;
	int err = 0;

	for (uint32_t i = 0; !err && i < s->root_count; i++) {
		if (s->roots[i].kind != HEAP_ROOT_THREAD)
			continue;
		err = keymap_add_row(&ret->numbers, (struct keymap_key){.a = s->roots[i].thread},
				     &ret->objects, &ret->capacity, sizeof(*ret->objects), &at);
		if (!err)
			ret->objects[at] = s->roots[i].address;
	}
	return err;
}

static void threads_free(struct threads *t)
{
	keymap_free(&t->numbers);
	free(t->objects);
}

static struct keymap_key key_of(const struct heap_root *r, const struct threads *t, bool frame)
{
	return (struct keymap_key){
		.a = r->address,
		.b = group_of(r->kind),
		.c = r->thread ? thread_of(&t->numbers, t->objects, r->thread) : 0,
		.d = frame && r->frame != HEAP_NONE ? r->frame + 1ull : 0,
	};
}

/* All of the log, twice: wherever in its thread, and in its frame. */
static int add_log_roots(const struct heap_state *s, const struct threads *t, struct keymap *ret)
{
	uint32_t at;
	int err = 0;

	for (uint32_t i = 0; !err && i < s->root_count; i++) {
		err = keymap_add(ret, key_of(&s->roots[i], t, false), &at);
		if (!err)
			err = keymap_add(ret, key_of(&s->roots[i], t, true), &at);
	}
	return err;
}

static void find_dump_roots(struct compare *c, const struct threads *t, const struct keymap *log)
{
	for (uint32_t i = 0; i < c->dump->root_count; i++) {
		const struct heap_root *r = &c->dump->roots[i];
		bool is_frame = r->kind == HEAP_ROOT_JAVA_FRAME;

		c->result->frames += is_frame;
		if (keymap_find(log, key_of(r, t, false)) == INDEX_NONE)
			count(c, GRAPH_ROOT_MISSING, r->address);
		else if (is_frame && keymap_find(log, key_of(r, t, true)) == INDEX_NONE)
			c->result->other_frames++;
	}
}

static int count_more_roots(struct compare *c)
{
	struct keymap known = {0};
	uint32_t at;
	int err = 0;

	for (uint32_t i = 0; !err && i < c->dump->root_count; i++)
		err = keymap_add(&known, (struct keymap_key){.a = c->dump->roots[i].address}, &at);
	for (uint32_t i = 0; !err && i < c->log->root_count; i++) {
		const struct heap_root *r = &c->log->roots[i];

		c->result->log_roots[r->kind]++;
		if (keymap_find(&known, (struct keymap_key){.a = r->address}) == INDEX_NONE)
			c->result->more_roots[r->kind]++;
	}
	keymap_free(&known);
	return err;
}

static int compare_roots(struct compare *c)
{
	struct threads log = {0}, dump = {0};
	struct keymap roots = {0};
	int err = threads_init(c->log, &log);

	c->result->roots = c->dump->root_count;
	if (!err)
		err = threads_init(c->dump, &dump);
	if (!err)
		err = add_log_roots(c->log, &log, &roots);
	if (!err)
		find_dump_roots(c, &dump, &roots);
	if (!err)
		err = count_more_roots(c);
	threads_free(&log);
	threads_free(&dump);
	keymap_free(&roots);
	return err;
}

int graph_check(const struct heap_state *log, const struct heap_state *dump,
		struct graph_check *ret)
{
	struct compare c = {.log = log, .dump = dump, .result = ret};

	*ret = (struct graph_check){0};
	c.type_of = malloc((log->types.count + 1ull) * sizeof(*c.type_of));
	if (!c.type_of)
		return -ENOMEM;
	memset(c.type_of, 0xff, (log->types.count + 1ull) * sizeof(*c.type_of));
	compare_objects(&c);
	free(c.type_of);
	return compare_roots(&c);
}
