#include "report/web/page_findings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/print.h"
#include "report/model/findings.h"
#include "report/model/label.h"

/* Columns that people do not see are there without a title: others are made of them. */
static void column_write(const struct findings_column *c, FILE *out)
{
	static const char *const units[FINDINGS_UNIT_COUNT] = {
		"text", "number", "integer", "count", "ns", "bytes", "more_ns", "bool", "rows"};
	static const char *const shows[FINDINGS_SHOW_COUNT] = {"value", "share", "mean", "from_to"};

	print_json(out, "{\"unit\":%s,\"show\":%s", units[c->unit], shows[c->show]);
	fprintf(out, ",\"of\":%d,\"per\":%d", c->of, c->per);
	if (c->key)
		print_json(out, ",\"key\":%s", c->key);
	if (c->group)
		print_json(out, ",\"group\":%s", c->group);
	if (c->title)
		print_json(out, ",\"title\":%s", c->title);
	if (c->meaning)
		print_json(out, ",\"meaning\":%s", c->meaning);
	if (c->views)
		fprintf(out, ",\"views\":%u", c->views);
	if (c->flags & FINDINGS_IF_ANY)
		fputs(",\"if_any\":true", out);
	if (c->flags & FINDINGS_NO_ZERO)
		fputs(",\"no_zero\":true", out);
	fputc('}', out);
}

static void table_write(const struct findings *f, bool within, const uint32_t *rows, FILE *out);

/* As people see it; the name of one thing as it is called everywhere else. */
static void text_write(const struct findings_column *c, const char *text, FILE *out)
{
	size_t size = (size_t)print_buffer((char[1]){0}, 1, "%s", text) + 1;
	char label[LABEL_MAX], *whole = NULL;

	if (size > LABEL_MAX && c->key && strcmp(c->key, "name"))
		whole = malloc(size);
	if (whole)
		print_buffer(whole, size, "%s", text);
	print_json_string(out, whole ? whole : label_clean(text, label));
	free(whole);
}

/* null; the value; or the value and what people see in its place. within: rows within
 * rows are a table. */
static void cell_write(const struct findings_column *c, const struct findings_cell *cell,
		       bool within, FILE *out)
{
	bool is_text = c->unit == FINDINGS_TEXT;

	if (cell->label)
		fputc('[', out);
	if (!cell->known || (is_text && !cell->text))
		fputs("null", out);
	else if (c->unit == FINDINGS_ROWS && (!within || !cell->rows || !cell->rows->row_count))
		fputs("null", out);
	else if (c->unit == FINDINGS_ROWS)
		table_write(cell->rows, within, NULL, out);
	else if (is_text)
		text_write(c, cell->text, out);
	else if (c->unit == FINDINGS_INTEGER || c->unit == FINDINGS_MORE_NS)
		fprintf(out, "%" PRId64, (int64_t)cell->number);
	else
		fprintf(out, "%" PRIu64, cell->number);
	if (cell->label) {
		fputc(',', out);
		print_json_string(out, cell->label);
		fputc(']', out);
	}
}

/* The rows of a table by a column's values, largest first; equal ones as they are. */
struct order {
	const struct findings *f;
	unsigned column;
};

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct order *o = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t left = findings_cell(o->f, x, o->column)->number,
		 right = findings_cell(o->f, y, o->column)->number;

	return left != right ? (left < right ? 1 : -1) : (x > y) - (x < y);
}

static void sort_rows(const struct findings *f, const char *key, uint32_t *rows)
{
	struct order o = {.f = f};

	while (o.column < f->column_count &&
	       (!f->columns[o.column].key || strcmp(f->columns[o.column].key, key)))
		o.column++;
	if (o.column < f->column_count)
		qsort_r(rows, f->row_count, sizeof(*rows), compare_rows, &o);
}

/* rows: their order; NULL: as they are. */
static void rows_write(const struct findings *f, bool within, const uint32_t *rows, FILE *out)
{
	uint32_t shown = 0, left = 0;

	fputs(",\"rows\":[", out);
	for (uint32_t i = 0; i < f->row_count; i++) {
		uint32_t row = rows ? rows[i] : i;

		if (f->readers[row] == FINDINGS_PROGRAMS)
			continue;
		if (shown == PAGE_ROWS_MAX) {
			left++;
			continue;
		}
		fputs(shown++ ? ",[" : "[", out);
		for (unsigned k = 0; k < f->column_count; k++) {
			if (k)
				fputc(',', out);
			cell_write(&f->columns[k], findings_cell(f, row, k), within, out);
		}
		fputc(']', out);
	}
	fprintf(out, "],\"left\":%" PRIu32, left);
}

/* By column, of all rows, also of those that are not in the page. */
static void sums_write(const struct findings *f, FILE *out)
{
	fputs(",\"sums\":[", out);
	for (unsigned i = 0; i < f->column_count; i++) {
		bool is_number = f->columns[i].unit == FINDINGS_BYTES ||
				 f->columns[i].unit == FINDINGS_COUNT ||
				 f->columns[i].unit == FINDINGS_NS;

		if (i)
			fputc(',', out);
		fprintf(out, "%" PRIu64,
			is_number && !findings_is_derived(&f->columns[i]) ? findings_sum(f, i) : 0);
	}
	fputc(']', out);
}

static void table_write(const struct findings *f, bool within, const uint32_t *rows, FILE *out)
{
	fputs("{\"columns\":[", out);
	for (unsigned i = 0; i < f->column_count; i++) {
		if (i)
			fputc(',', out);
		column_write(&f->columns[i], out);
	}
	fputc(']', out);
	if (f->title)
		print_json(out, ",\"title\":%s", f->title);
	rows_write(f, within, rows, out);
	if (rows)
		sums_write(f, out);
	fputc('}', out);
}

int page_findings_take(struct findings *f, FILE *out)
{
	int err = f ? f->err : -ENOMEM;

	if (!err)
		table_write(f, false, NULL, out);
	findings_free(f);
	return err;
}

int page_findings_take_within(struct findings *f, FILE *out)
{
	int err = f ? f->err : -ENOMEM;

	if (!err)
		table_write(f, true, NULL, out);
	findings_free(f);
	return err;
}

int page_findings_take_sorted(struct findings *f, const char *key, FILE *out)
{
	uint32_t *rows = f ? malloc((f->row_count + 1ul) * sizeof(*rows)) : NULL;
	int err = f && f->err ? f->err : rows ? 0 : -ENOMEM;

	if (!err) {
		for (uint32_t i = 0; i < f->row_count; i++)
			rows[i] = i;
		sort_rows(f, key, rows);
		table_write(f, false, rows, out);
	}
	free(rows);
	findings_free(f);
	return err;
}
