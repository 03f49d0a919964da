/* Kinds of objects, put together by what is asked for, as a table. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/strbuf.h"
#include "report/model/findings.h"
#include "report/model/label.h"
#include "report/model/sections/commands/objects_filter.h"
#include "report/model/sections/commands/objects_report.h"

#define NAME_MAX_BYTES 1024
#define CHAIN_MAX_BYTES 4096

struct tallied {
	uint32_t kind; /* one of it */
	struct object_tally of;
};

struct tallies {
	struct keymap map, chains;
	struct tallied *rows;
	uint32_t capacity;
};

static void tally_add(struct object_tally *to, const struct object_tally *from)
{
	to->count += from->count;
	to->bytes += from->bytes;
	to->survived += from->survived;
	to->survived_bytes += from->survived_bytes;
}

/* A number for the whole chain of a site. 0 or -ENOMEM. */
static int chain_number(struct tallies *g, const struct object_names *n,
			const struct object_site *s, uint32_t *ret)
{
	uint32_t number = 0;
	int err = 0;

	for (uint32_t i = 0; i < s->frame_count && !err; i++) {
		const struct object_frame *f = &n->frames[s->first_frame + i];

		err = keymap_add(
			&g->chains,
			(struct keymap_key){.a = number, .b = 1 + (uint64_t)f->method, .c = f->bci},
			&number);
		number++;
	}
	*ret = number;
	return err;
}

static bool is_by_part(const struct objects_input *in)
{
	return in->by == OBJECTS_BY_TLAB || in->by == OBJECTS_BY_LENGTH ||
	       in->by == OBJECTS_BY_SPAN;
}

static int key_of(struct tallies *g, const struct objects_input *in, const struct object_kind *k,
		  struct keymap_key *ret)
{
	const struct object_names *n = object_replay_names(in->replay);
	const struct object_site *s = k->site == INDEX_NONE ? NULL : &n->sites[k->site];
	const struct object_frame *f = s && s->frame_count ? &n->frames[s->first_frame] : NULL;
	uint32_t number = 0;
	int err = in->by == OBJECTS_BY_CHAIN && s ? chain_number(g, n, s, &number) : 0;

	*ret = (struct keymap_key){.b = 1};
	if (in->by <= OBJECTS_BY_CHAIN)
		ret->a = 1 + (uint64_t)k->class;
	if (in->by == OBJECTS_BY_CHAIN)
		ret->c = 1 + (uint64_t)number;
	if (in->by == OBJECTS_BY_SITE || in->by == OBJECTS_BY_METHOD) {
		ret->c = f ? 1 + (uint64_t)f->method : 0;
		ret->d = f && in->by == OBJECTS_BY_SITE ? f->bci : 0;
		ret->e = s != NULL;
	}
	if (in->by == OBJECTS_BY_TIER)
		ret->c = s ? 1 + (uint64_t)s->tier : 0;
	if (is_by_part(in))
		ret->c = k->part;
	return err;
}

static int tallies_make(struct tallies *g, const struct objects_input *in)
{
	const struct object_names *n = object_replay_names(in->replay);
	struct keymap_key key;
	uint32_t at;
	int err = 0;

	for (uint32_t i = 1; i < n->kind_count && !err; i++) {
		if (!n->kinds[i].of.count)
			continue;
		err = key_of(g, in, &n->kinds[i], &key);
		if (!err)
			err = keymap_add_row(&g->map, key, &g->rows, &g->capacity, sizeof(*g->rows),
					     &at);
		if (err)
			break;
		g->rows[at].kind = i;
		tally_add(&g->rows[at].of, &n->kinds[i].of);
	}
	return err;
}

static void tallies_free(struct tallies *g)
{
	keymap_free(&g->map);
	keymap_free(&g->chains);
	free(g->rows);
}

bool objects_has_survivors(const struct objects_input *in)
{
	const struct object_sums *s = object_replay_sums(in->replay);
	uint32_t count;

	object_replay_collections(in->replay, &count);
	return !s->heap_given_up && count;
}

/* All frames, the innermost first. */
static char *chain_text(const struct object_names *n, uint32_t site, char *buf)
{
	uint32_t count = site == INDEX_NONE ? 0 : n->sites[site].frame_count;
	char frame[NAME_MAX_BYTES];

	object_frame_text(n, site, 0, buf, CHAIN_MAX_BYTES);
	for (uint32_t i = 1; i < count; i++)
		buffer_add(buf, CHAIN_MAX_BYTES, " < %s",
			   object_frame_text(n, site, i, frame, sizeof(frame)));
	return buf;
}

static void text(struct findings *f, const char *text)
{
	char clean[LABEL_MAX];

	findings_text(f, text, label_clean(text, clean));
}

