#include "report/heap/heap_words.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "base/text/format.h"
#include "base/text/json_put.h"
#include "base/text/print.h"
#include "base/text/strbuf.h"
#include "heap/state/heap_state.h"
#include "report/heap/heap_agreement.h"
#include "report/model/findings.h"
#include "report/text/text_report.h"

#define TIME_MAX 32

char *heap_words_moment(uint64_t at_ns, uint64_t early_ns, char buf[HEAP_MOMENT_MAX])
{
	char early[FORMAT_MAX];

	*buf = '\0';
	if (!at_ns)
		return buf;
	buffer_add(buf, HEAP_MOMENT_MAX, " (%.1f s", (double)at_ns / NS_PER_S);
	if (early_ns)
		buffer_add(buf, HEAP_MOMENT_MAX, ", %s before the time asked for",
			   time_format(early_ns, early));
	buffer_add(buf, HEAP_MOMENT_MAX, ")");
	return buf;
}

void heap_words_head(const struct heap_source *s, FILE *out)
{
	time_t seconds = (time_t)(s->result->taken_ms / 1000);
	char text[TIME_MAX] = "", moment[HEAP_MOMENT_MAX];
	struct tm tm;

	heap_agreement_first(s->agreement, s->name, out);
	if (!s->state->is_log && localtime_r(&seconds, &tm))
		strftime(text, sizeof(text), ", of %Y-%m-%d %H:%M:%S", &tm);
	if (s->state->at_gc)
		print_text(out, "HEAP %s, at the %s of GC %" PRIu64 "%s", s->name,
			   s->state->before_gc ? "begin" : "end", s->state->gc,
			   heap_words_moment(s->state->at_ns, s->state->early_ns, moment));
	else
		print_text(out, "HEAP %s%s", s->name,
			   s->state->is_log ? ", at the log's end" : text);
	heap_agreement_head(s->agreement, out);
}

void heap_words_sentence(const char *text, FILE *out)
{
	fputs("=>", out);
	text_words(out, 3, text);
}

static void add_sizes(const struct heap_state *s, struct strbuf *o)
{
	const struct heap_layout *l = &s->layout;
	char agree[FORMAT_MAX], compared[FORMAT_MAX];

	strbuf_add(o,
		   "Sizes are inferred, as a dump has none: headers of %u bytes, references of "
		   "%u, objects aligned to %u. ",
		   l->header_bytes, l->reference_bytes, l->alignment);
	if (l->compared)
		strbuf_add(o, "Of %s classes, %s end exactly where the next object begins.",
			   count_format(l->compared, compared), count_format(l->agree, agree));
	else
		strbuf_add(o, "No distance between objects confirms them.");
}

static void add_row(struct findings *f, struct strbuf *o)
{
	findings_row(f, FINDINGS_ALL);
	findings_text(f, o->err ? NULL : strbuf_text(o), NULL);
	if (o->err && !f->err)
		f->err = o->err;
	strbuf_clear(o);
}

static void add_damage(struct findings *f, const struct heap_source *s, struct strbuf *o)
{
	char count[FORMAT_MAX];

	if (*s->result->what) {
		strbuf_add(o, "What comes after byte %s: %s.",
			   count_format(s->result->offset, count), s->result->what);
		add_row(f, o);
	}
	if (s->state->without_class) {
		strbuf_add(o, "The fields of %s objects: the dump does not describe their class.",
			   count_format(s->state->without_class, count));
		add_row(f, o);
	}
	if (s->result->bad_instances) {
		strbuf_add(o,
			   "The fields of %s objects: they have another length than their class "
			   "gives them.",
			   count_format(s->result->bad_instances, count));
		add_row(f, o);
	}
	if (s->state->objects.unresolved) {
		strbuf_add(o, "Where %s references go: the dump has no object there.",
			   count_format(s->state->objects.unresolved, count));
		add_row(f, o);
	}
}

struct findings *heap_words_not_known(const struct heap_source *s)
{
	static const struct findings_column columns[] = {{.title = ""}};
	struct findings *f = FINDINGS_NEW(columns);
	struct strbuf o = {0};

	if (!f)
		return NULL;
	add_damage(f, s, &o);
	if (s->state->is_log) {
		if (!s->state->has_graph)
			strbuf_add(&o,
				   "What objects refer to, and who keeps them: pointers were not "
				   "recorded at this moment, or not asked for. ");
		strbuf_add(&o, "Of what no collection has looked at, whether it is still in use.");
		add_row(f, &o);
		if (s->callers) {
			strbuf_add(&o, "%s", s->callers);
			add_row(f, &o);
		}
		strbuf_free(&o);
		return f;
	}
	add_sizes(s->state, &o);
	add_row(f, &o);
	strbuf_add(&o, "Where, when and by which thread objects were allocated: a dump does not "
		       "have that.");
	add_row(f, &o);
	strbuf_free(&o);
	return f;
}

int heap_words_list(const char *title, struct findings *f, FILE *out)
{
	int err = f ? f->err : -ENOMEM;

	if (!err && f->row_count)
		print_text(out, "\n%s\n", title);
	for (uint32_t i = 0; !err && i < f->row_count; i++) {
		fputc(' ', out);
		text_words(out, 2, findings_cell(f, i, 0)->text);
	}
	findings_free(f);
	return err;
}

static json_t *number(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

json_t *heap_words_state_json(const struct heap_source *s)
{
	const struct heap_layout *l = &s->state->layout;
	json_t *o = json_object(), *sizes = json_object(), *damage = NULL;

	json_put(&sizes, "confidence", json_string("inferred"));
	json_put(&sizes, "header_bytes", number(l->header_bytes));
	json_put(&sizes, "array_header_bytes", number(l->array_header_bytes));
	json_put(&sizes, "reference_bytes", number(l->reference_bytes));
	json_put(&sizes, "alignment", number(l->alignment));
	json_put(&sizes, "compared", number(l->compared));
	json_put(&sizes, "agree", number(l->agree));
	json_put(&o, "file", json_string(s->name));
	json_put(&o, "taken_ms", number(s->result->taken_ms));
	if (s->state->at_gc) {
		json_put(&o, "gc", number(s->state->gc));
		json_put(&o, "moment", json_string(s->state->before_gc ? "gc_begin" : "gc_end"));
		json_put(&o, "time_ns", number(s->state->at_ns));
		json_put(&o, "distance_ns", number(s->state->early_ns));
	}
	json_put(&o, "objects", number(s->state->object_count));
	json_put(&o, "bytes", number(s->state->bytes));
	if (s->agreement)
		json_put(&o, "collections", heap_agreement_json(s->agreement));
	if (s->state->is_log)
		json_put(&sizes, "confidence", json_string("recorded"));
	json_put(&o, "sizes", sizes);
	if (*s->result->what) {
		damage = json_object();
		json_put(&damage, "offset", number(s->result->offset));
		json_put(&damage, "what", json_string(s->result->what));
		json_put(&o, "damage", damage);
	} else {
		json_put(&o, "damage", json_null());
	}
	return o;
}
