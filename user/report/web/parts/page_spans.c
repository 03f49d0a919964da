#include "report/web/parts/page_spans.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "report/model/findings.h"
#include "report/model/sections/commands/spans_report.h"
#include "report/model/sections/sections.h"
#include "report/web/page.h"
#include "report/web/parts/page_put.h"

#define FIRST_WINDOW_NS 1000000ull /* as of the page's own windows */

int page_spans_begin(struct page_spans *p, const struct log_names *names, uint64_t begin_ns)
{
	const struct spans_options o = {
		.names = names, .top = PAGE_SPANS_MAX, .ended = span_bins_add, .context = &p->bins};

	p->bins = (struct span_bins){.begin_ns = begin_ns, .length_ns = FIRST_WINDOW_NS};
	p->spans = spans_new(&o);
	return p->spans ? 0 : -ENOMEM;
}

void page_spans_free(struct page_spans *p)
{
	spans_free(p->spans);
	span_bins_free(&p->bins);
	p->spans = NULL;
}

static void facts_write(const struct page_spans *p, const struct section_input *in, FILE *out)
{
	struct spans_facts f = spans_facts(p->spans);

	fprintf(out, "\"facts\":{\"full\":%d", p->bins.full);
	page_put_number(out, "count", f.count);
	page_put_number(out, "begin_missing", f.begin_missing);
	page_put_number(out, "open", f.open);
	page_put_number(out, "too_deep", f.too_deep);
	page_put_number(out, "no_room", f.no_room);
	page_put_number(out, "states_error_ns", f.error_ns);
	page_put_number(out, "late_ns", f.late_ns);
	page_put_number(out, "lost", spans_lost(in->in));
	putc('}', out);
}

/* A bin, as the page has it. */
struct row {
	uint32_t name, from, to; /* a row of the table of names; the page's windows */
};

static void bins_write(const struct page_spans *p, const struct page_axis *axis, struct row *rows,
		       FILE *out)
{
	const struct span_bins *b = &p->bins;
	const struct page_rows of = {rows, sizeof(*rows), b->bin_map.count},
			       bins = {b->bins, sizeof(*b->bins), b->bin_map.count},
			       lengths = {b->lengths, sizeof(*b->lengths), b->length_map.count};
	const uint64_t many = axis->length_ns / b->length_ns;
	char key[32];

	for (uint32_t i = 0; i < of.count; i++)
		rows[i] = (struct row){b->bins[i].name->row, (uint32_t)(b->bins[i].from / many),
				       (uint32_t)(b->bins[i].to / many)};
	fputs(",\"bins\":{\"states\":", out);
	fprintf(out, "%d", STATE_COUNT);
	page_put_u32(out, "name", &of, offsetof(struct row, name));
	page_put_u32(out, "from", &of, offsetof(struct row, from));
	page_put_u32(out, "to", &of, offsetof(struct row, to));
	page_put_u64(out, "count", &bins, offsetof(struct span_bin, count));
	page_put_u64(out, "total_ns", &bins, offsetof(struct span_bin, total_ns));
	page_put_u64(out, "self_ns", &bins, offsetof(struct span_bin, self_ns));
	page_put_u64(out, "max_ns", &bins, offsetof(struct span_bin, max_ns));
	for (int i = 0; i < STATE_COUNT; i++) {
		snprintf(key, sizeof(key), "states.%s", state_name(i));
		page_put_u64(out, key, &bins, offsetof(struct span_bin, states.ns[i]));
		snprintf(key, sizeof(key), "self_states.%s", state_name(i));
		page_put_u64(out, key, &bins, offsetof(struct span_bin, self.ns[i]));
	}
	page_put_u32(out, "length_bin", &lengths, offsetof(struct span_length, bin));
	page_put_u32(out, "length_step", &lengths, offsetof(struct span_length, step));
	page_put_u64(out, "length_count", &lengths, offsetof(struct span_length, count));
	putc('}', out);
}

static int tables_write(const struct page_spans *p, const struct section_input *in, FILE *out)
{
	const struct span *const *spans;
	uint32_t count;
	int err = page_put_table(out, "names", spans_section_names(in, p->spans));

	err = err ? err : page_put_table(out, "blockers", spans_section_blockers(in, p->spans));
	spans = spans_slowest(p->spans, &count);
	err = err ? err
		  : page_put_table(out, "slowest", spans_section_list(in, spans, count, true));
	if (err)
		return err;
	spans = spans_open(p->spans, &count);
	return page_put_table(out, "still_open", spans_section_list(in, spans, count, false));
}

int page_spans_write(const struct page_spans *p, const struct section_input *in,
		     const struct page_axis *axis, FILE *out)
{
	struct spans_facts f = spans_facts(p->spans);
	struct row *rows;
	int err;

	if (!f.count && !f.open) {
		fputs("\"spans\":null", out);
		return 0;
	}
	rows = calloc(p->bins.bin_map.count + 1ul, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	fputs("\"spans\":{", out);
	facts_write(p, in, out);
	err = tables_write(p, in, out);
	if (!err && axis->length_ns && !p->bins.full)
		bins_write(p, axis, rows, out);
	putc('}', out);
	free(rows);
	return err;
}