static void name_columns(struct findings *f, const struct objects_input *in,
			 const struct object_kind *k)
{
	const struct object_names *n = object_replay_names(in->replay);
	char name[CHAIN_MAX_BYTES];

	if (in->by == OBJECTS_BY_TIER || in->by == OBJECTS_BY_METHOD) {
		text(f, in->by == OBJECTS_BY_TIER
				? object_code_text(n, k->site)
				: object_method_text(n, k->site, 0, name, sizeof(name)));
		return;
	}
	if (is_by_part(in)) {
		text(f, objects_part_text(in->filter, k->part, name, sizeof(name)));
		return;
	}
	text(f, object_class_text(n, k->class, name, sizeof(name)));
	if (in->by == OBJECTS_BY_SITE)
		text(f, object_frame_text(n, k->site, 0, name, sizeof(name)));
	if (in->by == OBJECTS_BY_CHAIN)
		text(f, chain_text(n, k->site, name));
}

#define TALLY_COLUMNS                                                                              \
	{.key = "bytes", .title = "bytes", .unit = FINDINGS_BYTES},                                \
		{.title = "share", .unit = FINDINGS_BYTES, .show = FINDINGS_SHARE, .of = -1},      \
		{.key = "objects", .title = "objects", .unit = FINDINGS_COUNT},                    \
		{.key = "survived_bytes",                                                          \
		 .title = "survived",                                                              \
		 .unit = FINDINGS_BYTES,                                                           \
		 .flags = FINDINGS_IF_ANY | FINDINGS_NO_ZERO,                                      \
		 .meaning = "found alive by a collection, once for each object"},                  \
	{                                                                                          \
		.key = "survived", .title = "objects", .unit = FINDINGS_COUNT,                     \
		.flags = FINDINGS_IF_ANY | FINDINGS_NO_ZERO                                        \
	}

static const struct findings_column one_name[] = {
	TALLY_COLUMNS,
	{.key = "name", .title = "name", .unit = FINDINGS_TEXT, .flags = FINDINGS_TAIL},
};

static const struct findings_column two_names[] = {
	TALLY_COLUMNS,
	{.key = "name", .title = "class", .unit = FINDINGS_TEXT, .flags = FINDINGS_TAIL},
	{.key = "site", .title = "allocated at (method:bytecode)", .unit = FINDINGS_TEXT},
};

static void tally_cells(struct findings *f, const struct objects_input *in,
			const struct object_tally *t)
{
	bool known = objects_has_survivors(in);

	FINDINGS_NUMBERS(f, t->bytes, t->count);
	findings_maybe(f, known, t->survived_bytes);
	findings_maybe(f, known, t->survived);
}

static struct findings *kinds(const struct objects_input *in)
{
	bool two = in->by == OBJECTS_BY_SITE || in->by == OBJECTS_BY_CHAIN;
	const struct object_names *n = object_replay_names(in->replay);
	struct tallies g = {0};
	struct findings *f = NULL;

	if (!tallies_make(&g, in))
		f = two ? FINDINGS_NEW(two_names) : FINDINGS_NEW(one_name);
	for (uint32_t i = 0; i < g.map.count && f; i++) {
		findings_row(f, FINDINGS_ALL);
		tally_cells(f, in, &g.rows[i].of);
		name_columns(f, in, &n->kinds[g.rows[i].kind]);
	}
	tallies_free(&g);
	return f;
}

/* What spans of a name have allocated, without spans within them. */
static struct findings *spans(const struct objects_input *in)
{
	static const struct findings_column columns[] = {
		TALLY_COLUMNS,
		{.key = "spans",
		 .title = "spans",
		 .unit = FINDINGS_COUNT,
		 .flags = FINDINGS_NO_ZERO,
		 .meaning = "that have begun in all of the recording"},
		{.key = "name", .title = "name", .unit = FINDINGS_TEXT, .flags = FINDINGS_TAIL},
	};
	struct tallies g = {0};
	struct findings *f = tallies_make(&g, in) ? NULL : FINDINGS_NEW(columns);
	char name[NAME_MAX_BYTES];

	for (uint32_t i = 0; i < g.map.count && f; i++) {
		uint32_t span = object_replay_names(in->replay)->kinds[g.rows[i].kind].part;

		findings_row(f, FINDINGS_ALL);
		tally_cells(f, in, &g.rows[i].of);
		findings_number(f, objects_filter_spans(in->filter, span));
		text(f, objects_part_text(in->filter, span, name, sizeof(name)));
	}
	tallies_free(&g);
	return f;
}

/* --- threads ------------------------------------------------------------------------------ */

static struct findings *threads(const struct objects_input *in)
{
	static const struct findings_column columns[] = {
		{.key = "bytes", .title = "bytes", .unit = FINDINGS_BYTES},
		{.title = "share", .unit = FINDINGS_BYTES, .show = FINDINGS_SHARE, .of = -1},
		{.key = "objects", .title = "objects", .unit = FINDINGS_COUNT},
		{.key = "vm_bytes",
		 .unit = FINDINGS_BYTES,
		 .meaning = "what the JVM has counted itself, if the thread has ended"},
		{.key = "java_tid", .title = "thread", .unit = FINDINGS_NUMBER},
		{.key = "tid", .unit = FINDINGS_NUMBER},
		{.key = "incomplete", .unit = FINDINGS_BOOL},
		{.key = "name", .title = "name", .unit = FINDINGS_TEXT},
	};
	struct findings *f = FINDINGS_NEW(columns);

