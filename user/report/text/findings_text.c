#include "report/text/findings_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/saturate.h"
#include "base/text/format.h"
#include "base/text/print.h"
#include "report/model/findings.h"
#include "report/text/table.h"

#define LEVEL_INDENT 2
#define LINE_INDENT 4 /* further lines of a label, more than its first one */
#define LEAST_NS 8
#define LEAST_SHARE 7

struct printer {
	const struct findings *f; /* the whole table */
	const struct findings_view *v;
	struct table_column *heads; /* of what is shown, and which columns of the table these are */
	unsigned *columns;
	unsigned count;
	uint64_t *sums; /* by column */
	struct table *table;
	uint32_t left; /* rows that REST_LINE is about */
};

/* --- which columns, which rows --- */

static bool is_for_people(const struct findings *f, uint32_t row)
{
	return f->readers[row] != FINDINGS_PROGRAMS;
}

static bool any(const struct findings *f, unsigned column)
{
	for (uint32_t i = 0; i < f->row_count; i++) {
		const struct findings_cell *cell = findings_cell(f, i, column);

		if (is_for_people(f, i) &&
		    (cell->label                                ? *cell->label != '\0'
		     : f->columns[column].unit == FINDINGS_TEXT ? cell->text && *cell->text
								: cell->known && cell->number))
			return true;
	}
	return false;
}

static bool is_shown(const struct printer *p, unsigned column)
{
	const struct findings_column *c = &p->f->columns[column];

	return c->title && !(c->flags & FINDINGS_TREE) && (!c->views || c->views & p->v->view) &&
	       (!(c->flags & FINDINGS_IF_ANY) ||
		any(p->f, findings_is_derived(c) ? column + (unsigned)c->of : column));
}

static unsigned column_least(const struct findings_column *c)
{
	if (c->least)
		return c->least;
	return c->show == FINDINGS_SHARE ? LEAST_SHARE : c->unit == FINDINGS_NS ? LEAST_NS : 0;
}

static void choose_columns(struct printer *p)
{
	for (unsigned i = 0; i < p->f->column_count; i++) {
		const struct findings_column *c = &p->f->columns[i];
		bool left = c->unit == FINDINGS_TEXT || c->unit == FINDINGS_ROWS;

		p->sums[i] = findings_sum(p->f, i);
		if (!is_shown(p, i))
			continue;
		p->heads[p->count] = (struct table_column){
			.title = c->title,
			.left = left || c->flags & FINDINGS_LEFT,
			.least = column_least(c),
			.most = c->most,
			.tail = c->flags & FINDINGS_TAIL,
		};
		p->columns[p->count++] = i;
	}
}

struct order {
	const struct findings *f;
	int column; /* -1: as they are */
	bool ascending;
};

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct order *o = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t of_x = 0, of_y = 0;

	if (o->column >= 0) {
		of_x = findings_cell(o->f, x, (unsigned)o->column)->number;
		of_y = findings_cell(o->f, y, (unsigned)o->column)->number;
	}
	if (of_x != of_y)
		return (of_x > of_y) == o->ascending ? 1 : -1;
	return (x > y) - (x < y);
}

static int sort_column(const struct printer *p)
{
	for (unsigned i = 0; p->v->sort && i < p->f->column_count; i++) {
		if (p->f->columns[i].key && !strcmp(p->f->columns[i].key, p->v->sort))
			return (int)i;
	}
	return -1;
}

/* Those for people, and of these those that are shown first. */
static uint32_t *sort_rows(const struct printer *p, const struct findings *f, uint32_t *ret_count,
			   uint32_t *ret_shown)
{
	uint32_t *rows = malloc((f->row_count + 1) * sizeof(*rows)), count = 0, shown;
	struct order o = {f, sort_column(p), p->v->ascending};

	for (uint32_t i = 0; i < f->row_count && rows; i++) {
		if (is_for_people(f, i))
			rows[count++] = i;
	}
	if (!rows)
		return NULL;
	qsort_r(rows, count, sizeof(*rows), compare_rows, &o);
	shown = p->v->top && p->v->top < count ? p->v->top : count;
	o.column = -1;
	if (p->v->in_order)
		qsort_r(rows, shown, sizeof(*rows), compare_rows, &o);
	*ret_count = count;
	*ret_shown = shown;
	return rows;
}

