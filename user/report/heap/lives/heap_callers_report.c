/* Sites, the most bytes first; below each who has called it, by the samples that were there. */
#include "report/heap/lives/heap_callers_report.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text/format.h"
#include "base/text/json_put.h"
#include "base/text/print.h"
#include "heap/code/site_samples.h"
#include "heap/replay/object_replay.h"
#include "log/read/names.h"
#include "report/csv/findings_csv.h"
#include "report/heap/heap_agreement.h"
#include "report/heap/heap_words.h"
#include "report/heap/lives/heap_lives_groups.h"
#include "report/json/findings_json.h"
#include "report/json/json_out.h"
#include "report/model/findings.h"
#include "report/text/findings_text.h"

#define NAME_MOST 70
#define SHOWN_PART 20 /* people see callers with one in so many samples of the site */
#define NOT_KNOWN "(not known)"

struct group {
	uint64_t bytes, objects;
	uint32_t site; /* one of those that have its frames; INDEX_NONE: it has none */
	uint32_t number;
};

struct view {
	const struct heap_callers_report *r;
	struct heap_lives_groups names;
	struct group *groups; /* the most bytes first */
	uint32_t count;
	uint32_t *child, *next; /* by caller: 1 + another; child of trees: after all callers */
	uint64_t bytes, seen_bytes;
};

static int compare_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* INDEX_NONE: there is none. */
static uint32_t tree_of(const struct view *v, const struct group *g)
{
	return g->site == INDEX_NONE ? INDEX_NONE : v->r->seen->tree_of[g->site];
}

static uint32_t samples_of(const struct view *v, const struct group *g)
{
	uint32_t tree = tree_of(v, g);

	return tree == INDEX_NONE ? 0 : v->r->seen->trees[tree].samples;
}

static int make_groups(struct view *v)
{
	const struct heap_lives_report names = {
		.log = v->r->log, .by = HEAP_LIVES_BY_CHAIN, .view = HEAP_LIVES_LIFE};
	const struct object_names *n = object_replay_names(v->r->log);
	int err = heap_lives_groups_name(&names, &v->names);

	if (err)
		return err;
	v->count = v->names.count;
	v->groups = calloc(v->count + 1ul, sizeof(*v->groups));
	if (!v->groups)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->count; i++) {
		v->groups[i].site = INDEX_NONE;
		v->groups[i].number = i;
	}
	for (uint32_t i = 0; i < n->kind_count; i++) {
		struct group *g = &v->groups[v->names.of_kind[i]];

		g->bytes += n->kinds[i].of.bytes;
		g->objects += n->kinds[i].of.count;
		/* Sites of the same frames have the same samples. */
		if (n->kinds[i].site != INDEX_NONE && n->sites[n->kinds[i].site].frame_count)
			g->site = n->kinds[i].site;
	}
	for (uint32_t i = 0; i < v->count; i++) {
		v->bytes += v->groups[i].bytes;
		v->seen_bytes += samples_of(v, &v->groups[i]) ? v->groups[i].bytes : 0;
	}
	qsort(v->groups, v->count, sizeof(*v->groups), compare_groups);
	return 0;
}

struct weighted {
	uint32_t samples, caller;
};

static int compare_callers(const void *a, const void *b)
{
	const struct weighted *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? -1 : 1;
	return (x->caller < y->caller) - (x->caller > y->caller);
}

/* Of all callers, the one of the fewest samples first, so that each comes before its sisters that
 * have fewer. */
static int link_callers(struct view *v)
{
	const struct site_samples *s = v->r->seen;
	struct weighted *order = calloc(s->caller_count + 1ul, sizeof(*order));

	v->child = calloc(s->caller_count + s->tree_count + 1ul, sizeof(*v->child));
	v->next = calloc(s->caller_count + 1ul, sizeof(*v->next));
	if (!order || !v->child || !v->next) {
		free(order);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < s->caller_count; i++)
		order[i] = (struct weighted){s->callers[i].samples, i};
	qsort(order, s->caller_count, sizeof(*order), compare_callers);
	for (uint32_t i = 0; i < s->caller_count; i++) {
		uint32_t caller = order[i].caller, parent = s->callers[caller].parent;

		if (parent == SITE_CALLER_TOP)
			parent = s->caller_count + s->callers[caller].tree;
		v->next[caller] = v->child[parent];
		v->child[parent] = 1 + caller;
	}
	free(order);
	return 0;
}

