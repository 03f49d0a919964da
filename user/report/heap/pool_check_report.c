#include "report/heap/pool_check_report.h"

#include <errno.h>
#include <inttypes.h>

#include "base/text/format.h"
#include "base/text/json_put.h"
#include "base/text/print.h"
#include "base/text/strbuf.h"
#include "base/text/units.h"
#include "heap/replay/object_replay.h"
#include "report/csv/findings_csv.h"
#include "report/heap/heap_words.h"
#include "report/json/findings_json.h"
#include "report/json/json_out.h"
#include "report/model/findings.h"
#include "report/text/findings_text.h"

static const char *const verdict_names[POOL_VERDICT_COUNT] = {
	[POOL_AGREES] = "agrees",
	[POOL_DIFFERS] = "differs",
	[POOL_NO_FIGURES] = "no_figures",
	[POOL_NOT_FOLLOWED] = "not_followed",
	[POOL_LEFT_OUT] = "left_out",
	[POOL_FAILED] = "promotion_failed",
};

static const struct findings_column columns[] = {
	{.key = "gc", .title = "GC", .unit = FINDINGS_NUMBER},
	{.key = "collector", .title = "Collector"},
	{.key = "cause", .title = "Cause"},
	{.key = "verdict"},
	{.key = "jvm_bytes", .title = "In the pools", .unit = FINDINGS_BYTES},
	{.key = "log_bytes", .title = "By the log", .unit = FINDINGS_BYTES},
	{.key = "more_bytes", .unit = FINDINGS_INTEGER, .title = "More in the pools, bytes"},
	{.key = "object_bytes", .unit = FINDINGS_BYTES},
	{.key = "gap_bytes", .unit = FINDINGS_BYTES},
	{.key = "end_bytes", .title = "May be more", .unit = FINDINGS_BYTES},
};

/* All collections; people see those that differ. */
static struct findings *rows(const struct pool_check_report *r)
{
	struct findings *f = FINDINGS_NEW(columns);
	uint32_t count;
	const struct object_collection *of = object_replay_collections(r->log, &count);

	for (uint32_t i = 0; f && i < r->check->count && i < count; i++) {
		const struct pool_check_row *row = &r->check->rows[i];
		uint64_t least = pool_check_least(r->check, row);

		findings_row(f, row->verdict == POOL_DIFFERS ? FINDINGS_ALL : FINDINGS_PROGRAMS);
		findings_number(f, of[i].id);
		findings_text(f, of[i].collector, NULL);
		findings_text(f, of[i].cause, NULL);
		findings_text(f, verdict_names[row->verdict], NULL);
		findings_maybe(f, row->told, row->used_bytes);
		findings_maybe(f, row->followed, least);
		findings_maybe(f, row->told && row->followed, row->used_bytes - least);
		findings_maybe(f, row->followed, row->object_bytes);
		findings_maybe(f, row->followed, row->gap_bytes);
		findings_maybe(f, row->followed, pool_check_more(row));
	}
	return f;
}

static void add_sentence(const struct pool_check *c, struct strbuf *o)
{
	uint64_t agree = c->verdicts[POOL_AGREES], all = agree + c->verdicts[POOL_DIFFERS];
	char a[FORMAT_MAX], b[FORMAT_MAX], bytes[UNITS_TEXT_MAX];

	if (!all) {
		strbuf_add(o, "No collection could be compared with the JVM's pools.");
		return;
	}
	strbuf_add(o,
		   "%s of %s collections agree: what the JVM's pools hold at their end is what the "
		   "log's objects take, with the gaps between them",
		   count_format(agree, a), count_format(all, b));
	if (c->exact == agree)
		strbuf_add(o, ", to the byte.");
	else
		strbuf_add(o,
			   "; %s to the byte, the others but for %s at most, in fillers after the "
			   "last objects, of which there are no events.",
			   count_format(c->exact, a), size_format(c->most_more, bytes));
}

