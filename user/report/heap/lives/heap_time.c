/* What is alive at the ends of collections, by group: a chart for each. */
#include "report/heap/lives/heap_lives_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

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

#define MOMENTS_MAX 400
#define MOMENTS_MIN 16
#define CELLS_MAX (1u << 22) /* of groups and moments */
#define CURVE_POINTS 32
#define NAME_MOST 50

/* A row of moments for each group, and one for all of them together. */
struct series {
	uint32_t *moments, count, left_out;
	struct heap_lives_sum *sums;
	uint32_t *order, groups;
};

static const struct heap_lives_sum *row_of(const struct series *s, uint32_t group)
{
	return &s->sums[(size_t)group * s->count];
}

/* The first moment shown that is not before this one. */
static uint32_t first_at(const struct series *s, uint32_t moment)
{
	uint32_t low = 0, high = s->count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (s->moments[middle] < moment)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Evenly, with both ends. */
static int choose_moments(const struct heap_lives_report *r, struct series *s)
{
	/* Two at least. */
	uint32_t all = r->to - r->from + 1, room = CELLS_MAX / (s->groups + 1);

	room = room > MOMENTS_MAX ? MOMENTS_MAX : room < MOMENTS_MIN ? MOMENTS_MIN : room;
	s->count = all < room ? all : room;
	s->left_out = all - s->count;
	s->moments = calloc(s->count, sizeof(*s->moments));
	if (!s->moments)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->count; i++)
		s->moments[i] =
			r->from + (uint32_t)((uint64_t)(all - 1) * i / (s->count - 1));
	return 0;
}

static void add_change(struct heap_lives_sum *row, uint32_t at, uint32_t count,
		       const struct object_lifetime *l, bool dies)
{
	if (at == count)
		return;
	row[at].objects += dies ? -l->objects : l->objects;
	row[at].bytes += dies ? -l->bytes : l->bytes;
}

/* What comes and goes at each moment; then the sums of that. */
static void fill(const struct heap_lives_report *r, const struct heap_lives_groups *g,
		 struct series *s)
{
	const struct object_lifetimes *all = object_replay_lifetimes(r->log);

	for (uint32_t i = 0; i < all->count; i++) {
		const struct object_lifetime *l = &all->rows[i];
		uint32_t group[] = {g->of_kind[l->kind], s->groups},
			 born = first_at(s, l->birth + 1), dead = first_at(s, l->death);

		for (unsigned k = 0; k < 2 && born < dead; k++) {
			struct heap_lives_sum *row = &s->sums[(size_t)group[k] * s->count];

			add_change(row, born, s->count, l, false);
			add_change(row, dead, s->count, l, true);
		}
	}
	for (uint32_t group = 0; group <= s->groups; group++) {
		struct heap_lives_sum *row = &s->sums[(size_t)group * s->count];

		for (uint32_t i = 1; i < s->count; i++) {
			row[i].objects += row[i - 1].objects;
			row[i].bytes += row[i - 1].bytes;
		}
	}
}

static uint32_t peak_of(const struct series *s, uint32_t group)
{
	const struct heap_lives_sum *row = row_of(s, group);
	uint32_t most = 0;

	for (uint32_t i = 1; i < s->count; i++)
		if (row[i].bytes > row[most].bytes)
			most = i;
	return most;
}

struct weighted {
	uint64_t bytes;
	uint32_t group;
};

static int compare(const void *a, const void *b)
{
	const struct weighted *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return (x->group > y->group) - (x->group < y->group);
}

/* The largest peak first; groups that are never there are left out. */
static int order_groups(struct series *s)
{
	struct weighted *all = calloc(s->groups + 1ul, sizeof(*all));
	uint32_t n = 0;

	s->order = calloc(s->groups + 1ul, sizeof(*s->order));
	if (!all || !s->order) {
		free(all);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < s->groups; i++)
		all[i] = (struct weighted){row_of(s, i)[peak_of(s, i)].bytes, i};
	qsort(all, s->groups, sizeof(*all), compare);
	while (n < s->groups && all[n].bytes) {
		s->order[n] = all[n].group;
		n++;
	}
	s->groups = n;
	free(all);
	return 0;
}

static void series_free(struct series *s)
{
	free(s->moments);
	free(s->sums);
	free(s->order);
}

/* all: the row of all groups together. */
static int series_make(const struct heap_lives_report *r, const struct heap_lives_groups *g,
		       struct series *s, uint32_t *ret_all)
{
	int err;

	s->groups = *ret_all = g->count;
	err = choose_moments(r, s);
	if (err)
		return err;
	s->sums = calloc((s->groups + 1ul) * s->count, sizeof(*s->sums));
	if (!s->sums)
		return -ENOMEM;
	fill(r, g, s);
	return order_groups(s);
}

