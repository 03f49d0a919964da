/* The sentence first, then the groups, then what is not known. */
#include "report/heap/lives/heap_lives_report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text/format.h"
#include "base/text/json_put.h"
#include "base/text/print.h"
#include "report/csv/findings_csv.h"
#include "report/heap/lives/heap_lives_groups.h"
#include "report/heap/lives/heap_lives_words.h"
#include "report/heap/heap_words.h"
#include "report/json/findings_json.h"
#include "report/json/json_out.h"
#include "report/model/findings.h"
#include "report/text/findings_text.h"

#define NAME_MOST 50
#define VIEW(view) (1u << (view))

static const struct findings_column group_columns[] = {
	{.key = "key", .title = "group", .least = 24, .most = NAME_MOST},
	{.key = "growth_bytes",
	 .title = "growth",
	 .unit = FINDINGS_INTEGER,
	 .least = 10,
	 .views = VIEW(HEAP_LIVES_GROW),
	 .meaning = "Of objects that have survived two collections: end less begin."},
	{.key = "growth_objects",
	 .title = "objects",
	 .unit = FINDINGS_INTEGER,
	 .views = VIEW(HEAP_LIVES_GROW)},
	{.key = "old_bytes",
	 .title = "at the end",
	 .unit = FINDINGS_BYTES,
	 .views = VIEW(HEAP_LIVES_GROW),
	 .meaning = "Bytes of such objects at the end."},
	{.key = "bytes_per_s",
	 .title = "per second",
	 .unit = FINDINGS_BYTES,
	 .views = VIEW(HEAP_LIVES_CHURN),
	 .meaning = "Of temporary objects."},
	{.key = "temporary_bytes",
	 .title = "temporary",
	 .unit = FINDINGS_BYTES,
	 .views = VIEW(HEAP_LIVES_CHURN),
	 .meaning = "Born and dead within the interval."},
	{.title = "share",
	 .show = FINDINGS_SHARE,
	 .of = -1,
	 .unit = FINDINGS_BYTES,
	 .views = VIEW(HEAP_LIVES_CHURN)},
	{.key = "temporary_objects",
	 .title = "objects",
	 .unit = FINDINGS_COUNT,
	 .views = VIEW(HEAP_LIVES_CHURN)},
	{.key = "permanent_bytes",
	 .unit = FINDINGS_BYTES,
	 .meaning = "Alive at both ends of the interval."},
	{.key = "permanent_objects", .unit = FINDINGS_COUNT},
	{.key = "born_bytes",
	 .title = "born",
	 .unit = FINDINGS_BYTES,
	 .views = VIEW(HEAP_LIVES_GROW),
	 .meaning = "Alive at the end only."},
	{.key = "born_objects", .unit = FINDINGS_COUNT},
	{.key = "died_bytes",
	 .title = "died",
	 .unit = FINDINGS_BYTES,
	 .views = VIEW(HEAP_LIVES_GROW),
	 .meaning = "Alive at the begin only."},
	{.key = "died_objects", .unit = FINDINGS_COUNT},
	{.key = "dead_bytes",
	 .title = "dead",
	 .unit = FINDINGS_BYTES,
	 .views = VIEW(HEAP_LIVES_LIFE),
	 .meaning = "Found dead by a collection of the interval."},
	{.key = "dead_objects",
	 .title = "objects",
	 .unit = FINDINGS_COUNT,
	 .views = VIEW(HEAP_LIVES_LIFE)},
	{.key = "first_bytes",
	 .unit = FINDINGS_BYTES,
	 .meaning = "Of the dead: found by the first collection after their birth."},
	{.title = "by the first",
	 .show = FINDINGS_SHARE,
	 .of = -1,
	 .per = -3,
	 .unit = FINDINGS_BYTES,
	 .views = VIEW(HEAP_LIVES_LIFE) | VIEW(HEAP_LIVES_CHURN)},
	{.key = "later_bytes",
	 .title = "survived two",
	 .unit = FINDINGS_BYTES,
	 .views = VIEW(HEAP_LIVES_LIFE) | VIEW(HEAP_LIVES_CHURN),
	 .meaning = "Of the dead: those that have survived two collections or more."},
	{.key = "survived",
	 .unit = FINDINGS_COUNT,
	 .meaning = "Collections that the dead have survived, in sum."},
	{.key = "timed_objects",
	 .unit = FINDINGS_COUNT,
	 .meaning = "Of the dead: those whose birth has a time."},
	{.key = "lived_least_ns",
	 .unit = FINDINGS_NS,
	 .flags = FINDINGS_NO_SUM,
	 .meaning = "Of these, on average: from birth to the begin of the collection that has "
		    "found the object dead, at least."},
	{.key = "lived_most_ns",
	 .unit = FINDINGS_NS,
	 .flags = FINDINGS_NO_SUM,
	 .meaning = "The same, at most."},
	{.title = "lived", .views = VIEW(HEAP_LIVES_LIFE), .least = 18},
	{.key = "alive_bytes",
	 .title = "alive",
	 .unit = FINDINGS_BYTES,
	 .views = VIEW(HEAP_LIVES_LIFE),
	 .meaning = "At the end of the interval."},
	{.title = "permanent", .unit = FINDINGS_COUNT, .views = VIEW(HEAP_LIVES_DIFF)},
	{.title = "died", .unit = FINDINGS_COUNT, .views = VIEW(HEAP_LIVES_DIFF)},
	{.title = "born", .unit = FINDINGS_COUNT, .views = VIEW(HEAP_LIVES_DIFF)},
	{.title = "temporary", .unit = FINDINGS_COUNT, .views = VIEW(HEAP_LIVES_DIFF)},
	{.key = "net_bytes",
	 .title = "net",
	 .unit = FINDINGS_INTEGER,
	 .least = 10,
	 .views = VIEW(HEAP_LIVES_DIFF),
	 .meaning = "Born less died."},
	{.key = "trend", .title = "trend", .views = VIEW(HEAP_LIVES_GROW)},
	{.title = "curve", .views = VIEW(HEAP_LIVES_GROW)},
	{.key = "curve_bytes",
	 .unit = FINDINGS_ROWS,
	 .flags = FINDINGS_LIST | FINDINGS_NO_CSV,
	 .meaning = "Bytes of old objects at 16 moments of the interval."},
	/* Of groups in groups only. */
	{.key = "by", .meaning = "The classifier whose group it is."},
	{.key = "children", .unit = FINDINGS_ROWS, .flags = FINDINGS_TREE},
};
#define GROUP_COLUMNS (sizeof(group_columns) / sizeof(*group_columns))

