/*
 * Groups of two dumps are the same if they and all around them are called the same: nothing else
 * outlives a dump, as objects move and classes get other addresses.
 */
#include "report/heap/heap_diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/keymap.h"
#include "base/text/format.h"
#include "base/text/json_put.h"
#include "base/text/print.h"
#include "base/text/strbuf.h"
#include "heap/state/heap_state.h"
#include "report/csv/findings_csv.h"
#include "report/heap/heap_words.h"
#include "report/json/findings_json.h"
#include "report/json/json_out.h"
#include "report/model/findings.h"
#include "report/text/findings_text.h"

struct row {
	size_t name; /* in names */
	uint64_t objects[2], bytes[2];
};

struct merge {
	const struct heap_diff *d;
	struct keymap keys;
	struct row *rows;
	uint32_t capacity;
	struct strbuf names, path;
};

static int add_node(struct merge *m, unsigned which, const struct heap_node *n)
{
	struct keymap_key key = {.a = hash_bytes(m->path.text, m->path.used),
				 .b = m->path.used + 1};
	uint32_t known = m->keys.count, at;
	int err = keymap_add_row(&m->keys, key, &m->rows, &m->capacity, sizeof(*m->rows), &at);

	if (err)
		return err;
	if (at == known) {
		m->rows[at].name = m->names.used;
		strbuf_put(&m->names, m->path.text, m->path.used);
		strbuf_put(&m->names, "", 1);
	}
	m->rows[at].objects[which] = n->objects;
	m->rows[at].bytes[which] = n->bytes;
	return m->names.err;
}

/* Groups that have no groups in them. */
static int add_below(struct merge *m, unsigned which, uint32_t parent)
{
	const struct heap_report *r = which ? m->d->after : m->d->before;
	const struct heap_tree *t = r->tree;
	size_t used = m->path.used;
	int err = 0;

	for (uint32_t c = t->nodes[parent].child; !err && c != HEAP_NONE; c = t->nodes[c].next) {
		m->path.used = used;
		if (used)
			strbuf_put(&m->path, " > ", 3);
		heap_tree_label(r->view, t, c, &m->path);
		err = m->path.err;
		if (err)
			break;
		err = t->nodes[c].child == HEAP_NONE ? add_node(m, which, &t->nodes[c])
						     : add_below(m, which, c);
	}
	m->path.used = used;
	return err;
}

static int64_t growth(const struct row *r)
{
	return (int64_t)(r->bytes[1] - r->bytes[0]);
}

static int by_growth(const void *a, const void *b, void *context)
{
	const struct row *x = a, *y = b;
	const char *names = context;

	if (growth(x) != growth(y))
		return growth(x) < growth(y) ? 1 : -1;
	return strcmp(names + x->name, names + y->name);
}

static struct findings *rows_new(void)
{
	static const struct findings_column columns[] = {
		{.key = "key", .title = "group", .least = 24, .most = 60, .flags = FINDINGS_TAIL},
		{.key = "more_bytes", .title = "growth", .unit = FINDINGS_INTEGER, .least = 10},
		{.key = "more_objects", .title = "objects", .unit = FINDINGS_INTEGER},
		{.key = "bytes", .group = "before", .unit = FINDINGS_BYTES},
		{.key = "bytes", .group = "after", .unit = FINDINGS_BYTES},
		{.title = "bytes",
		 .show = FINDINGS_FROM_TO,
		 .of = -2,
		 .per = -1,
		 .unit = FINDINGS_BYTES},
		{.key = "objects", .group = "before", .unit = FINDINGS_COUNT},
		{.key = "objects", .group = "after", .unit = FINDINGS_COUNT},
	};

	return FINDINGS_NEW(columns);
}

static void signed_size(int64_t bytes, struct strbuf *o)
{
	char text[FORMAT_MAX];

	strbuf_add(o, "%s%s", bytes < 0 ? "-" : "+",
		   size_format(bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes, text));
}

