#include <errno.h>

#include "base/text/format.h"
#include "base/text/print.h"
#include "base/text/strbuf.h"
#include "log/format/header_fields.h"
#include "report/model/sections/commands/gc_report.h"
#include "report/model/sections/sections.h"
#include "report/text/commands/gc_chart.h"
#include "report/text/findings_text.h"
#include "report/text/text_report.h"

#define ROWS_SHOWN 20

struct out {
	const struct gc_model *m;
	const struct section_input *section;
	FILE *to;
};

static int print_sentence(const struct out *o,
			  void (*add)(const struct gc_model *, struct strbuf *))
{
	struct strbuf text = {0};
	int err;

	add(o->m, &text);
	err = text.err;
	if (!err && text.used) {
		fputs("=>", o->to);
		text_words(o->to, 3, strbuf_text(&text));
	}
	strbuf_free(&text);
	return err;
}

static int print_sentences(const struct out *o)
{
	int err = print_sentence(o, gc_sentence_pauses);

	if (!err)
		err = print_sentence(o, gc_sentence_kept);
	if (!err)
		err = print_sentence(o, gc_sentence_heap);
	return err ? err : print_sentence(o, gc_sentence_rate);
}

static int print_table(const struct out *o, struct findings *f, const struct findings_view *v)
{
	int err = findings_to_text(f, v, o->to);

	findings_free(f);
	return err;
}

static int print_causes(const struct out *o)
{
	const struct findings_view view = {
		.indent = 2, .top = ROWS_SHOWN, .sort = "total_ns", .noun = "causes"};

	if (!o->m->sums.group_count)
		return 0;
	fputs("\nCOLLECTIONS by cause", o->to);
	if (o->m->sums.cycles)
		fputs("; in a cycle the application runs, but for its pauses", o->to);
	fputc('\n', o->to);
	return print_table(o, gc_section_causes(o->section, o->m), &view);
}

static int print_pauses(const struct out *o)
{
	const struct gc_quantiles *q = &o->m->sums.quantiles;
	const struct findings_view view = {.indent = 2};
	char p50[FORMAT_MAX], p90[FORMAT_MAX], p99[FORMAT_MAX], p999[FORMAT_MAX], max[FORMAT_MAX];

	if (!o->m->sums.pauses.count)
		return 0;
	print_text(o->to, "\nPAUSES, the longest: p50 %s, p90 %s, p99 %s, p99.9 %s, max %s\n",
		   time_format(q->p50_ns, p50), time_format(q->p90_ns, p90),
		   time_format(q->p99_ns, p99), time_format(q->p999_ns, p999),
		   time_format(o->m->sums.pauses.max_ns, max));
	return print_table(o, gc_section_longest(o->section, o->m), &view);
}

static int print_not_known(const struct out *o)
{
	struct findings *f = gc_section_not_known(o->m);
	int err = f ? f->err : -ENOMEM;

	if (!err && f->row_count)
		fputs("\nNOT KNOWN\n", o->to);
	for (uint32_t i = 0; !err && i < f->row_count; i++) {
		fputc(' ', o->to);
		text_words(o->to, 2, findings_cell(f, i, 0)->text);
	}
	findings_free(f);
	return err;
}

static void print_head(const struct out *o)
{
	const char *collector = header_collector(o->m->in->in->log->header);
	char time[FORMAT_MAX];

	print_text(o->to, "GC%s%s, %s\n", *collector ? " " : "", collector,
		   time_format(o->m->duration_ns, time));
}

static int print(const struct out *o)
{
	int err;

	print_head(o);
	err = print_sentences(o);
	/* Who asks for the pauses has them in the first lines. */
	if (!err && !o->m->in->pauses)
		err = gc_chart_print(o->m, o->to);
	if (!err)
		err = print_causes(o);
	if (!err && o->m->in->pauses)
		err = print_pauses(o);
	if (!err && o->m->in->pauses)
		err = gc_chart_print(o->m, o->to);
	return err ? err : print_not_known(o);
}

int report_gc_text(const struct gc_input *in, FILE *out)
{
	struct section_input section;
	struct gc_model m;
	int err = section_open(in->in, &section);

	if (err)
		return err;
	err = gc_model_make(in, &m);
	if (!err) {
		err = print(&(struct out){.m = &m, .section = &section, .to = out});
		gc_model_free(&m);
	}
	section_close(&section);
	return err;
}