static void add_curve(struct findings *f, const struct heap_lives *s)
{
	static const struct findings_column columns[] = {
		{.key = NULL, .title = "", .unit = FINDINGS_BYTES}};
	struct findings *list = FINDINGS_NEW(columns);
	char curve[HEAP_LIVES_CURVE_MAX];

	findings_text(f, heap_lives_curve(s, curve), NULL);
	for (unsigned p = 0; list && p < HEAP_LIVES_POINTS; p++) {
		findings_row(list, FINDINGS_ALL);
		findings_number(list, s->curve[p]);
	}
	findings_rows(f, list);
}

static void add_group(struct findings *f, const struct heap_lives_report *r, const char *name,
		      const struct heap_lives *s)
{
	const struct heap_lives_sum *of = s->of;
	bool timed = heap_lives_ns(r);
	char growth[HEAP_LIVES_SIZE_MAX], lived[HEAP_LIVES_LIVED_MAX];

	findings_row(f, FINDINGS_ALL);
	findings_text(f, name, NULL);
	findings_number(f, (uint64_t)heap_lives_weight(s, HEAP_LIVES_GROW));
	findings_label(f, heap_lives_signed(heap_lives_weight(s, HEAP_LIVES_GROW), growth));
	FINDINGS_NUMBERS(f, s->old_to.objects - s->old_from.objects, s->old_to.bytes);
	findings_maybe(f, timed, timed ? heap_lives_rate(r, of[LIFETIME_TEMPORARY].bytes) : 0);
	FINDINGS_NUMBERS(f, of[LIFETIME_TEMPORARY].bytes, of[LIFETIME_TEMPORARY].objects,
			 of[LIFETIME_PERMANENT].bytes, of[LIFETIME_PERMANENT].objects,
			 of[LIFETIME_BORN].bytes, of[LIFETIME_BORN].objects,
			 of[LIFETIME_DIED].bytes, of[LIFETIME_DIED].objects,
			 of[LIFETIME_DIED].bytes + of[LIFETIME_TEMPORARY].bytes,
			 of[LIFETIME_DIED].objects + of[LIFETIME_TEMPORARY].objects,
			 s->age[0].bytes, heap_lives_later(s), s->survived, s->timed);
	findings_maybe(f, s->timed, heap_lives_mean_ns(s->least_us, s->timed));
	findings_maybe(f, s->timed, heap_lives_mean_ns(s->most_us, s->timed));
	findings_text(f, heap_lives_lived(s, lived), NULL);
	FINDINGS_NUMBERS(f, of[LIFETIME_PERMANENT].bytes + of[LIFETIME_BORN].bytes);
	FINDINGS_NUMBERS(f, of[LIFETIME_PERMANENT].objects, of[LIFETIME_DIED].objects,
			 of[LIFETIME_BORN].objects, of[LIFETIME_TEMPORARY].objects,
			 (uint64_t)heap_lives_weight(s, HEAP_LIVES_DIFF));
	findings_label(f, heap_lives_signed(heap_lives_weight(s, HEAP_LIVES_DIFF), growth));
	findings_text(f, heap_lives_trend_name(heap_lives_trend(s)), NULL);
	add_curve(f, s);
}