static void caller_name(const struct view *v, const struct site_caller *c, struct strbuf *o)
{
	const struct log_method *m = log_names_method(v->r->names, c->method);

	if (!m)
		strbuf_add(o, NOT_KNOWN);
	else
		strbuf_add(o, "%s.%s:%llu", m->class_name, m->name, (unsigned long long)c->bci);
}

static const struct findings_column columns[] = {
	{.key = "key", .title = "site, and who has called it", .least = 24, .most = NAME_MOST},
	{.key = "bytes",
	 .title = "allocated",
	 .unit = FINDINGS_BYTES,
	 .meaning = "By the site, in the whole log; of callers not known."},
	{.key = "objects", .title = "objects", .unit = FINDINGS_COUNT},
	{.title = "estimate",
	 .least = 8,
	 .meaning = "Of the samples of the site, those in which this caller has called."},
	{.key = "samples", .title = "samples", .unit = FINDINGS_COUNT},
	{.key = "at_bytecode",
	 .unit = FINDINGS_BOOL,
	 .meaning = "Samples are of the site's bytecodes only, not of all of its method."},
	{.key = "callers", .unit = FINDINGS_ROWS, .flags = FINDINGS_TREE},
};

/* All samples of the caller have the same one further out. */
static bool only_caller(const struct view *v, uint32_t caller)
{
	uint32_t next = v->child[caller];

	return next && v->r->seen->callers[next - 1].samples == v->r->seen->callers[caller].samples;
}

static void add_callers(const struct view *v, struct findings *f, uint32_t first, uint32_t all)
{
	for (uint32_t i = first; i && !f->err; i = v->next[i - 1]) {
		const struct site_caller *c = &v->r->seen->callers[i - 1];
		char share[FORMAT_MAX];
		struct findings *within;
		struct strbuf o = {0};
		uint32_t at = i - 1;

		if (v->r->format == HEAP_TEXT && c->samples < all / SHOWN_PART + 1)
			continue;
		caller_name(v, c, &o);
		for (; v->r->format == HEAP_TEXT && only_caller(v, at); at = v->child[at] - 1) {
			strbuf_add(&o, " < ");
			caller_name(v, &v->r->seen->callers[v->child[at] - 1], &o);
		}
		findings_row(f, FINDINGS_ALL);
		findings_text(f, o.err ? NULL : strbuf_text(&o), NULL);
		if (o.err && !f->err)
			f->err = o.err;
		strbuf_free(&o);
		findings_skip(f, 2);
		findings_text(f, share_round(c->samples, all, share), NULL);
		FINDINGS_NUMBERS(f, c->samples);
		findings_skip(f, 1);
		if (!v->child[at])
			continue;
		within = findings_within(f, 1);
		if (within)
			add_callers(v, within, v->child[at], all);
		findings_rows(f, within);
	}
}

static void add_group(const struct view *v, struct findings *f, const struct group *g)
{
	const struct site_samples *s = v->r->seen;
	uint32_t samples = samples_of(v, g), tree = tree_of(v, g), first;
	struct findings *within;

	findings_row(f, FINDINGS_ALL);
	findings_text(f, v->names.names[g->number], NULL);
	FINDINGS_NUMBERS(f, g->bytes, g->objects);
	findings_skip(f, 1);
	FINDINGS_NUMBERS(f, samples);
	findings_maybe(f, samples, samples && s->trees[tree].at_bytecode);
	first = samples ? v->child[s->caller_count + tree] : 0;
	if (!first)
		return;
	within = findings_within(f, 1);
	if (within)
		add_callers(v, within, first, samples);
	findings_rows(f, within);
}

static struct findings *table(const struct view *v)
{
	struct findings *f = FINDINGS_NEW(columns);
	uint32_t left = v->r->format == HEAP_TEXT ? v->r->top : UINT32_MAX;

	for (uint32_t i = 0; f && i < v->count && v->groups[i].bytes && left--; i++)
		add_group(v, f, &v->groups[i]);
	return f;
}

/* The site with the most bytes of those that have samples, and its first callers. */
static void say(const struct view *v, struct strbuf *o)
{
	const struct site_samples *s = v->r->seen;
	char bytes[FORMAT_MAX], share[FORMAT_MAX], count[FORMAT_MAX];
	uint32_t i = 0, caller, said = 0;

	while (i < v->count && !samples_of(v, &v->groups[i]))
		i++;
	strbuf_add(o, "%s of the bytes were allocated by methods of which there are samples.",
		   share_round(v->seen_bytes, v->bytes, share));
	if (i == v->count)
		return;
	strbuf_add(o, " %s, %s:", v->names.names[v->groups[i].number],
		   size_format(v->groups[i].bytes, bytes));
	caller = v->child[s->caller_count + tree_of(v, &v->groups[i])];
	for (; caller && said < 2; caller = v->next[caller - 1], said++) {
		strbuf_add(o, "%s %s by ", said ? "," : " of its calls, as estimated,",
			   share_round(s->callers[caller - 1].samples,
				       samples_of(v, &v->groups[i]), share));
		caller_name(v, &s->callers[caller - 1], o);
	}
	strbuf_add(o, "%s (%s samples).", said ? "" : " no caller is known",
		   count_format(samples_of(v, &v->groups[i]), count));
}

