#include "report/heap/heap_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/format.h"
#include "base/text/glob.h"
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

#define NAME_MOST 60
#define MARK "- " /* of groups that count references */

struct maker {
	const struct heap_report *r;
	const bool *shown; /* NULL: all */
	struct strbuf name;
};

static struct findings *groups_new(void)
{
	static const struct findings_column columns[] = {
		{.key = "key",
		 .title = "group",
		 .least = 24,
		 .most = NAME_MOST,
		 .flags = FINDINGS_TAIL},
		{.key = "by", .meaning = "The classifier whose group it is."},
		{.key = "unit",
		 .meaning = "What it counts: objects, or references to them or from them, with the "
			    "bytes of the objects at their other ends."},
		{.key = "objects",
		 .title = "objects",
		 .unit = FINDINGS_COUNT,
		 .meaning = "Those in the group, and in groups within it."},
		{.key = "bytes",
		 .title = "bytes",
		 .unit = FINDINGS_BYTES,
		 .meaning = "What these take in the heap, without what they refer to."},
		{.title = "of all",
		 .show = FINDINGS_SHARE,
		 .of = -1,
		 .per = 1,
		 .unit = FINDINGS_COUNT},
		{.unit = FINDINGS_BYTES},
		{.title = "each", .unit = FINDINGS_BYTES},
		{.key = "overlapping",
		 .unit = FINDINGS_BOOL,
		 .meaning = "An object may be in several of the groups within it."},
		{.key = "retained_bytes",
		 .title = "retained",
		 .unit = FINDINGS_BYTES,
		 .flags = FINDINGS_IF_ANY,
		 .meaning = "What would be freed if all objects of the group went."},
		{.key = "children", .unit = FINDINGS_ROWS, .flags = FINDINGS_TREE},
	};

	return FINDINGS_NEW(columns);
}

static uint32_t child_count(const struct maker *m, const struct heap_node *n)
{
	uint32_t count = 0;

	for (uint32_t c = n->child; c != HEAP_NONE; c = m->r->tree->nodes[c].next)
		count += !m->shown || m->shown[c];
	return count;
}

static void add_groups(struct maker *m, struct findings *f, uint32_t parent);

/* The only group in this one, if it has all of it; HEAP_NONE. */
static uint32_t only_child(const struct maker *m, uint32_t node)
{
	const struct heap_tree *t = m->r->tree;
	uint32_t c = t->nodes[node].child;

	if (!m->shown || !m->r->collapse || c == HEAP_NONE || t->nodes[c].next != HEAP_NONE)
		return HEAP_NONE;
	return m->shown[c] && t->nodes[c].objects == t->nodes[node].objects &&
			       t->nodes[c].bytes == t->nodes[node].bytes &&
			       heap_tree_counts_references(t, c) ==
				       heap_tree_counts_references(t, node)
		       ? c
		       : HEAP_NONE;
}

/* "com.acme > com.acme.Order": of groups that are one. Of packages the last name says all. Returns
 * the last one. */
static uint32_t add_names(struct maker *m, uint32_t node)
{
	const struct heap_tree *t = m->r->tree;

	for (uint32_t c; (c = only_child(m, node)) != HEAP_NONE; node = c) {
		if (t->nodes[c].level == t->nodes[node].level &&
		    !strcmp(t->levels[t->nodes[c].level]->name, "package"))
			continue;
		heap_tree_label(m->r->view, t, node, &m->name);
		strbuf_add(&m->name, " > ");
	}
	heap_tree_label(m->r->view, t, node, &m->name);
	return node;
}

static void add_group(struct maker *m, struct findings *f, uint32_t node)
{
	const struct heap_tree *t = m->r->tree;
	const struct heap_node *n;
	uint32_t children;
	struct findings *within = NULL;
	bool references = heap_tree_counts_references(t, node);

	strbuf_clear(&m->name);
	strbuf_add(&m->name, "%s", references ? MARK : "");
	node = add_names(m, node);
	n = &t->nodes[node];
	children = child_count(m, n);
	findings_row(f, FINDINGS_ALL);
	if (m->name.err)
		findings_text(f, NULL, NULL);
	else
		findings_text(f, strbuf_text(&m->name) + (references ? strlen(MARK) : 0),
			      references ? strbuf_text(&m->name) : NULL);
	findings_text(f, t->levels[n->level]->name, NULL);
	findings_text(f, references ? "references" : "objects", NULL);
	FINDINGS_NUMBERS(f, n->objects, n->bytes);
	findings_maybe(f, !references, t->of_bytes);
	FINDINGS_NUMBERS(f, n->objects ? n->bytes / n->objects : 0,
			 n->child != HEAP_NONE &&
				 t->levels[t->nodes[n->child].level]->shape == HEAP_MANY);
	findings_maybe(f, m->r->retained && m->r->retained[node] != HEAP_KEY_NONE,
		       m->r->retained ? m->r->retained[node] : 0);
	if (children) {
		within = findings_within(f, children);
		if (within)
			add_groups(m, within, node);
		findings_rows(f, within);
	}
	if (m->name.err && !f->err)
		f->err = m->name.err;
}