static struct findings *groups(const struct heap_lives_report *r, const struct heap_lives_groups *g)
{
	struct findings *f = findings_new(group_columns, GROUP_COLUMNS - 2);

	for (uint32_t i = 0; f && i < g->order_count && !f->err; i++)
		add_group(f, r, g->names[g->order[i]], &g->sums[g->order[i]]);
	return f;
}

/* --- groups in groups --------------------------------------------------------------------- */

struct tree {
	const struct heap_lives_report *r;
	const struct heap_lives_groups *g;
	uint32_t *child, *next; /* by group; child of the top: at count */
	bool *shown;
};

static void add_children(struct tree *t, struct findings *f, uint32_t parent)
{
	for (uint32_t i = t->child[parent]; i != HEAP_LIVES_TOP && !f->err; i = t->next[i]) {
		const struct heap_lives_node *n = &t->g->nodes[i];
		struct findings *within;

		if (!t->shown[i])
			continue;
		add_group(f, t->r, t->g->names[i] + n->label, &t->g->totals[i]);
		findings_text(f, t->r->levels->all[n->level]->name, NULL);
		if (t->child[i] == HEAP_LIVES_TOP)
			continue;
		within = findings_within(f, 1);
		if (within)
			add_children(t, within, i);
		findings_rows(f, within);
	}
}

/* Of all groups, the smallest first, so that each comes before its smaller sisters. */
static void link_groups(struct tree *t, const uint32_t *order)
{
	const struct heap_lives_groups *g = t->g;

	for (uint32_t i = 0; i <= g->count; i++)
		t->child[i] = HEAP_LIVES_TOP;
	for (uint32_t i = g->count; i--;) {
		uint32_t node = order[i], parent = g->nodes[node].parent;

		parent = parent == HEAP_LIVES_TOP ? g->count : parent;
		t->next[node] = t->child[parent];
		t->child[parent] = node;
	}
}

/* The largest groups of which there is something to say, with those around them. */
static void show_largest(struct tree *t, const uint32_t *order)
{
	const struct heap_lives_groups *g = t->g;
	uint32_t left = t->r->format == HEAP_TEXT ? t->r->top : UINT32_MAX;

	for (uint32_t i = 0; i < g->count && left; i++) {
		if (!heap_lives_says(&g->totals[order[i]], t->r->view))
			continue;
		left--;
		for (uint32_t up = order[i]; up != HEAP_LIVES_TOP && !t->shown[up];
		     up = g->nodes[up].parent)
			t->shown[up] = true;
	}
}

static struct findings *tree_groups(const struct heap_lives_report *r,
				    const struct heap_lives_groups *g)
{
	struct tree t = {.r = r, .g = g};
	struct findings *f = NULL;
	uint32_t *order = heap_lives_order(g, r->view);

	t.child = calloc(g->count + 1ul, sizeof(*t.child));
	t.next = calloc(g->count + 1ul, sizeof(*t.next));
	t.shown = calloc(g->count + 1ul, sizeof(*t.shown));
	if (order && t.child && t.next && t.shown) {
		link_groups(&t, order);
		show_largest(&t, order);
		f = findings_new(group_columns, GROUP_COLUMNS);
		if (f)
			add_children(&t, f, g->count);
	}
	free(order);
	free(t.child);
	free(t.next);
	free(t.shown);
	return f;
}