/* --- the table ---------------------------------------------------------------------------- */

/* Since the log began; 0: not known. */
static uint64_t since_begin(const struct heap_lives_report *r, uint32_t moment)
{
	uint64_t begin = object_replay_sums(r->log)->begin_ns, ns = heap_lives_moment_ns(r, moment);

	return begin && ns > begin ? ns - begin : 0;
}

static char *curve(const struct series *s, uint32_t group, char buf[3 * CURVE_POINTS + 1])
{
	uint64_t points[CURVE_POINTS];
	unsigned count = s->count < CURVE_POINTS ? s->count : CURVE_POINTS;

	for (unsigned i = 0; i < count; i++)
		points[i] = row_of(s, group)[(s->count - 1) * i / (count - 1)].bytes;
	return heap_lives_blocks(points, count, buf);
}

static const struct findings_column columns[] = {
	{.key = "key", .title = "group", .least = 24, .most = NAME_MOST},
	{.key = "bytes",
	 .title = "at the end",
	 .unit = FINDINGS_BYTES,
	 .meaning = "Alive at the last moment."},
	{.key = "objects", .title = "objects", .unit = FINDINGS_COUNT},
	{.key = "most_bytes",
	 .title = "at most",
	 .unit = FINDINGS_BYTES,
	 .flags = FINDINGS_NO_SUM,
	 .meaning = "Of the moments that are shown."},
	{.key = "most_ns",
	 .title = "at",
	 .unit = FINDINGS_NS,
	 .flags = FINDINGS_NO_SUM,
	 .meaning = "When that was, since the log began."},
	{.title = "bytes over time"},
};

static void add_row(struct findings *f, const struct heap_lives_report *r, const struct series *s,
		    const char *name, uint32_t group)
{
	const struct heap_lives_sum *row = row_of(s, group), *end = &row[s->count - 1];
	uint32_t most = peak_of(s, group);
	char text[3 * CURVE_POINTS + 1];
	uint64_t ns = since_begin(r, s->moments[most]);

	findings_row(f, FINDINGS_ALL);
	findings_text(f, name, NULL);
	FINDINGS_NUMBERS(f, end->bytes, end->objects, row[most].bytes);
	findings_maybe(f, ns != 0, ns);
	findings_text(f, curve(s, group, text), NULL);
}

static struct findings *table(const struct heap_lives_report *r, const struct heap_lives_groups *g,
			      const struct series *s, uint32_t all)
{
	struct findings *f = FINDINGS_NEW(columns);

	if (f && r->format == HEAP_TEXT && s->groups)
		add_row(f, r, s, "(all)", all);
	for (uint32_t i = 0; f && i < s->groups && !f->err; i++)
		add_row(f, r, s, g->names[s->order[i]], s->order[i]);
	return f;
}

static void say(const struct heap_lives_report *r, const struct heap_lives_groups *g,
		const struct series *s, uint32_t all, struct strbuf *o)
{
	const struct heap_lives_sum *row = row_of(s, all), *end = &row[s->count - 1];
	uint32_t most = peak_of(s, all);
	uint64_t ns = since_begin(r, s->moments[most]);
	char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX], at[FORMAT_MAX];

	strbuf_add(o, "From %s to %s; at most %s", size_format(row->bytes, a),
		   size_format(end->bytes, b), size_format(row[most].bytes, c));
	if (ns)
		strbuf_add(o, ", at %s", time_format(ns, at));
	strbuf_add(o, ".");
	if (s->groups)
		strbuf_add(o, " The largest: %s, at most %s, %s at the end.",
			   g->names[s->order[0]],
			   size_format(row_of(s, s->order[0])[peak_of(s, s->order[0])].bytes, a),
			   size_format(row_of(s, s->order[0])[s->count - 1].bytes, b));
}

static int print(const struct heap_lives_report *r, const struct findings *f,
		 const struct series *s, const char *words, FILE *out)
{
	const struct findings_view view = {.indent = 2, .top = r->top, .noun = "groups"};
	char count[FORMAT_MAX], left[FORMAT_MAX];

	heap_lives_head(r, out);
	heap_words_sentence(words, out);
	if (!f->row_count)
		return 0;
	print_text(out, "\nALIVE at the ends of %s collections, by ",
		   count_format(s->count, count));
	heap_lives_print_by(r, out);
	if (s->left_out)
		print_text(out, "; %s between them are left out", count_format(s->left_out, left));
	print_text(out, "\n");
	return findings_to_text(f, &view, out);
}

/* --- for programs ------------------------------------------------------------------------- */