	for (uint32_t i = 0; i < object_replay_thread_count(in->replay); i++) {
		const struct object_thread *t = object_replay_thread(in->replay, i);

		if (!t->count)
			continue;
		findings_row(f, FINDINGS_ALL);
		FINDINGS_NUMBERS(f, t->bytes, t->count);
		findings_maybe(f, t->has_vm_bytes, t->vm_bytes);
		FINDINGS_NUMBERS(f, (uint64_t)t->java_tid, t->tid, t->gap);
		text(f, objects_thread_name(in->names, t->java_tid));
	}
	return f;
}

/* --- collections -------------------------------------------------------------------------- */

static struct findings *collections(const struct objects_input *in)
{
	static const struct findings_column columns[] = {
		{.key = "gc_id", .title = "GC", .unit = FINDINGS_NUMBER},
		{.key = "begin_ns", .unit = FINDINGS_NS},
		{.key = "pause_ns", .title = "took", .unit = FINDINGS_NS},
		{.key = "survived_bytes",
		 .title = "survived",
		 .unit = FINDINGS_BYTES,
		 .meaning = "moved, or found alive where they stayed, in what it has collected"},
		{.key = "survived", .title = "objects", .unit = FINDINGS_COUNT},
		{.key = "first_survived_bytes", .title = "first time", .unit = FINDINGS_BYTES},
		{.key = "first_survived", .title = "objects", .unit = FINDINGS_COUNT},
		{.key = "before_bytes",
		 .unit = FINDINGS_BYTES,
		 .meaning = "all objects in the heap before, alive or not"},
		{.key = "after_bytes",
		 .title = "heap after",
		 .unit = FINDINGS_BYTES,
		 .meaning = "all objects in the heap after, with those that it has not collected"},
		{.key = "all", .unit = FINDINGS_BOOL},
		{.key = "incomplete",
		 .unit = FINDINGS_BOOL,
		 .meaning = "events were lost: from here on objects may be missing"},
		{.key = "collector", .title = "collector", .unit = FINDINGS_TEXT},
		{.key = "cause", .title = "cause", .unit = FINDINGS_TEXT},
	};
	bool known = objects_has_survivors(in);
	struct findings *f = FINDINGS_NEW(columns);
	const struct object_collection *c;
	uint32_t count;

	c = object_replay_collections(in->replay, &count);
	for (uint32_t i = 0; i < count; i++, c++) {
		bool survivors = known && !c->untraced;

		if (!objects_filter_has(in->filter, c))
			continue;
		findings_row(f, FINDINGS_ALL);
		FINDINGS_NUMBERS(f, c->id, c->begin_ns);
		findings_maybe(f, c->end_ns >= c->begin_ns, c->end_ns - c->begin_ns);
		findings_maybe(f, survivors, c->survived_bytes);
		findings_maybe(f, survivors, c->survived);
		findings_maybe(f, survivors, c->first_bytes);
		findings_maybe(f, survivors, c->first);
		findings_maybe(f, survivors, c->before_bytes);
		findings_maybe(f, survivors, c->after_bytes);
		findings_number(f, c->all);
		findings_number(f, c->incomplete);
		text(f, c->collector);
		text(f, c->cause);
	}
	return f;
}

/* --- seconds ------------------------------------------------------------------------------ */

static struct findings *seconds(const struct objects_input *in)
{
	static const struct findings_column columns[] = {
		{.key = "second",
		 .title = "second",
		 .unit = FINDINGS_INTEGER,
		 .meaning = "since the recording began"},
		{.key = "bytes", .title = "bytes", .unit = FINDINGS_BYTES},
		{.title = "share", .unit = FINDINGS_BYTES, .show = FINDINGS_SHARE, .of = -1},
		{.key = "objects", .title = "objects", .unit = FINDINGS_COUNT},
	};
	struct findings *f = FINDINGS_NEW(columns);
	const struct objects_second *s;
	uint32_t count;

	s = objects_filter_seconds(in->filter, &count);
	for (uint32_t i = 0; i < count; i++) {
		findings_row(f, FINDINGS_ALL);
		FINDINGS_NUMBERS(f, (uint64_t)s[i].second, s[i].bytes, s[i].count);
	}
	return f;
}

struct findings *objects_section(const struct objects_input *in)
{
	switch (in->by) {
	case OBJECTS_BY_THREAD:
		return threads(in);
	case OBJECTS_BY_COLLECTION:
		return collections(in);
	case OBJECTS_BY_SECOND:
		return seconds(in);
	case OBJECTS_BY_SPAN:
		return spans(in);
	default:
		return kinds(in);
	}
}
