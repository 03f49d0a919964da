/* Who keeps objects: those that hold the most, or the ways to chosen ones. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/text/format.h"
#include "base/text/json_put.h"
#include "base/text/print.h"
#include "base/text/strbuf.h"
#include "heap/classify/heap_filter.h"
#include "heap/graph/heap_dominators.h"
#include "heap/graph/heap_graph.h"
#include "heap/graph/heap_paths.h"
#include "heap/graph/heap_reach.h"
#include "heap/state/heap_state.h"
#include "report/csv/findings_csv.h"
#include "report/heap/heap_report.h"
#include "report/heap/heap_words.h"
#include "report/json/findings_json.h"
#include "report/json/json_out.h"
#include "report/model/findings.h"
#include "report/text/findings_text.h"

#define STEPS_SHOWN 3
#define MOST_PERCENT 80 /* of a way's bytes go on in one way: the sentence does, too */

struct keep {
	const struct heap_report *r;
	struct heap_paths *paths;
	uint64_t objects, bytes;             /* chosen */
	uint64_t freed_objects, freed_bytes; /* if all of them went */
	uint32_t nodes_left;                 /* rows that there is room for */
	struct strbuf label;
};

static uint64_t strongly_kept(const struct heap_graph *g)
{
	return g->reached_bytes[HEAP_STRONG] + g->reached_bytes[HEAP_SOFT];
}

static int add_holder(const struct keep *k, struct findings *f, const struct heap_holder *h)
{
	const struct heap_graph *g = k->r->view->graph;
	const struct heap_state *s = g->state;
	const struct heap_desc *d = heap_graph_desc(g, h->object);
	struct strbuf o = {0};
	int err;

	findings_row(f, FINDINGS_ALL);
	strbuf_add(&o, "%s%s", d->of_class == HEAP_NONE ? "" : "class ",
		   heap_type_name(&s->types, d->of_class == HEAP_NONE ? d->type : d->of_class));
	findings_text(f, strbuf_text(&o), NULL);
	strbuf_clear(&o);
	strbuf_add(&o, "0x%" PRIx64, s->objects.address[h->object]);
	findings_text(f, strbuf_text(&o), NULL);
	FINDINGS_NUMBERS(f, h->retained, strongly_kept(g), h->objects);
	findings_text(f, h->type == HEAP_NONE ? NULL : heap_type_name(&s->types, h->type), NULL);
	findings_maybe(f, h->type != HEAP_NONE, h->of_type);
	strbuf_clear(&o);
	err = heap_paths_way(k->paths, h->object, STEPS_SHOWN, &o);
	findings_text(f, strbuf_text(&o), NULL);
	strbuf_free(&o);
	return err;
}

static struct findings *holders_new(void)
{
	static const struct findings_column columns[] = {
		{.key = "class", .title = "holder", .most = 36, .flags = FINDINGS_TAIL},
		{.key = "address", .meaning = "Where it was in the heap."},
		{.key = "retained_bytes",
		 .title = "retains",
		 .unit = FINDINGS_BYTES,
		 .meaning = "What would be freed if it went."},
		{.title = "of all",
		 .show = FINDINGS_SHARE,
		 .of = -1,
		 .per = 1,
		 .unit = FINDINGS_COUNT},
		{.unit = FINDINGS_BYTES},
		{.key = "retained_objects", .unit = FINDINGS_COUNT},
		{.key = "mostly",
		 .title = "mostly",
		 .most = 30,
		 .flags = FINDINGS_TAIL | FINDINGS_NULL,
		 .meaning = "The class that it keeps the most bytes of."},
		{.key = "of_these",
		 .title = "objects",
		 .unit = FINDINGS_COUNT,
		 .flags = FINDINGS_NULL},
		{.key = "kept_by",
		 .title = "kept by",
		 .most = 72,
		 .meaning = "The shortest way to it; static fields and roots begin it."},
	};

	return FINDINGS_NEW(columns);
}

static void holders_sentence(const struct keep *k, const struct heap_holder *h, uint32_t count,
			     struct strbuf *o)
{
	const struct heap_graph *g = k->r->view->graph;
	const struct heap_types *t = &g->state->types;
	char bytes[FORMAT_MAX], share[FORMAT_MAX], objects[FORMAT_MAX];