static void add_groups(struct maker *m, struct findings *f, uint32_t parent)
{
	const struct heap_tree *t = m->r->tree;

	for (uint32_t c = t->nodes[parent].child; c != HEAP_NONE && !f->err; c = t->nodes[c].next)
		if (!m->shown || m->shown[c])
			add_group(m, f, c);
}

/* NULL, or an err in it: no memory. */
static struct findings *groups(const struct heap_report *r, const bool *shown)
{
	struct maker m = {.r = r, .shown = shown};
	struct findings *f = groups_new();

	if (f)
		add_groups(&m, f, 0);
	strbuf_free(&m.name);
	return f;
}

static void sentence(const struct heap_report *r, struct strbuf *o)
{
	const struct heap_tree *t = r->tree;
	const struct heap_node *root = t->nodes;
	char count[FORMAT_MAX], all[FORMAT_MAX], share[FORMAT_MAX], bytes[FORMAT_MAX];
	uint32_t at = root->child;

	if (r->where) {
		strbuf_add(o, "%s of %s objects are chosen, ", count_format(root->objects, count),
			   count_format(t->of_objects, all));
		strbuf_add(o, "%s of ", size_format(root->bytes, bytes));
		strbuf_add(o, "%s (%s).", size_format(t->of_bytes, all),
			   share_format(root->bytes, t->of_bytes, share));
	} else {
		strbuf_add(o, "%s objects, %s.", count_format(root->objects, count),
			   size_format(root->bytes, bytes));
	}
	if (at == HEAP_NONE)
		return;
	/* "com.acme", if all of "com" is in it. */
	while (t->nodes[at].child != HEAP_NONE &&
	       !heap_tree_counts_references(t, t->nodes[at].child) &&
	       t->nodes[t->nodes[at].child].objects == t->nodes[at].objects)
		at = t->nodes[at].child;
	if (t->by_objects)
		strbuf_add(o, " %s of the objects: ",
			   share_round(t->nodes[at].objects, root->objects, share));
	else
		strbuf_add(o, " %s of that: ", share_round(t->nodes[at].bytes, root->bytes, share));
	heap_tree_label(r->view, t, at, o);
	strbuf_add(o, ".");
}

/* "type, pointed_from(type, site), age" */
static void print_level(const struct heap_tree *t, unsigned i, FILE *out)
{
	bool within = t->via[i] == HEAP_VIA;
	bool opens = within && t->via[i - 1] != HEAP_VIA;

	print_text(out, "%s%s%s",
		   opens ? "("
		   : i   ? ", "
			 : "",
		   t->levels[i]->name, t->levels[i]->shape == HEAP_MANY ? " (overlapping)" : "");
	if (within && (i + 1 == t->level_count || t->via[i + 1] != HEAP_VIA))
		fputc(')', out);
}

static void print_title(const struct heap_report *r, FILE *out)
{
	const struct heap_tree *t = r->tree;

	fputs("\nOBJECTS by ", out);
	for (unsigned i = 0; i < t->level_count; i++)
		print_level(t, i, out);
	if (r->where)
		print_text(out, ", where %s", r->where);
	fputs("; bytes without what they refer to\n", out);
}

/* The largest of those that --find is after. */
static int find(const struct heap_report *r, bool *shown)
{
	const struct heap_tree *t = r->tree;
	bool *selected = calloc(t->count + 1ul, sizeof(*selected));
	struct strbuf name = {0};
	int err = selected ? 0 : -ENOMEM;

	for (uint32_t i = 1; i < t->count && !err; i++) {
		strbuf_clear(&name);
		heap_tree_label(r->view, t, i, &name);
		err = name.err;
		selected[i] =
			!err && glob_holds(r->find, strlen(r->find), strbuf_text(&name), name.used);
	}
	if (!err)
		err = heap_tree_largest_of(t, r->top, selected, shown);
	strbuf_free(&name);
	free(selected);
	return err;
}

