#include <errno.h>

#include "base/text/print.h"
#include "base/text/strbuf.h"
#include "report/model/diff/diff_report.h"
#include "report/text/findings_text.h"
#include "report/text/text_report.h"

static int print_sentence(const struct diff_input *in, FILE *out,
			  void (*add)(const struct diff_input *, struct strbuf *))
{
	struct strbuf text = {0};
	int err;

	add(in, &text);
	err = text.err;
	if (!err && text.used) {
		fputs("=>", out);
		text_words(out, 3, strbuf_text(&text));
	}
	strbuf_free(&text);
	return err;
}

static int print_part(const struct diff_input *in, enum measure_part part, FILE *out)
{
	const struct findings_view view = {.indent = 2, .top = in->top, .noun = "rows"};
	unsigned hidden;
	struct findings *f = diff_section_rows(in, part, &hidden);
	bool any = f && findings_has_rows(f, FINDINGS_PEOPLE);
	int err = f ? 0 : -ENOMEM;

	if (any || hidden)
		print_text(out, "\n%s%s%s, %s\n", diff_part_title(part),
			   part == MEASURE_BY ? " " : "", part == MEASURE_BY ? in->by : "",
			   part == MEASURE_SPAN_TIMES ? "each" : diff_unit(in));
	if (any)
		err = findings_to_text(f, &view, out);
	if (hidden)
		print_text(out, "  %s%u row%s without a difference that stands out (--all)\n",
			   any ? "and " : "", hidden, hidden == 1 ? "" : "s");
	findings_free(f);
	return err;
}

static void print_measure(FILE *out, const char *what, const struct call_measure *m,
			  enum call_basis basis)
{
	print_text(out, "%s %.1f %%", what, 100 * m->value);
	if (basis)
		print_text(out, " (by chance %.1f, seldom below %.1f)", 100 * m->expected,
			   100 * m->least);
}

static void print_consistency(FILE *out, const char *side, const struct call_consistency *c)
{
	if (!c->basis)
		return;
	print_text(out, "    each of %s, and their average", side);
	print_measure(out, ": overlap", &c->overlap, c->basis);
	print_text(out, ", lowest %.1f %%", 100 * c->lowest_overlap);
	fputc('\n', out);
	print_measure(out, "      hot edges of one that are hot in the average", &c->hot, c->basis);
	print_text(out, ", lowest %.1f %%", 100 * c->lowest_hot);
	fputc('\n', out);
}

static int print_agreement(const struct diff_input *in, enum diff_chains kind, FILE *out)
{
	struct call_agreement a;
	int err = diff_chains_agreement(in, kind, &a);

	if (err)
		return err;
	print_text(out, "  %s%s", diff_chains_title(kind),
		   !a.basis    ? ": what chance does is not known"
		   : a.differs ? ": they differ"
			       : ": no difference that stands out");
	fputc('\n', out);
	print_measure(out, "    overlap", &a.overlap, a.basis);
	fputc('\n', out);
	print_measure(out, "    hot edges of before that are hot after", &a.hot_before, a.basis);
	fputc('\n', out);
	print_measure(out, "    hot edges of after that were hot before", &a.hot_after, a.basis);
	fputc('\n', out);
	print_consistency(out, "before", &a.before);
	print_consistency(out, "after", &a.after);
	return 0;
}

static int print_chains(const struct diff_input *in, FILE *out)
{
	bool any = false;
	int err = 0;

	for (int kind = 0; kind < DIFF_CHAINS_COUNT && !err; kind++) {
		if (!diff_chains_are_there(in, kind))
			continue;
		if (!any)
			fputs("\nCALL CHAINS, how alike they are\n", out);
		any = true;
		err = print_agreement(in, kind, out);
	}
	return err;
}

static int print_not_known(const struct diff_input *in, FILE *out)
{
	struct findings *f = diff_section_not_known(in);
	int err = f ? f->err : -ENOMEM;

	if (!err && f->row_count)
		fputs("\nNOT KNOWN\n", out);
	for (uint32_t i = 0; !err && i < f->row_count; i++) {
		fputc(' ', out);
		text_words(out, 2, findings_cell(f, i, 0)->text);
	}
	findings_free(f);
	return err;
}

static int print_logs(const struct diff_input *in, FILE *out)
{
	static const struct findings_view view = {.indent = 2};
	struct findings *f = diff_section_logs(in);
	int err;

	fputs("COMPARED\n", out);
	err = findings_to_text(f, &view, out);
	findings_free(f);
	return err;
}

int report_diff_text(const struct diff_input *in, FILE *out)
{
	int err = print_logs(in, out);

	fputc('\n', out);
	err = err ? err : print_sentence(in, out, diff_sentence_blocked);
	err = err ? err : print_sentence(in, out, diff_sentence_other);
	for (int part = 0; part < MEASURE_PART_COUNT && !err; part++)
		err = print_part(in, part, out);
	err = err ? err : print_chains(in, out);
	return err ? err : print_not_known(in, out);
}
