#include "report/heap/heap_check_report.h"

#include <errno.h>
#include <inttypes.h>

#include "base/text/format.h"
#include "base/text/json_put.h"
#include "base/text/print.h"
#include "base/text/strbuf.h"
#include "heap/graph/heap_graph.h"
#include "heap/replay/object_replay.h"
#include "heap/state/heap_state.h"
#include "report/csv/findings_csv.h"
#include "report/heap/heap_words.h"
#include "report/json/findings_json.h"
#include "report/json/json_out.h"
#include "report/model/findings.h"
#include "report/text/findings_text.h"

#define CLASS_TEXT_MAX 4200

static const char *const kind_names[CHECK_KIND_COUNT] = {
	[CHECK_OTHER_CLASS] = "other_class",   [CHECK_OTHER_LENGTH] = "other_length",
	[CHECK_ONLY_LOG] = "only_log",         [CHECK_ONLY_DUMP] = "only_dump",
	[CHECK_CLASS_OBJECT] = "class_object", [CHECK_FILLER] = "filler",
	[CHECK_ARCHIVED] = "archived", [CHECK_ARCHIVED_DEAD] = "archived_dead",
};

static const char *const kind_words[CHECK_DIFFERENCES] = {
	[CHECK_OTHER_CLASS] = "another class",
	[CHECK_OTHER_LENGTH] = "another length",
	[CHECK_ONLY_LOG] = "only in the log",
	[CHECK_ONLY_DUMP] = "only in the dump",
};

static const struct findings_column columns[] = {
	{.key = "address", .title = "Address"},
	{.key = "difference", .title = "Difference"},
	{.key = "log_class", .title = "Class in the log", .flags = FINDINGS_TAIL},
	{.key = "dump_class", .title = "in the dump", .flags = FINDINGS_TAIL},
	{.key = "log_length", .title = "Length in the log", .unit = FINDINGS_NUMBER},
	{.key = "dump_length", .title = "in the dump", .unit = FINDINGS_NUMBER},
};

static void add_example(struct findings *f, const struct heap_check_report *r,
			const struct heap_check_example *e)
{
	const struct object_names *names = object_replay_names(r->log);
	bool in_log = e->kind != CHECK_ONLY_DUMP, in_dump = e->kind != CHECK_ONLY_LOG;
	char text[CLASS_TEXT_MAX];

	findings_row(f, FINDINGS_ALL);
	snprintf(text, sizeof(text), "0x%" PRIx64, e->address);
	findings_text(f, text, NULL);
	findings_text(f, kind_names[e->kind], kind_words[e->kind]);
	findings_text(f, in_log ? object_class_text(names, e->class, text, sizeof(text)) : NULL,
		      NULL);
	findings_text(f,
		      in_dump && e->type != HEAP_NONE
			      ? heap_type_name(&r->dump.state->types, e->type)
			      : NULL,
		      NULL);
	findings_maybe(f, in_log && object_names_is_array(names, e->class), e->log_length);
	findings_maybe(f,
		       in_dump && e->type != HEAP_NONE &&
			       r->dump.state->types.all[e->type].kind != HEAP_INSTANCE,
		       e->dump_length);
}

static void add_moment(const struct heap_check_report *r, struct strbuf *o)
{
	uint32_t count;
	const struct object_collection *c = object_replay_collections(r->log, &count);

	if (!r->has_collection) {
		strbuf_add(o, "at the log's end");
		return;
	}
	c += r->collection;
	strbuf_add(o, "at the %s of collection %" PRIu64 " (%s, %s)", r->before ? "begin" : "end",
		   c->id, c->collector, c->cause);
}

static void add_graph_sentence(const struct graph_check *g, struct strbuf *o)
{
	uint64_t n = graph_check_differences(g);
	char a[FORMAT_MAX], b[FORMAT_MAX], d[FORMAT_MAX];

	if (n)
		strbuf_add(o, " %s differences of references and roots:", count_format(n, a));
	else
		strbuf_add(o, " Nor of references:");
	for (int i = 0; n && i < GRAPH_CHECK_KIND_COUNT; i++)
		if (g->kinds[i])
			strbuf_add(o, " %s %s (the first: 0x%" PRIx64 "),",
				   count_format(g->kinds[i], a), graph_check_name(i),
				   g->example[i]);
	strbuf_add(o, " of %s objects with %s references, and %s roots.",
		   count_format(g->objects, a), count_format(g->refs, b),
		   count_format(g->roots, d));
}

static void add_sentence(const struct heap_check_report *r, struct strbuf *o)
{
	const struct heap_check *c = r->check;
	uint64_t n = heap_check_differences(c);
	char a[FORMAT_MAX], b[FORMAT_MAX], d[FORMAT_MAX];

	if (!n)
		strbuf_add(o, "No difference: %s objects of the log ", count_format(c->equal, a));
	else
		strbuf_add(o, "%s differences: of %s objects of the log and %s of the dump, ",
			   count_format(n, a), count_format(c->log_objects, b),
			   count_format(c->dump_objects, d));
	if (n)
		strbuf_add(o, "%s ", count_format(c->equal, a));
	strbuf_add(o, "are at the same address, of the same class and length as in the dump, ");
	add_moment(r, o);
	strbuf_add(o, ".");
	if (r->graph)
		add_graph_sentence(r->graph, o);
}