static void add_line(struct findings *f, struct strbuf *o)
{
	findings_row(f, FINDINGS_ALL);
	findings_text(f, o->err ? NULL : strbuf_text(o), NULL);
	if (o->err && !f->err)
		f->err = o->err;
	strbuf_clear(o);
}

static struct findings *not_compared(const struct pool_check_report *r)
{
	static const struct findings_column line[] = {{.title = ""}};
	struct findings *f = FINDINGS_NEW(line);
	const struct pool_check *c = r->check;
	struct strbuf o = {0};
	char text[FORMAT_MAX], bytes[UNITS_TEXT_MAX];

	if (!f)
		return NULL;
	if (c->verdicts[POOL_NO_FIGURES]) {
		strbuf_add(&o,
			   "%s of the collections: the log has no sizes of pools of them. JDK 17 "
			   "says none for the pauses of G1's concurrent cycle, and gc_pool events "
			   "may be lost.",
			   count_format(c->verdicts[POOL_NO_FIGURES], text));
		add_line(f, &o);
	}
	if (c->verdicts[POOL_NOT_FOLLOWED]) {
		strbuf_add(&o, "%s of the collections: the log's heap is not known at their end.",
			   count_format(c->verdicts[POOL_NOT_FOLLOWED], text));
		add_line(f, &o);
	}
	if (c->verdicts[POOL_FAILED]) {
		strbuf_add(&o,
			   "%s of the collections: promotions have failed, and until the full "
			   "collection that follows the JVM's pools count what has moved twice "
			   "(Serial), or not at all (Parallel).",
			   count_format(c->verdicts[POOL_FAILED], text));
		add_line(f, &o);
	}
	if (c->archive_bytes) {
		strbuf_add(&o,
			   "%s that the pools hold at each collection, and the log never: inferred "
			   "to be the archive of classes (CDS), which G1 maps.",
			   size_format(c->archive_bytes, bytes));
		add_line(f, &o);
	}
	strbuf_free(&o);
	return f;
}

static int print(const struct pool_check_report *r, struct findings *f, const char *sentence,
		 FILE *out)
{
	const struct findings_view view = {
		.indent = 2, .gap = true, .top = r->top, .noun = "collections"};
	int err;

	print_text(out, "OBJECTS %s\n", r->log_name);
	heap_words_sentence(sentence, out);
	err = findings_to_text(f, &view, out);
	return err ? err : heap_words_list("NOT COMPARED", not_compared(r), out);
}

static json_t *number(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

static int write_json(const struct pool_check_report *r, const struct findings *f,
		      const char *sentence, FILE *out)
{
	json_t *o = json_object();
	int err;

	json_put(&o, "file", json_string(r->log_name));
	json_put(&o, "sentence", json_string(sentence));
	json_put(&o, "collections", number(r->check->count));
	for (int i = 0; i < POOL_VERDICT_COUNT; i++)
		json_put(&o, verdict_names[i], number(r->check->verdicts[i]));
	json_put(&o, "exact", number(r->check->exact));
	json_put(&o, "most_more_bytes", number(r->check->most_more));
	json_put(&o, "archive_bytes", number(r->check->archive_bytes));
	json_put(&o, "rows", findings_to_json(f));
	json_put(&o, "not_compared", findings_take_json(not_compared(r)));
	err = o ? json_dump_write(o, out) : -ENOMEM;
	json_decref(o);
	return err;
}

int heap_report_pool_check(const struct pool_check_report *r, FILE *out)
{
	struct findings *f = rows(r);
	struct strbuf words = {0};
	int err;

	if (!f)
		return -ENOMEM;
	add_sentence(r->check, &words);
	err = f->err ? f->err : words.err;
	if (!err && r->format == HEAP_TEXT)
		err = print(r, f, strbuf_text(&words), out);
	else if (!err && r->format == HEAP_CSV)
		err = findings_to_csv(f, true, out);
	else if (!err)
		err = write_json(r, f, strbuf_text(&words), out);
	findings_free(f);
	strbuf_free(&words);
	return err;
}