static struct findings *not_known(const struct view *v)
{
	static const struct findings_column text[] = {{.title = ""}};
	struct findings *f = FINDINGS_NEW(text);
	char bytes[FORMAT_MAX], samples[FORMAT_MAX];
	struct strbuf o = {0};

	if (!f)
		return NULL;
	findings_row(f, FINDINGS_ALL);
	findings_text(f,
		      "How many objects each caller has called for: shares are of the samples in "
		      "which a thread ran there, so that a caller with longer calls has more.",
		      NULL);
	if (v->seen_bytes < v->bytes) {
		strbuf_add(&o, "Who has called for %s: none of %s samples is in the methods that "
			       "allocated them.",
			   size_format(v->bytes - v->seen_bytes, bytes),
			   count_format(v->r->samples, samples));
		findings_row(f, FINDINGS_ALL);
		findings_text(f, o.err ? NULL : strbuf_text(&o), NULL);
	}
	if (v->r->seen->left_out) {
		strbuf_clear(&o);
		strbuf_add(&o, "Callers in %s samples: there are too many.",
			   count_format(v->r->seen->left_out, samples));
		findings_row(f, FINDINGS_ALL);
		findings_text(f, o.err ? NULL : strbuf_text(&o), NULL);
	}
	if (o.err && !f->err)
		f->err = o.err;
	strbuf_free(&o);
	return f;
}

static int print(const struct view *v, const struct findings *f, const char *words, FILE *out)
{
	const struct findings_view view = {.indent = 2, .noun = "sites"};
	int err;

	heap_agreement_first(v->r->agreement, v->r->name, out);
	print_text(out, "HEAP %s", v->r->name);
	heap_agreement_head(v->r->agreement, out);
	heap_words_sentence(words, out);
	if (!f->row_count)
		return 0;
	print_text(out, "\nCALLERS of what allocated most, estimated from samples\n");
	err = findings_to_text(f, &view, out);
	return err ? err : heap_words_list("NOT KNOWN", not_known(v), out);
}

static int write_json(const struct view *v, const struct findings *f, const char *words, FILE *out)
{
	json_t *o = json_object(), *state = json_object();
	int err;

	json_put(&state, "file", json_string(v->r->name));
	json_put(&state, "samples", json_integer((json_int_t)v->r->samples));
	json_put(&state, "bytes", json_integer((json_int_t)v->bytes));
	json_put(&state, "bytes_with_samples", json_integer((json_int_t)v->seen_bytes));
	json_put(&state, "samples_left_out", json_integer((json_int_t)v->r->seen->left_out));
	json_put(&state, "damaged", json_boolean(v->r->damaged));
	json_put(&o, "state", state);
	json_put(&o, "sentence", json_string(words));
	json_put(&o, "confidence", json_string("estimated"));
	json_put(&o, "sites", findings_to_json(f));
	json_put(&o, "not_known", findings_take_json(not_known(v)));
	err = o ? json_dump_write(o, out) : -ENOMEM;
	json_decref(o);
	return err;
}

static int write_out(const struct view *v, FILE *out)
{
	struct findings *f = table(v);
	struct strbuf words = {0};
	int err = f ? f->err : -ENOMEM;

	say(v, &words);
	if (!err)
		err = words.err;
	if (!err && v->r->format == HEAP_TEXT)
		err = print(v, f, strbuf_text(&words), out);
	else if (!err && v->r->format == HEAP_CSV)
		err = findings_to_csv(f, true, out);
	else if (!err)
		err = write_json(v, f, strbuf_text(&words), out);
	findings_free(f);
	strbuf_free(&words);
	return err;
}

int heap_report_callers(const struct heap_callers_report *r, FILE *out)
{
	struct view v = {.r = r};
	int err = make_groups(&v);

	if (!err)
		err = link_callers(&v);
	if (!err)
		err = write_out(&v, out);
	heap_lives_groups_free(&v.names);
	free(v.groups);
	free(v.child);
	free(v.next);
	return err;
}
