/* The findings of spoor diff, and the cells of the other logs, which the page's code aligns by
 * their names. */
#include "report/web/page_compare.h"

#include <errno.h>
#include <inttypes.h>

#include "base/text/print.h"
#include "base/text/strbuf.h"
#include "report/model/diff/diff_report.h"
#include "report/model/findings.h"
#include "report/web/page_findings.h"

static int sentences_write(const struct diff_input *in, FILE *out)
{
	static void (*const all[])(const struct diff_input *,
				   struct strbuf *) = {diff_sentence_blocked, diff_sentence_other};
	unsigned n = 0;
	int err = 0;

	fputs(",\"sentences\":[", out);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all) && !err; i++) {
		struct strbuf text = {0};

		all[i](in, &text);
		err = text.err;
		if (!err && text.used) {
			fputs(n++ ? "," : "", out);
			print_json_string(out, strbuf_text(&text));
		}
		strbuf_free(&text);
	}
	fputc(']', out);
	return err;
}

/* What a side's sums are divided by: in all its logs. */
static void side_write(const struct diff_input *in, const char *name, const struct diff_side *s,
		       FILE *out)
{
	double per = 0, seconds = 0;

	for (unsigned i = 0; i < s->figures.count; i++) {
		per += measures_per(&s->figures.logs[i], in->comparison->per);
		seconds += measures_per(&s->figures.logs[i], MEASURE_PER_SECOND);
	}
	print_json(out, ",%s:", name);
	fprintf(out, "{\"logs\":%u,\"per\":%.17g,\"seconds\":%.17g}", s->figures.count, per,
		seconds);
}

/* The rows that stand out; and all, if those are not all. */
static int part_write(const struct diff_input *in, enum measure_part part, unsigned *count,
		      FILE *out)
{
	struct diff_input all = *in;
	struct findings *f;
	unsigned hidden, none;
	int err;

	all.all = true;
	f = diff_section_rows(&all, part, &none);
	if (!f || f->err || !findings_has_rows(f, FINDINGS_PEOPLE)) {
		err = f ? f->err : -ENOMEM;
		findings_free(f);
		return err;
	}
	fputs((*count)++ ? "," : "", out);
	print_json(out, "{\"part\":%s,\"title\":%s,\"unit\":%s,\"all\":", diff_part_name(part),
		   diff_part_title(part),
		   part == MEASURE_SPAN_TIMES ? "each" : diff_unit(in));
	err = page_findings_take(f, out);
	if (err)
		return err;
	f = diff_section_rows(in, part, &hidden);
	fprintf(out, ",\"hidden\":%u,\"rows\":", f ? hidden : 0);
	err = page_findings_take(f, out);
	fputc('}', out);
	return err;
}

static int parts_write(const struct diff_input *in, FILE *out)
{
	struct diff_input shown = *in;
	unsigned count = 0;
	int err = 0;

	shown.all = false;
	fputs(",\"parts\":[", out);
	for (int part = 0; part < MEASURE_PART_COUNT && !err; part++)
		err = part_write(&shown, part, &count, out);
	fputc(']', out);
	return err;
}

static void measure_write(const char *name, const struct call_measure *m, FILE *out)
{
	print_json(out, ",%s:", name);
	fprintf(out, "[%.17g,%.17g,%.17g]", m->value, m->expected, m->least);
}

/* How alike the call chains are: by kind whether they differ, and each measure with what chance
 * leaves of it. */
static int chains_write(const struct diff_input *in, FILE *out)
{
	unsigned count = 0;
	int err = 0;

	fputs(",\"call_chains\":[", out);
	for (int kind = 0; kind < DIFF_CHAINS_COUNT && !err; kind++) {
		struct call_agreement a;

		if (!diff_chains_are_there(in, kind))
			continue;
		err = diff_chains_agreement(in, kind, &a);
		if (err)
			break;
		fputs(count++ ? "," : "", out);
		print_json(out, "{\"kind\":%s,\"title\":%s,\"basis\":%s", diff_chains_name(kind),
			   diff_chains_title(kind), diff_basis_name(a.basis));
		fprintf(out, ",\"known\":%d,\"differs\":%d", a.basis != CALL_BASIS_NONE,
			a.differs);
		measure_write("overlap", &a.overlap, out);
		measure_write("hot_before", &a.hot_before, out);
		measure_write("hot_after", &a.hot_after, out);
		fputc('}', out);
	}
	fputc(']', out);
	return err;
}

static void other_write(const struct page_other *o, unsigned index, FILE *out)
{
	fputs(index ? ",{" : "{", out);
	fprintf(out, "\"after\":%d,\"data\":", o->after);
	fwrite(o->json, 1, o->size, out);
	fputc('}', out);
}

int page_compare_write(const struct page_compare *c, FILE *out)
{
	const struct diff_input *in = c->diff;
	int err;

	print_json(out, ",\"compare\":{\"per\":%s,\"unit\":%s,\"verdict\":%s,\"by\":%s",
		   diff_per_name(in->comparison->per), diff_unit(in),
		   diff_verdict_name(diff_verdict(in)), in->by ? in->by : "");
	side_write(in, "before", in->before, out);
	side_write(in, "after", in->after, out);
	err = sentences_write(in, out);
	fputs(",\"logs\":", out);
	err = err ? err : page_findings_take(diff_section_logs(in), out);
	fputs(",\"not_known\":", out);
	err = err ? err : page_findings_take(diff_section_not_known(in), out);
	err = err ? err : parts_write(in, out);
	err = err ? err : chains_write(in, out);
	fputs(",\"others\":[", out);
	for (unsigned i = 0; i < c->other_count; i++)
		other_write(&c->others[i], i, out);
	fputs("]}", out);
	return err;
}
