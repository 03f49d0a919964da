#include "report/csv/findings_csv.h"

#include <errno.h>
#include <inttypes.h>

#include "base/text/print.h"
#include "base/text/strbuf.h"
#include "report/model/findings.h"

static bool is_list(const struct findings_column *c)
{
	return c->unit == FINDINGS_ROWS && c->flags & FINDINGS_LIST;
}

static bool is_field(const struct findings_column *c)
{
	return c->key && !(c->flags & FINDINGS_NO_CSV) && (c->unit != FINDINGS_ROWS || is_list(c));
}

static int tree_column(const struct findings *f)
{
	for (unsigned i = 0; i < f->column_count; i++) {
		if (f->columns[i].flags & FINDINGS_TREE)
			return (int)i;
	}
	return -1;
}

static void head_print(const struct findings *f, FILE *out)
{
	const char *gap = tree_column(f) < 0 ? "" : ",";

	print_csv(out, *gap ? "level" : "");
	for (unsigned i = 0; i < f->column_count; i++) {
		const struct findings_column *c = &f->columns[i];

		if (!is_field(c))
			continue;
		if (c->group && !(c->flags & FINDINGS_PLAIN))
			print_csv(out, *gap ? ",%s.%s" : "%s.%s", c->group, c->key);
		else
			print_csv(out, *gap ? ",%s" : "%s", c->key);
		gap = ",";
	}
	fputc('\n', out);
}

static int list_print(const struct findings *list, FILE *out)
{
	struct strbuf text = {.most = 0};
	int err;

	for (uint32_t i = 0; i < list->row_count; i++)
		strbuf_add(&text, "%s%s", i ? "; " : "", findings_cell(list, i, 0)->text);
	err = text.err;
	if (!err)
		print_csv(out, "%s", strbuf_text(&text));
	strbuf_free(&text);
	return err;
}

static int cell_print(const struct findings_column *c, const struct findings_cell *cell, FILE *out)
{
	if (!cell->known)
		return 0;
	if (c->unit == FINDINGS_ROWS)
		return list_print(cell->rows, out);
	if (c->unit == FINDINGS_TEXT)
		print_csv(out, "%s", cell->text);
	else if (c->unit == FINDINGS_MORE_NS || c->unit == FINDINGS_INTEGER)
		fprintf(out, "%" PRId64, (int64_t)cell->number);
	else
		fprintf(out, "%" PRIu64, cell->number);
	return 0;
}

static int rows_print(const struct findings *f, unsigned level, FILE *out)
{
	int tree = tree_column(f), err = 0;

	for (uint32_t i = 0; i < f->row_count && !err; i++) {
		bool first = tree < 0;

		if (f->readers[i] == FINDINGS_PEOPLE)
			continue;
		if (tree >= 0)
			fprintf(out, "%u", level);
		for (unsigned k = 0; k < f->column_count && !err; k++) {
			if (!is_field(&f->columns[k]))
				continue;
			if (!first)
				fputc(',', out);
			first = false;
			err = cell_print(&f->columns[k], findings_cell(f, i, k), out);
		}
		fputc('\n', out);
		if (!err && tree >= 0 && findings_cell(f, i, (unsigned)tree)->known)
			err = rows_print(findings_cell(f, i, (unsigned)tree)->rows, level + 1, out);
	}
	return err;
}

int findings_to_csv(const struct findings *f, bool head, FILE *out)
{
	if (!f || f->err)
		return f ? f->err : -ENOMEM;
	if (head)
		head_print(f, out);
	return rows_print(f, 0, out);
}
