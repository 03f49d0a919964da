/* The sentence first, then the groups, then what is not known. */
#include "report/heap/heap_lives_report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text/format.h"
#include "base/text/json_put.h"
#include "base/text/print.h"
#include "report/csv/findings_csv.h"
#include "report/heap/heap_lives_groups.h"
#include "report/heap/heap_lives_words.h"
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
};

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
	char growth[HEAP_LIVES_SIZE_MAX];

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
			 s->age[0].bytes, heap_lives_later(s), s->survived,
			 of[LIFETIME_PERMANENT].bytes + of[LIFETIME_BORN].bytes);
	FINDINGS_NUMBERS(f, of[LIFETIME_PERMANENT].objects, of[LIFETIME_DIED].objects,
			 of[LIFETIME_BORN].objects, of[LIFETIME_TEMPORARY].objects,
			 (uint64_t)heap_lives_weight(s, HEAP_LIVES_DIFF));
	findings_label(f, heap_lives_signed(heap_lives_weight(s, HEAP_LIVES_DIFF), growth));
	findings_text(f, heap_lives_trend_name(heap_lives_trend(s)), NULL);
	add_curve(f, s);
}

static struct findings *groups(const struct heap_lives_report *r, const struct heap_lives_groups *g)
{
	struct findings *f = FINDINGS_NEW(group_columns);

	for (uint32_t i = 0; f && i < g->order_count && !f->err; i++)
		add_group(f, r, g->names[g->order[i]], &g->sums[g->order[i]]);
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
	const struct findings_view view = {
		.indent = 2, .top = r->top, .noun = "groups", .view = VIEW(r->view)};
	int err;

	heap_lives_head(r, out);
	heap_words_sentence(words, out);
	if (f->row_count) {
		print_text(out, "\n%s, by %s\n", titles[r->view], heap_lives_by_names[r->by]);
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
	json_put(&o, "by", json_string(heap_lives_by_names[r->by]));
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
	struct findings *f = r->by == HEAP_LIVES_BY_AGE ? ages(&g->all) : groups(r, g);
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