	if (!count) {
		strbuf_add(o, "No object holds many others.");
		return;
	}
	strbuf_add(o, "One %s retains %s, %s of what is reachable",
		   heap_type_name(t, heap_graph_desc(g, h->object)->type),
		   size_format(h->retained, bytes),
		   share_round(h->retained, strongly_kept(g), share));
	if (h->type != HEAP_NONE)
		strbuf_add(o, ", among that %s %s", count_format(h->of_type, objects),
			   heap_type_name(t, h->type));
	strbuf_add(o, ". It is kept by ");
	if (heap_paths_way(k->paths, h->object, STEPS_SHOWN, o))
		return;
	strbuf_add(o, ".");
}

static int write_out(const struct keep *k, const char *title, struct findings *f,
		     struct strbuf *words, FILE *out)
{
	const struct findings_view view = {.indent = 2};
	const struct heap_report *r = k->r;
	json_t *o;
	int err = f ? f->err : -ENOMEM;

	err = err ? err : words->err;
	if (err)
		return err;
	if (r->format == HEAP_CSV)
		return findings_to_csv(f, true, out);
	if (r->format == HEAP_TEXT) {
		heap_words_head(&r->source, out);
		heap_words_sentence(strbuf_text(words), out);
		if (f->row_count)
			print_text(out, "\n%s\n", title);
		err = findings_to_text(f, &view, out);
		return err ? err
			   : heap_words_list("NOT KNOWN", heap_words_not_known(&r->source), out);
	}
	o = json_object();
	json_put(&o, "state", heap_words_state_json(&r->source));
	json_put(&o, "sentence", json_string(strbuf_text(words)));
	json_put(&o, "where", r->where ? json_string(r->where) : json_null());
	if (r->where) {
		json_put(&o, "objects", json_integer((json_int_t)k->objects));
		json_put(&o, "bytes", json_integer((json_int_t)k->bytes));
		json_put(&o, "freed_bytes", json_integer((json_int_t)k->freed_bytes));
		json_put(&o, "freed_objects", json_integer((json_int_t)k->freed_objects));
		json_put(&o, "unreachable_objects",
			 json_integer((json_int_t)k->paths->unreachable_objects));
	}
	json_put(&o, r->where ? "ways" : "holders", findings_to_json(f));
	json_put(&o, "not_known", findings_take_json(heap_words_not_known(&r->source)));
	err = o ? json_dump_write(o, out) : -ENOMEM;
	json_decref(o);
	return err;
}

static int report_holders(struct keep *k, FILE *out)
{
	const struct heap_report *r = k->r;
	struct heap_holder *all;
	struct strbuf words = {0};
	struct findings *f = holders_new();
	uint32_t count;
	int err =
		heap_dominators_holders(r->view->dominators, r->source.state, r->top, &all, &count);

	if (err) {
		findings_free(f);
		return err;
	}
	holders_sentence(k, all, count, &words);
	for (uint32_t i = 0; f && !err && i < count; i++)
		err = add_holder(k, f, &all[i]);
	if (!err)
		err = write_out(k, "HOLDERS: what would be freed without each", f, &words, out);
	strbuf_free(&words);
	findings_free(f);
	free(all);
	return err;
}

static struct findings *ways_new(void)
{
	static const struct findings_column columns[] = {
		{.key = "step",
		 .title = "way",
		 .least = 24,
		 .most = 70,
		 .flags = FINDINGS_TAIL,
		 .meaning = "A root, a static field, or a class and its field that refers on."},
		{.key = "objects", .title = "objects", .unit = FINDINGS_COUNT},
		{.key = "bytes", .title = "bytes", .unit = FINDINGS_BYTES},
		{.title = "share",
		 .show = FINDINGS_SHARE,
		 .of = -1,
		 .per = 1,
		 .unit = FINDINGS_COUNT},
		{.unit = FINDINGS_BYTES},
		{.key = "children", .unit = FINDINGS_ROWS, .flags = FINDINGS_TREE},
	};

	return FINDINGS_NEW(columns);
}

/* Ways that are as large as the limit at least: for people, those that there is room for. */
static void add_ways(struct keep *k, struct findings *f, uint32_t parent, uint64_t least)
{
	const struct heap_paths *p = k->paths;

	for (uint32_t c = p->nodes[parent].child; c != HEAP_NONE && !f->err; c = p->nodes[c].next) {
		const struct heap_path *n = &p->nodes[c];
		struct findings *within = NULL;

		if (n->bytes < least || !k->nodes_left)
			break;
		k->nodes_left--;
		strbuf_clear(&k->label);
		heap_paths_label(p, c, &k->label);
		findings_row(f, FINDINGS_ALL);
		findings_text(f, k->label.err ? NULL : strbuf_text(&k->label), NULL);
		FINDINGS_NUMBERS(f, n->objects, n->bytes, k->bytes);
		if (n->child == HEAP_NONE || p->nodes[n->child].bytes < least || !k->nodes_left)
			continue;
		within = findings_within(f, 1);
		if (within)
			add_ways(k, within, c, least);
		findings_rows(f, within);
	}
}