/* --- cells --- */

static const char *value_text(const struct findings_column *c, const struct findings_cell *cell,
			      char buf[FORMAT_MAX])
{
	int64_t more = (int64_t)cell->number;

	switch (c->unit) {
	case FINDINGS_TEXT:
		return cell->text;
	case FINDINGS_COUNT:
		return count_format(cell->number, buf);
	case FINDINGS_NS:
		return time_format(cell->number, buf);
	case FINDINGS_BYTES:
		return size_format(cell->number, buf);
	case FINDINGS_MORE_NS:
		*buf = '-';
		time_format(more < 0 ? -cell->number : cell->number, buf + (more < 0));
		return buf;
	case FINDINGS_INTEGER:
		snprintf(buf, FORMAT_MAX, "%" PRId64, more);
		return buf;
	case FINDINGS_BOOL:
		return cell->number ? "yes" : "no";
	default:
		snprintf(buf, FORMAT_MAX, "%" PRIu64, cell->number);
		return buf;
	}
}

/* cells are those of the row, and column is the one that is shown. */
static void made_add(const struct printer *p, const struct findings_cell *cells, unsigned column)
{
	const struct findings_column *c = &p->f->columns[column];
	const struct findings_cell *of = &cells[column + (unsigned)c->of],
				   *per = &cells[column + (unsigned)c->per];
	char buf[FORMAT_MAX], to[FORMAT_MAX];

	if (!of->known || !(per->known || !c->per))
		table_add(p->table, "%s", "");
	else if (c->show == FINDINGS_SHARE)
		table_add(p->table, "%s",
			  share_format(of->number,
				       c->per ? per->number : p->sums[column + (unsigned)c->of],
				       buf));
	else if (c->show == FINDINGS_MEAN)
		table_add(p->table, "%s", mean_format(of->number, per->number, buf));
	else
		table_add(p->table, "%s -> %s",
			  value_text(&p->f->columns[column + (unsigned)c->of], of, buf),
			  value_text(&p->f->columns[column + (unsigned)c->per], per, to));
}

static void cell_add(const struct printer *p, const struct findings_cell *cells, unsigned column)
{
	const struct findings_column *c = &p->f->columns[column];
	const struct findings_cell *cell = &cells[column];
	char buf[FORMAT_MAX];

	if (cell->label)
		table_add(p->table, "%s", cell->label);
	else if (c->show != FINDINGS_VALUE)
		made_add(p, cells, column);
	else if (!cell->known || c->unit == FINDINGS_ROWS ||
		 (c->flags & FINDINGS_NO_ZERO && !cell->number))
		table_add(p->table, "%s", "");
	else
		table_add(p->table, "%s", value_text(c, cell, buf));
}

/* --- rows --- */

/* cells: NULL: a row without figures. name stands in the first column: its first length bytes. */
static void row_add(const struct printer *p, const struct findings_cell *cells, const char *name,
		    size_t length, unsigned indent)
{
	if (name[length])
		table_add(p->table, "%*s%.*s", (int)indent, "", (int)length, name);
	else
		table_add(p->table, "%*s%s", (int)indent, "", name);
	for (unsigned i = 1; i < p->count && cells; i++)
		cell_add(p, cells, p->columns[i]);
	table_end_row(p->table);
}

/* What rows have together. NULL: no memory. */
static struct findings_cell *rows_sum(const struct findings *f, const uint32_t *rows,
				      uint32_t count)
{
	struct findings_cell *sum = calloc(f->column_count, sizeof(*sum));

	for (uint32_t i = 0; i < count && sum; i++) {
		for (unsigned k = 0; k < f->column_count; k++) {
			const struct findings_column *c = &f->columns[k];
			const struct findings_cell *cell = findings_cell(f, rows[i], k);

			if (c->flags & FINDINGS_NO_SUM || !cell->known ||
			    (c->unit != FINDINGS_COUNT && c->unit != FINDINGS_NS &&
			     c->unit != FINDINGS_BYTES))
				continue;
			sum[k].known = true;
			sum[k].number = sum_saturated(sum[k].number, cell->number);
		}
	}
	return sum;
}

