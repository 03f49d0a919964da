/* Groups of contentions for programs, one row at a time. */
#include <string.h>

#include "base/text/strbuf.h"
#include "log/read/names.h"
#include "report/model/aspect_text.h"
#include "report/model/chain.h"
#include "report/model/label.h"
#include "report/model/sections/by_figures.h"
#include "report/model/sections/by_section.h"

#define PATH_MAX_COLUMNS 3 /* of one aspect */

/* What names a group within its parent; of a call chain nothing. */
struct key {
	const char *text, *more; /* more: NULL: text says all */
	struct strbuf made;
	char buf[LABEL_MAX];
};

static const char *method_text(const struct by_section *b, const struct group *g, struct key *k)
{
	const struct stacks *stacks = b->section.stacks;
	const struct log_method *m;

	if (g->aspect == ASPECT_OWNER_METHOD && g->cell->holder == HOLDER_HAND_OVER)
		return "(hand-over)";
	m = stacks_method(stacks, group_method(stacks, g));
	if (!m)
		return label_method(stacks, group_method(stacks, g), k->buf);
	strbuf_add(&k->made, "%s.%s", m->class_name, m->name);
	return strbuf_text(&k->made);
}

/* ret->made is to be freed. */
static void key_make(const struct by_section *b, const struct group *g, struct key *ret)
{
	const struct section_input *s = &b->section;
	const struct cell *cell = g->cell;

	ret->text = ret->more = NULL;
	ret->made = (struct strbuf){.most = 0};
	switch (g->aspect) {
	case ASPECT_LOCK:
		ret->more = label_identity(s->labels, cell->lock, ret->buf);
		/* fall through */
	case ASPECT_LOCK_CLASS:
		ret->text = name_class(s->names, cell->lock);
		break;
	case ASPECT_WAITER_THREAD:
		ret->text = name_thread(s->names, cell->waiter, "(unknown)");
		break;
	case ASPECT_OWNER_THREAD:
		ret->text = name_thread(s->names, cell->holder, "(unknown)");
		break;
	case ASPECT_GROUP:
		ret->text = name_group(s->names, cell->lock, cell->monitor);
		break;
	case ASPECT_WAITER_STACK:
	case ASPECT_OWNER_STACK:
		if (!group_stack(s->stacks, g))
			ret->text = label_group(s->labels, s->stacks, g, ret->buf);
		break;
	case ASPECT_WAITER_METHOD:
	case ASPECT_OWNER_METHOD:
		ret->text = method_text(b, g, ret);
		break;
	case ASPECT_BEHIND:
		ret->text = cell->blocked_on ? name_class(s->names, cell->blocked_on) : "(none)";
		if (cell->blocked_on)
			ret->more = label_identity(s->labels, cell->blocked_on, ret->buf);
		break;
	default:
		aspect_text(s->stacks, labels_facets(s->labels), g, &ret->made);
		ret->text = strbuf_text(&ret->made);
		break;
	}
}

static void key_free(struct key *k, struct findings *f)
{
	if (k->made.err && f && !f->err)
		f->err = k->made.err;
	strbuf_free(&k->made);
}

static struct findings *key_list(const struct key *k)
{
	static const struct findings_column columns[] = {{.unit = FINDINGS_TEXT}};
	struct findings *f = FINDINGS_NEW(columns);

	findings_row(f, FINDINGS_PROGRAMS);
	findings_text(f, k->text, NULL);
	if (k->more) {
		findings_row(f, FINDINGS_PROGRAMS);
		findings_text(f, k->more, NULL);
	}
	return f;
}

/* Names of threads need not be unique. */
static void thread_add(const struct by_section *b, const struct group *g, struct findings *f)
{
	uint64_t thread = g->aspect == ASPECT_WAITER_THREAD  ? g->cell->waiter
			  : g->aspect == ASPECT_OWNER_THREAD ? g->cell->holder
							     : HOLDER_UNKNOWN;
	const struct log_thread *t =
		holder_is_thread(thread) ? log_names_thread(b->section.names, thread) : NULL;

	findings_maybe(f, t && !t->is_virtual, t ? t->tid : 0);
	findings_maybe(f, t, t ? t->java_id : 0);
}