static int compare_down(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

/* The bytes of the last way that people see: none is larger than the one that it goes on from. */
static int least_shown(const struct keep *k, uint64_t *ret)
{
	const struct heap_paths *p = k->paths;
	uint64_t *all;

	*ret = 0;
	if (k->r->format != HEAP_TEXT || p->count - 1 <= k->r->top)
		return 0;
	all = malloc(p->count * sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (uint32_t i = 1; i < p->count; i++)
		all[i - 1] = p->nodes[i].bytes;
	qsort(all, p->count - 1, sizeof(*all), compare_down);
	*ret = all[k->r->top - 1];
	free(all);
	return 0;
}

static void ways_sentence(struct keep *k, struct strbuf *o)
{
	const struct heap_paths *p = k->paths;
	char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX];
	uint32_t at = p->nodes[0].child;
	unsigned steps = 0;

	strbuf_add(o, "%s of %s objects are chosen, ", count_format(k->objects, a),
		   count_format(k->r->source.state->object_count, b));
	strbuf_add(o, "%s; if all of them went, %s in %s objects would be freed.",
		   size_format(k->bytes, a), size_format(k->freed_bytes, b),
		   count_format(k->freed_objects, c));
	if (p->unreachable_objects)
		strbuf_add(o, " Nothing keeps %s of them.",
			   count_format(p->unreachable_objects, a));
	if (!k->objects)
		strbuf_add(o, " Names are those that spoor heap --by type shows, and may have * in "
			      "them.");
	if (at == HEAP_NONE || !k->bytes)
		return;
	strbuf_add(o, " %s: ", share_round(p->nodes[at].bytes, k->bytes, a));
	for (;;) {
		uint32_t child = p->nodes[at].child;

		heap_paths_label(p, at, o);
		if (child == HEAP_NONE || ++steps > STEPS_SHOWN + 1 ||
		    p->nodes[child].bytes / 100 * 100 < p->nodes[at].bytes / 100 * MOST_PERCENT)
			break;
		strbuf_add(o, " > ");
		at = child;
	}
	strbuf_add(o, ".");
}

/* All that the filter chooses, as targets and as a group. */
static int choose(struct keep *k, struct heap_filter *filter)
{
	const struct heap_state *s = k->r->source.state;
	uint8_t *group = calloc(s->objects.count + 1ul, 1);
	int err = group ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < s->objects.count; i++) {
		const struct heap_item item = {s->objects.desc[i], i};
		int chosen = heap_filter_holds(filter, &item);

		if (chosen <= 0) {
			err = chosen;
			continue;
		}
		group[i] = 1;
		k->objects++;
		k->bytes += s->descs[item.desc].bytes;
		err = heap_paths_add(k->paths, i);
	}
	if (!err)
		err = heap_paths_finish(k->paths);
	if (!err)
		err = heap_reach_without(k->r->view->graph, group, 1, &k->freed_objects,
					 &k->freed_bytes);
	free(group);
	return err;
}

static int report_ways(struct keep *k, struct heap_filter *filter, FILE *out)
{
	struct strbuf words = {0};
	struct findings *f = NULL;
	uint64_t least = 0;
	int err = choose(k, filter);

	if (!err)
		err = least_shown(k, &least);
	if (err)
		return err;
	k->nodes_left = k->r->format == HEAP_TEXT ? k->r->top : UINT32_MAX;
	f = ways_new();
	if (f)
		add_ways(k, f, 0, least);
	if (f && k->label.err && !f->err)
		f->err = k->label.err;
	ways_sentence(k, &words);
	err = write_out(k, "KEPT BY: shortest ways from roots and static fields, merged", f, &words,
			out);
	strbuf_free(&words);
	findings_free(f);
	return err;
}

int heap_report_keep(const struct heap_report *r, struct heap_filter *filter, FILE *out)
{
	struct keep k = {.r = r};
	int err = heap_paths_new(r->view->graph, &k.paths);

	if (!err)
		err = r->where ? report_ways(&k, filter, out) : report_holders(&k, out);
	strbuf_free(&k.label);
	heap_paths_free(k.paths);
	return err;
}
