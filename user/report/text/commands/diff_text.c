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

static int print_likeness(const struct diff_input *in, FILE *out)
{
	struct call_likeness w = diff_likeness(in, false), o = diff_likeness(in, true);

	if (!in->before->waiters.count && !in->after->waiters.count)
		return 0;
	fputs("\nCALL CHAINS, how alike they are\n", out);
	print_text(out,
		   "  of waiters  overlap %.1f %%, hot edges before that are hot after %.0f "
		   "%%, and the other way round %.0f %%\n",
		   100 * w.overlap, 100 * w.hot_before, 100 * w.hot_after);
	print_text(out,
		   "  of holders  overlap %.1f %%, hot edges before that are hot after %.0f "
		   "%%, and the other way round %.0f %%\n",
		   100 * o.overlap, 100 * o.hot_before, 100 * o.hot_after);
	return 0;
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
	err = err ? err : print_likeness(in, out);
	return err ? err : print_not_known(in, out);
}