static void add_row(struct findings *f, const struct merge *m, const struct row *r)
{
	struct strbuf o = {0};

	findings_row(f, FINDINGS_ALL);
	findings_text(f, m->names.text + r->name, NULL);
	findings_number(f, (uint64_t)growth(r));
	signed_size(growth(r), &o);
	findings_label(f, strbuf_text(&o));
	findings_number(f, r->objects[1] - r->objects[0]);
	FINDINGS_NUMBERS(f, r->bytes[0], r->bytes[1]);
	FINDINGS_NUMBERS(f, r->objects[0], r->objects[1]);
	strbuf_free(&o);
}

static void sentence(const struct merge *m, struct strbuf *o)
{
	const struct heap_node *a = m->d->before->tree->nodes, *b = m->d->after->tree->nodes;
	char from[FORMAT_MAX], to[FORMAT_MAX];
	int64_t more = (int64_t)(b->bytes - a->bytes);

	strbuf_add(o, "From %s to %s: ", size_format(a->bytes, from), size_format(b->bytes, to));
	signed_size(more, o);
	strbuf_add(o, ".");
	if (m->keys.count && growth(m->rows) > 0) {
		strbuf_add(o, " %s has grown most, by ", m->names.text + m->rows->name);
		signed_size(growth(m->rows), o);
		strbuf_add(o, ".");
	}
}

static int print(const struct merge *m, struct findings *f, const struct strbuf *words, FILE *out)
{
	const struct heap_report *r = m->d->after;
	const struct findings_view view = {.indent = 2, .top = r->top, .noun = "groups"};
	int err;

	heap_words_head(&m->d->before->source, out);
	heap_words_head(&r->source, out);
	heap_words_sentence(words->text, out);
	fputs("\nGROWTH by ", out);
	for (unsigned i = 0; i < r->tree->level_count; i++)
		print_text(out, "%s%s", i ? ", " : "", r->tree->levels[i]->name);
	fputs(r->where ? ", where " : "\n", out);
	if (r->where)
		print_text(out, "%s\n", r->where);
	err = findings_to_text(f, &view, out);
	return err ? err : heap_words_list("NOT KNOWN", heap_words_not_known(&r->source), out);
}

static int write_out(const struct merge *m, struct findings *f, const struct strbuf *words,
		     FILE *out)
{
	const struct heap_report *r = m->d->after;
	json_t *o;
	int err = f ? f->err : -ENOMEM;

	err = err ? err : words->err;
	if (err)
		return err;
	if (r->format == HEAP_TEXT)
		return print(m, f, words, out);
	if (r->format == HEAP_CSV)
		return findings_to_csv(f, true, out);
	o = json_object();
	json_put(&o, "before", heap_words_state_json(&m->d->before->source));
	json_put(&o, "after", heap_words_state_json(&r->source));
	json_put(&o, "sentence", json_string(words->text));
	json_put(&o, "groups", findings_to_json(f));
	json_put(&o, "not_known", findings_take_json(heap_words_not_known(&r->source)));
	err = o ? json_dump_write(o, out) : -ENOMEM;
	json_decref(o);
	return err;
}

int heap_report_diff(const struct heap_diff *d, FILE *out)
{
	struct merge m = {.d = d};
	struct strbuf words = {0};
	struct findings *f = NULL;
	int err = add_below(&m, 0, 0);

	if (!err)
		err = add_below(&m, 1, 0);
	if (!err) {
		if (m.keys.count)
			qsort_r(m.rows, m.keys.count, sizeof(*m.rows), by_growth, m.names.text);
		sentence(&m, &words);
		f = rows_new();
		for (uint32_t i = 0; f && i < m.keys.count; i++)
			if (growth(&m.rows[i]) || m.rows[i].objects[0] != m.rows[i].objects[1])
				add_row(f, &m, &m.rows[i]);
		err = write_out(&m, f, &words, out);
	}
	findings_free(f);
	strbuf_free(&words);
	strbuf_free(&m.names);
	strbuf_free(&m.path);
	keymap_free(&m.keys);
	free(m.rows);
	return err;
}