static void add_line(struct findings *f, uint64_t n, const char *what, struct strbuf *o)
{
	char count[FORMAT_MAX];

	if (!n)
		return;
	strbuf_add(o, "%s %s", count_format(n, count), what);
	findings_row(f, FINDINGS_ALL);
	findings_text(f, o->err ? NULL : strbuf_text(o), NULL);
	if (o->err && !f->err)
		f->err = o->err;
	strbuf_clear(o);
}

static struct findings *not_compared(const struct heap_check_report *r)
{
	static const struct findings_column line[] = {{.title = ""}};
	struct findings *f = FINDINGS_NEW(line);
	const struct object_sums *s = object_replay_sums(r->log);
	const struct heap_check *c = r->check;
	struct strbuf o = {0};

	if (!f)
		return NULL;
	add_line(f, c->kinds[CHECK_ARCHIVED],
		 "objects of the dump are in regions where the log has none: those of an archive "
		 "of classes (CDS), which G1 maps.",
		 &o);
	add_line(f, c->kinds[CHECK_ARCHIVED_DEAD],
		 "objects of the log are dead, in an archive of classes (CDS): the full collection "
		 "has left their region out, and the dump, which has all that is reachable, does "
		 "not have them.",
		 &o);
	add_line(f, c->kinds[CHECK_FILLER],
		 "objects of the dump are int[] or java.lang.Object that the log does not have and "
		 "nothing refers to: fillers of collectors.",
		 &o);
	add_line(f, c->kinds[CHECK_CLASS_OBJECT],
		 "java.lang.Class of the log are not in the dump, which has those of wholly loaded "
		 "classes only.",
		 &o);
	add_line(f, c->other_size,
		 "objects are larger or smaller in the log than the layout says that is inferred "
		 "from the dump, which has no sizes.",
		 &o);
	add_line(f, s->gaps + s->holes, "parts of the log's events are missing.", &o);
	add_line(f, s->incomplete_now ? s->incomplete : 0,
		 "collections are incomplete, as events were lost: objects may be missing after "
		 "them.",
		 &o);
	add_line(f, s->unknown_moves, "moves are of objects that the log does not know.", &o);
	add_line(f, s->no_place, "objects of the log have no known address.", &o);
	strbuf_free(&o);
	return f;
}

static int print(const struct heap_check_report *r, struct findings *f, const char *sentence,
		 FILE *out)
{
	const struct findings_view view = {
		.indent = 2, .gap = true, .top = r->top, .noun = "differences"};
	int err;

	print_text(out, "OBJECTS %s\n", r->log_name);
	heap_words_head(&r->dump, out);
	heap_words_sentence(sentence, out);
	err = findings_to_text(f, &view, out);
	return err ? err : heap_words_list("NOT COMPARED", not_compared(r), out);
}

static json_t *number(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

static json_t *graph_json(const struct graph_check *g)
{
	json_t *o = json_object(), *log = json_object(), *more = json_object();

	json_put(&o, "objects", number(g->objects));
	json_put(&o, "references", number(g->refs));
	json_put(&o, "roots", number(g->roots));
	json_put(&o, "differences", number(graph_check_differences(g)));
	for (int i = 0; i < GRAPH_CHECK_KIND_COUNT; i++)
		json_put(&o, graph_check_name(i), number(g->kinds[i]));
	for (unsigned i = 0; i < HEAP_ROOT_KIND_COUNT; i++) {
		json_put(&log, heap_root_kind_name(i), number(g->log_roots[i]));
		json_put(&more, heap_root_kind_name(i), number(g->more_roots[i]));
	}
	json_put(&o, "log_roots", log);
	json_put(&o, "only_log_roots", more);
	json_put(&o, "local_variables", number(g->frames));
	json_put(&o, "in_other_frames", number(g->other_frames));
	return o;
}

static int write_json(const struct heap_check_report *r, const struct findings *f,
		      const char *sentence, FILE *out)
{
	const struct heap_check *c = r->check;
	json_t *o = json_object();
	uint32_t count;
	const struct object_collection *all = object_replay_collections(r->log, &count);
	int err;

	json_put(&o, "dump", heap_words_state_json(&r->dump));
	json_put(&o, "sentence", json_string(sentence));
	if (r->has_collection)
		json_put(&o, "gc", number(all[r->collection].id));
	json_put(&o, "moment",
		 json_string(!r->has_collection ? "end_of_log"
			     : r->before        ? "gc_begin"
						: "gc_end"));
	json_put(&o, "incomplete",
		 json_boolean(object_replay_sums(r->log)->incomplete_now));
	json_put(&o, "differences", number(heap_check_differences(c)));
	json_put(&o, "log_objects", number(c->log_objects));
	json_put(&o, "dump_objects", number(c->dump_objects));
	json_put(&o, "equal", number(c->equal));
	for (int i = 0; i < CHECK_KIND_COUNT; i++)
		json_put(&o, kind_names[i], number(c->kinds[i]));
	json_put(&o, "other_size", number(c->other_size));
	if (r->graph)
		json_put(&o, "graph", graph_json(r->graph));
	json_put(&o, "examples", findings_to_json(f));
	err = o ? json_dump_write(o, out) : -ENOMEM;
	json_decref(o);
	return err;
}

int heap_report_check(const struct heap_check_report *r, FILE *out)
{
	struct findings *f = FINDINGS_NEW(columns);
	struct strbuf words = {0};
	int err;

	if (!f)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->check->example_count; i++)
		add_example(f, r, &r->check->examples[i]);
	add_sentence(r, &words);
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