void by_section_group(const struct by_section *b, const struct group *g, struct findings *f)
{
	struct key k;

	key_make(b, g, &k);
	findings_row(f, FINDINGS_PROGRAMS);
	findings_skip(f, 1);
	findings_rows(
		f, k.text ? key_list(&k)
			  : chain_findings(b->section.stacks, group_stack(b->section.stacks, g)));
	thread_add(b, g, f);
	by_figures_add(f, g, true);
	key_free(&k, f);
}

/* The columns of a path, by aspect. Of threads, the last two are numbers. */
static const char *const path_keys[ASPECT_COUNT][PATH_MAX_COLUMNS] = {
	[ASPECT_LOCK_CLASS] = {"lock_class"},
	[ASPECT_LOCK] = {"lock_class", "lock"},
	[ASPECT_WAITER_THREAD] = {"waiter_thread", "waiter_tid", "waiter_java_id"},
	[ASPECT_OWNER_THREAD] = {"owner_thread", "owner_tid", "owner_java_id"},
	[ASPECT_GROUP] = {"group"},
	[ASPECT_WAITER_STACK] = {"waiter_stack"},
	[ASPECT_WAITER_METHOD] = {"waiter_method"},
	[ASPECT_OWNER_STACK] = {"owner_stack"},
	[ASPECT_OWNER_METHOD] = {"owner_method"},
	[ASPECT_BEHIND] = {"behind_class", "behind"},
};

/* Its name, of an aspect that has one column. */
static const char *path_key(enum aspect_id aspect, int column)
{
	if (!path_keys[aspect][0])
		return column ? NULL : aspect_get(aspect)->name;
	return path_keys[aspect][column];
}

static bool is_thread(enum aspect_id aspect)
{
	return aspect == ASPECT_WAITER_THREAD || aspect == ASPECT_OWNER_THREAD;
}

/* The class of a lock has a column of its own already. */
static bool has_class(const struct by_section *b)
{
	for (unsigned i = 0; i < b->depth; i++) {
		if (b->by[i] == ASPECT_LOCK_CLASS)
			return true;
	}
	return false;
}

struct findings *by_section_paths(const struct by_section *b)
{
	struct findings_column columns[ASPECT_COUNT * PATH_MAX_COLUMNS + BY_FIGURES] = {0};
	unsigned count = 0;

	for (unsigned i = 0; i < b->depth; i++) {
		bool thread = is_thread(b->by[i]);

		for (int k = b->by[i] == ASPECT_LOCK && has_class(b);
		     k < PATH_MAX_COLUMNS && path_key(b->by[i], k); k++)
			columns[count++] = (struct findings_column){
				.key = path_key(b->by[i], k),
				.unit = thread && k ? FINDINGS_NUMBER : FINDINGS_TEXT};
	}
	by_figures_columns(NULL, columns + count);
	return findings_new(columns, count + BY_FIGURES);
}

/* "a.b.Table.lookUp:42; a.b.Main.run:7" */
static void chain_text(const struct by_section *b, const struct group *g, struct key *k)
{
	struct chain chain = {.stacks = b->section.stacks,
			      .stack = group_stack(b->section.stacks, g),
			      .full = true};

	while (chain_next(&chain, k->buf))
		strbuf_add(&k->made, "%s%s", k->made.used ? "; " : "", k->buf);
	k->text = strbuf_text(&k->made);
}

static void step_add(const struct by_section *b, const struct group *g, struct findings *f)
{
	struct key k;

	key_make(b, g, &k);
	if (!k.text)
		chain_text(b, g, &k);
	if (g->aspect != ASPECT_LOCK || !has_class(b))
		findings_text(f, k.text, NULL);
	if (g->aspect == ASPECT_LOCK || g->aspect == ASPECT_BEHIND)
		findings_text(f, k.more, NULL);
	if (is_thread(g->aspect))
		thread_add(b, g, f);
	key_free(&k, f);
}

void by_section_path(const struct by_section *b, const struct group *const *path,
		     struct findings *f)
{
	findings_row(f, FINDINGS_PROGRAMS);
	for (unsigned i = 0; i < b->depth; i++)
		step_add(b, path[i], f);
	by_figures_add(f, path[b->depth - 1], true);
}