static int choose(const struct heap_report *r, bool *shown)
{
	return r->find ? find(r, shown) : heap_tree_largest(r->tree, r->top, shown);
}

static int print_tree(const struct heap_report *r, FILE *out)
{
	const struct findings_view view = {.indent = 2};
	bool *shown = calloc(r->tree->count + 1ul, sizeof(*shown));
	struct findings *f = NULL;
	char count[FORMAT_MAX];
	int err = shown ? choose(r, shown) : -ENOMEM;

	if (!err) {
		f = groups(r, shown);
		err = findings_to_text(f, &view, out);
	}
	if (!err && !r->find && r->tree->count - 1 > r->top)
		print_text(out, "  and %s smaller groups (--top)\n",
			   count_format(r->tree->count - 1 - r->top, count));
	findings_free(f);
	free(shown);
	return err;
}

static int report_text(const struct heap_report *r, FILE *out)
{
	struct strbuf o = {0};
	int err;

	heap_words_head(&r->source, out);
	sentence(r, &o);
	err = o.err;
	if (!err)
		heap_words_sentence(strbuf_text(&o), out);
	strbuf_free(&o);
	if (!err && r->tree->count > 1) {
		print_title(r, out);
		err = print_tree(r, out);
	}
	return err ? err : heap_words_list("NOT KNOWN", heap_words_not_known(&r->source), out);
}

static int report_json(const struct heap_report *r, FILE *out)
{
	const struct heap_node *root = r->tree->nodes;
	json_t *o = json_object(), *by = json_array(), *all = json_object();
	struct strbuf words = {0};
	int err;

	for (unsigned i = 0; i < r->tree->level_count; i++)
		json_add(&by, json_string(r->tree->levels[i]->name));
	json_put(&all, "objects", json_integer((json_int_t)root->objects));
	json_put(&all, "bytes", json_integer((json_int_t)root->bytes));
	json_put(&all, "children", findings_take_json(groups(r, NULL)));
	sentence(r, &words);
	json_put(&o, "state", heap_words_state_json(&r->source));
	json_put(&o, "sentence", words.err ? NULL : json_string(strbuf_text(&words)));
	json_put(&o, "by", by);
	json_put(&o, "where", r->where ? json_string(r->where) : json_null());
	json_put(&o, "unit", json_string("objects"));
	json_put(&o, "root", all);
	json_put(&o, "left_out", json_integer((json_int_t)r->tree->left_out));
	json_put(&o, "not_known", findings_take_json(heap_words_not_known(&r->source)));
	strbuf_free(&words);
	err = o ? json_dump_write(o, out) : -ENOMEM;
	json_decref(o);
	return err;
}

static int report_csv(const struct heap_report *r, FILE *out)
{
	struct findings *f = groups(r, NULL);
	int err = findings_to_csv(f, true, out);

	findings_free(f);
	return err;
}

void heap_report_head(const struct heap_source *s, FILE *out)
{
	heap_words_head(s, out);
}

int heap_report_tree(const struct heap_report *r, FILE *out)
{
	static int (*const all[HEAP_FORMAT_COUNT])(const struct heap_report *,
						   FILE *) = {report_text, report_json, report_csv};

	return all[r->format](r, out);
}

static const char *shape_name(enum heap_shape shape)
{
	static const char *const names[] = {"one group", "several, overlapping",
					    "groups in groups"};

	return names[shape];
}

static int list_write(struct findings *f, enum heap_format format, FILE *out)
{
	const struct findings_view view = {0};
	json_t *o;
	int err;

	if (format == HEAP_TEXT)
		return findings_to_text(f, &view, out);
	if (format == HEAP_CSV)
		return findings_to_csv(f, true, out);
	o = findings_to_json(f);
	err = o ? json_dump_write(o, out) : -ENOMEM;
	json_decref(o);
	return err;
}

int heap_report_classifiers(const struct heap_own_classifiers *own, enum heap_format format,
			    FILE *out)
{
	static const struct findings_column columns[] = {
		{.key = "name", .title = "--by"},
		{.key = "shape", .title = "each object is in"},
		{.key = "doc", .title = "what it is"},
	};
	struct findings *f = FINDINGS_NEW(columns);
	const struct heap_classifier *c;
	int err;

	for (unsigned i = 0; f && (c = heap_classifier_get(own, i)); i++) {
		findings_row(f, FINDINGS_ALL);
		findings_text(f, c->name, NULL);
		findings_text(f, shape_name(c->shape), NULL);
		findings_text(f, c->doc, NULL);
	}
	err = f ? list_write(f, format, out) : -ENOMEM;
	findings_free(f);
	return err;
}