static json_t *numbers(const struct series *s, uint32_t group, bool bytes)
{
	const struct heap_lives_sum *row = row_of(s, group);
	json_t *list = json_array();

	for (uint32_t i = 0; i < s->count; i++)
		json_add(&list,
			 json_integer((json_int_t)(bytes ? row[i].bytes : row[i].objects)));
	return list;
}

static json_t *moments(const struct heap_lives_report *r, const struct series *s)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < s->count; i++) {
		json_t *o = json_object();
		uint64_t gc;

		json_put(&o, "moment", json_integer(s->moments[i]));
		json_put(&o, "gc",
			 heap_lives_moment_gc(r, s->moments[i], &gc) ? json_integer((json_int_t)gc)
								    : json_null());
		json_put(&o, "time_ns", json_integer((json_int_t)since_begin(r, s->moments[i])));
		json_add(&list, o);
	}
	return list;
}

static int write_json(const struct heap_lives_report *r, const struct heap_lives_groups *g,
		      const struct findings *f, const struct series *s, uint32_t all,
		      const char *words, FILE *out)
{
	json_t *o = json_object(), *groups = findings_to_json(f), *sums = json_object();
	int err;

	json_put(&sums, "bytes", numbers(s, all, true));
	json_put(&sums, "objects", numbers(s, all, false));
	for (uint32_t i = 0; groups && i < s->groups; i++) {
		json_t *row = json_array_get(groups, i);

		json_object_set_new(row, "bytes_at", numbers(s, s->order[i], true));
		json_object_set_new(row, "objects_at", numbers(s, s->order[i], false));
	}
	json_put(&o, "state", heap_lives_state_json(r));
	json_put(&o, "sentence", json_string(words));
	json_put(&o, "by", heap_lives_by_json(r));
	json_put(&o, "moments", moments(r, s));
	json_put(&o, "left_out", json_integer(s->left_out));
	json_put(&o, "all", sums);
	json_put(&o, "groups", groups);
	json_put(&o, "not_known", findings_take_json(heap_lives_not_known(r, g)));
	err = o ? json_dump_write(o, out) : -ENOMEM;
	json_decref(o);
	return err;
}

/* A row for each moment and group. */
static int write_csv(const struct heap_lives_report *r, const struct heap_lives_groups *g,
		     const struct series *s, FILE *out)
{
	static const struct findings_column points[] = {
		{.key = "gc", .unit = FINDINGS_NUMBER},
		{.key = "time_ns", .unit = FINDINGS_NS},
		{.key = "key"},
		{.key = "bytes", .unit = FINDINGS_BYTES},
		{.key = "objects", .unit = FINDINGS_COUNT},
	};
	struct findings *f = FINDINGS_NEW(points);
	int err;

	for (uint32_t i = 0; f && i < s->count; i++)
		for (uint32_t k = 0; k < s->groups && !f->err; k++) {
			const struct heap_lives_sum *at = &row_of(s, s->order[k])[i];
			uint64_t gc = 0;
			bool known = heap_lives_moment_gc(r, s->moments[i], &gc);

			findings_row(f, FINDINGS_ALL);
			findings_maybe(f, known, gc);
			FINDINGS_NUMBERS(f, since_begin(r, s->moments[i]));
			findings_text(f, g->names[s->order[k]], NULL);
			FINDINGS_NUMBERS(f, at->bytes, at->objects);
		}
	err = f ? f->err : -ENOMEM;
	if (!err)
		err = findings_to_csv(f, true, out);
	findings_free(f);
	return err;
}

static int write_out(const struct heap_lives_report *r, const struct heap_lives_groups *g,
		     const struct series *s, uint32_t all, FILE *out)
{
	struct findings *f = table(r, g, s, all);
	struct strbuf words = {0};
	int err = f ? f->err : -ENOMEM;

	say(r, g, s, all, &words);
	if (!err)
		err = words.err;
	if (!err && r->format == HEAP_TEXT)
		err = print(r, f, s, strbuf_text(&words), out);
	if (!err && r->format == HEAP_TEXT)
		err = heap_words_list("NOT KNOWN", heap_lives_not_known(r, g), out);
	else if (!err && r->format == HEAP_CSV)
		err = write_csv(r, g, s, out);
	else if (!err)
		err = write_json(r, g, f, s, all, strbuf_text(&words), out);
	findings_free(f);
	strbuf_free(&words);
	return err;
}

int heap_report_time(const struct heap_lives_report *r, FILE *out)
{
	struct heap_lives_groups g;
	struct series s = {0};
	uint32_t all = 0;
	int err = heap_lives_groups_make(r, &g);

	if (!err)
		err = series_make(r, &g, &s, &all);
	if (!err)
		err = write_out(r, &g, &s, all, out);
	series_free(&s);
	heap_lives_groups_free(&g);
	return err;
}