static int sum_add(const struct printer *p, const struct findings *f, const uint32_t *rows,
		   uint32_t count, const char *name, unsigned level)
{
	struct findings_cell *sum = rows_sum(f, rows, count);

	if (!sum)
		return -ENOMEM;
	row_add(p, sum, name, strlen(name), level * LEVEL_INDENT);
	free(sum);
	return 0;
}

static int rest_add(struct printer *p, const struct findings *f, const uint32_t *rows,
		    uint32_t count, unsigned level)
{
	const char *noun = p->v->noun ? p->v->noun : "", *gap = *noun ? " " : "";
	char name[64];

	if (p->v->rest == FINDINGS_REST_SUM) {
		print_buffer(name, sizeof(name), "(%" PRIu32 " more%s%s)", count, gap, noun);
		return sum_add(p, f, rows, count, name, level);
	}
	if (p->v->rest == FINDINGS_REST_LINE)
		p->left = count;
	print_buffer(name, sizeof(name), "and %" PRIu32 " more%s%s", count, gap, noun);
	if (p->v->rest == FINDINGS_REST_ROW)
		row_add(p, NULL, name, strlen(name), level * LEVEL_INDENT);
	return 0;
}

static int rows_add(struct printer *p, const struct findings *f, unsigned level);

/* Further lines of a label are rows of their own. What is no label is foreign text: one line. */
static void lines_add(const struct printer *p, const struct findings_cell *cells, unsigned indent)
{
	const struct findings_cell *first = &cells[p->columns[0]];
	const char *line = first->label;
	char buf[FORMAT_MAX];

	if (!line) {
		line = first->known ? value_text(&p->f->columns[p->columns[0]], first, buf) : "";
		row_add(p, cells, line, strlen(line), indent);
		return;
	}
	row_add(p, cells, line, strcspn(line, "\n"), indent);
	while (*(line += strcspn(line, "\n"))) {
		line++;
		row_add(p, NULL, line, strcspn(line, "\n"), indent + LINE_INDENT);
	}
}

static int whole_row_add(struct printer *p, const struct findings *f, uint32_t row, unsigned level)
{
	const struct findings_cell *cells = findings_cell(f, row, 0);
	int err = 0;

	lines_add(p, cells, level * LEVEL_INDENT);
	for (unsigned i = 0; i < f->column_count && !err; i++) {
		if (f->columns[i].flags & FINDINGS_TREE && cells[i].known)
			err = rows_add(p, cells[i].rows, level + 1);
	}
	return err;
}

static int rows_add(struct printer *p, const struct findings *f, unsigned level)
{
	uint32_t count = 0, shown = 0, *rows = sort_rows(p, f, &count, &shown);
	int err = rows ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < shown && !err; i++)
		err = whole_row_add(p, f, rows[i], level);
	if (!err && shown < count)
		err = rest_add(p, f, rows + shown, count - shown, level);
	if (!err && !level && p->v->all && count > 1)
		err = sum_add(p, f, rows, count, p->v->all, level);
	free(rows);
	return err;
}

static int print_table(struct printer *p, FILE *out)
{
	int err;

	choose_columns(p);
	p->table = table_new(p->heads, p->count);
	err = p->table ? rows_add(p, p->f, 0) : -ENOMEM;
	if (!err && p->v->gap)
		fputc('\n', out);
	if (!err)
		err = table_print(p->table, p->v->indent, out);
	table_free(p->table);
	if (!err && p->left)
		print_text(out, "%*sand %" PRIu32 " more%s%s\n", (int)p->v->indent, "", p->left,
			   p->v->noun ? " " : "", p->v->noun ? p->v->noun : "");
	return err;
}

int findings_to_text(const struct findings *f, const struct findings_view *v, FILE *out)
{
	struct printer p = {.f = f, .v = v};
	uint32_t count = 0;
	int err = f ? f->err : -ENOMEM;

	for (uint32_t i = 0; !err && i < f->row_count; i++)
		count += is_for_people(f, i);
	if (!count)
		return err;
	p.heads = calloc(f->column_count, sizeof(*p.heads));
	p.columns = calloc(f->column_count, sizeof(*p.columns));
	p.sums = calloc(f->column_count, sizeof(*p.sums));
	err = p.heads && p.columns && p.sums ? print_table(&p, out) : -ENOMEM;
	free(p.heads);
	free(p.columns);
	free(p.sums);
	return err;
}