/* A row for each number of survived collections. */
static struct findings *ages(const struct heap_lives *s)
{
	static const struct findings_column columns[] = {
		{.key = "survived", .title = "collections survived", .least = 24},
		{.key = "dead_bytes",
		 .title = "dead",
		 .unit = FINDINGS_BYTES,
		 .meaning = "Found dead by a collection of the interval."},
		{.title = "share", .show = FINDINGS_SHARE, .of = -1, .unit = FINDINGS_BYTES},
		{.key = "dead_objects", .title = "objects", .unit = FINDINGS_COUNT},
		{.title = "share", .show = FINDINGS_SHARE, .of = -1, .unit = FINDINGS_COUNT},
	};
	struct findings *f = FINDINGS_NEW(columns);

	for (unsigned i = 0; f && i < HEAP_LIVES_AGES; i++) {
		findings_row(f, FINDINGS_ALL);
		findings_text(f, heap_lives_age_name(i), NULL);
		FINDINGS_NUMBERS(f, s->age[i].bytes, s->age[i].objects);
	}
	return f;
}

static int print(const struct heap_lives_report *r, const struct heap_lives_groups *g,
		 const struct findings *f, const char *words, FILE *out)
{
	static const char *const titles[] = {
		[HEAP_LIVES_GROW] = "GROWTH of objects that have survived two collections",
		[HEAP_LIVES_CHURN] = "CHURN: objects that were born and have died",
		[HEAP_LIVES_LIFE] = "LIFE: objects that have died",
		[HEAP_LIVES_DIFF] = "DIFFERENCE: objects of both moments, of one, and of neither",
	};
	const struct findings_view view = {.indent = 2,
					   .top = r->levels ? 0 : r->top,
					   .noun = "groups",
					   .view = VIEW(r->view)};
	int err;

	heap_lives_head(r, out);
	heap_words_sentence(words, out);
	if (f->row_count) {
		print_text(out, "\n%s, by ", titles[r->view]);
		heap_lives_print_by(r, out);
		print_text(out, "\n");
		err = findings_to_text(f, &view, out);
		if (err)
			return err;
	}
	return heap_words_list("NOT KNOWN", heap_lives_not_known(r, g), out);
}

static int write_json(const struct heap_lives_report *r, const struct heap_lives_groups *g,
		      const struct findings *f, const char *words, FILE *out)
{
	json_t *o = json_object();
	int err;

	json_put(&o, "state", heap_lives_state_json(r));
	json_put(&o, "sentence", json_string(words));
	json_put(&o, "by", heap_lives_by_json(r));
	json_put(&o, "groups", findings_to_json(f));
	json_put(&o, "ages", findings_take_json(ages(&g->all)));
	json_put(&o, "not_known", findings_take_json(heap_lives_not_known(r, g)));
	err = o ? json_dump_write(o, out) : -ENOMEM;
	json_decref(o);
	return err;
}

static int write_out(const struct heap_lives_report *r, const struct heap_lives_groups *g,
		     FILE *out)
{
	struct findings *f = r->levels                    ? tree_groups(r, g)
			     : r->by == HEAP_LIVES_BY_AGE ? ages(&g->all)
							  : groups(r, g);
	struct strbuf words = {0};
	int err = f ? f->err : -ENOMEM;

	heap_lives_sentence(r, g, &words);
	if (!err)
		err = words.err;
	if (!err && r->format == HEAP_TEXT)
		err = print(r, g, f, strbuf_text(&words), out);
	else if (!err && r->format == HEAP_CSV)
		err = findings_to_csv(f, true, out);
	else if (!err)
		err = write_json(r, g, f, strbuf_text(&words), out);
	findings_free(f);
	strbuf_free(&words);
	return err;
}

int heap_report_lives(const struct heap_lives_report *r, FILE *out)
{
	struct heap_lives_groups g;
	int err = heap_lives_groups_make(r, &g);

	if (!err)
		err = write_out(r, &g, out);
	heap_lives_groups_free(&g);
	return err;
}
