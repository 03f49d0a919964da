#include "report/model/findings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "base/tables/saturate.h"

struct findings *findings_new(const struct findings_column *columns, unsigned count)
{
	struct findings *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->columns = malloc(count * sizeof(*columns));
	if (!f->columns) {
		free(f);
		return NULL;
	}
	memcpy(f->columns, columns, count * sizeof(*columns));
	f->column_count = f->at = count;
	return f;
}

struct findings *findings_within(const struct findings *f, uint32_t rows)
{
	struct findings *within = f ? calloc(1, sizeof(*within)) : NULL;

	if (!within)
		return NULL;
	within->columns = f->columns;
	within->columns_lent = true;
	within->column_count = within->at = f->column_count;
	within->cells = calloc((size_t)rows * f->column_count, sizeof(*within->cells));
	within->readers = calloc(rows, sizeof(*within->readers));
	within->cells_capacity = within->readers_capacity = rows;
	if (rows && (!within->cells || !within->readers)) {
		findings_free(within);
		return NULL;
	}
	return within;
}

static void cell_free(struct findings_cell *cell, enum findings_unit unit)
{
	free(cell->label);
	if (unit == FINDINGS_TEXT)
		free(cell->text);
	else if (unit == FINDINGS_ROWS)
		findings_free(cell->rows);
}

void findings_clear(struct findings *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->row_count; i++) {
		for (unsigned k = 0; k < f->column_count; k++)
			cell_free(&f->cells[(size_t)i * f->column_count + k], f->columns[k].unit);
	}
	f->row_count = 0;
	f->at = f->column_count;
}

void findings_free(struct findings *f)
{
	if (!f)
		return;
	findings_clear(f);
	if (!f->columns_lent)
		free(f->columns);
	free(f->cells);
	free(f->readers);
	free(f->title);
	free(f);
}

void findings_title(struct findings *f, const char *title)
{
	if (!f || f->err)
		return;
	free(f->title);
	f->title = strdup(title);
	if (!f->title)
		f->err = -ENOMEM;
}

bool findings_has_rows(const struct findings *f, enum findings_reader reader)
{
	for (uint32_t i = 0; i < f->row_count; i++)
		if (f->readers[i] == FINDINGS_ALL || f->readers[i] == reader)
			return true;
	return false;
}

void findings_row(struct findings *f, enum findings_reader reader)
{
	size_t size = f ? f->column_count * sizeof(*f->cells) : 0;

	if (!f || f->err)
		return;
	f->err = array_grow(&f->readers, &f->readers_capacity, f->row_count, sizeof(reader));
	if (!f->err)
		f->err = array_grow(&f->cells, &f->cells_capacity, f->row_count, size);
	if (f->err)
		return;
	memset(f->cells + (size_t)f->row_count * f->column_count, 0, size);
	f->readers[f->row_count++] = reader;
	f->at = 0;
}

static void pass_derived(struct findings *f)
{
	while (f->at < f->column_count && findings_is_derived(&f->columns[f->at]))
		f->at++;
}

/* The next cell that takes a value of such a unit; NULL after an error. */
static struct findings_cell *take(struct findings *f, bool is_right(enum findings_unit))
{
	if (!f || f->err)
		return NULL;
	pass_derived(f);
	if (f->at == f->column_count || !is_right(f->columns[f->at].unit)) {
		f->err = -EINVAL;
		return NULL;
	}
	return &f->cells[(size_t)(f->row_count - 1) * f->column_count + f->at++];
}

static bool is_number(enum findings_unit unit)
{
	return unit != FINDINGS_TEXT && unit != FINDINGS_ROWS;
}

static bool is_text(enum findings_unit unit)
{
	return unit == FINDINGS_TEXT;
}

static bool is_rows(enum findings_unit unit)
{
	return unit == FINDINGS_ROWS;
}

void findings_number(struct findings *f, uint64_t number)
{
	struct findings_cell *cell = take(f, is_number);

	if (cell)
		*cell = (struct findings_cell){.known = true, .number = number};
}

void findings_numbers(struct findings *f, const uint64_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		findings_number(f, numbers[i]);
}

void findings_maybe(struct findings *f, bool known, uint64_t number)
{
	struct findings_cell *cell = take(f, is_number);

	if (cell)
		*cell = (struct findings_cell){.known = known, .number = known ? number : 0};
}

void findings_skip(struct findings *f, unsigned count)
{
	for (; f && !f->err && count; count--) {
		pass_derived(f);
		f->at += f->at < f->column_count;
	}
}

static char *copy(struct findings *f, const char *text)
{
	char *copied = strdup(text);

	if (!copied)
		f->err = -ENOMEM;
	return copied;
}

void findings_label(struct findings *f, const char *label)
{
	struct findings_cell *cell;

	if (!f || f->err)
		return;
	cell = &f->cells[(size_t)(f->row_count - 1) * f->column_count + f->at - 1];
	free(cell->label);
	cell->label = copy(f, label);
}

void findings_text(struct findings *f, const char *text, const char *label)
{
	struct findings_cell *cell = take(f, is_text);

	if (cell && text) {
		cell->text = copy(f, text);
		cell->known = cell->text;
	}
	if (cell && label)
		findings_label(f, label);
}

void findings_rows(struct findings *f, struct findings *rows)
{
	struct findings_cell *cell = take(f, is_rows);

	if (f && !f->err && (!rows || rows->err))
		f->err = rows ? rows->err : -ENOMEM;
	if (cell && !f->err)
		*cell = (struct findings_cell){.known = true, .rows = rows};
	else
		findings_free(rows);
}

const struct findings_cell *findings_cell(const struct findings *f, uint32_t row, unsigned column)
{
	return &f->cells[(size_t)row * f->column_count + column];
}

uint64_t findings_sum(const struct findings *f, unsigned column)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < f->row_count && is_number(f->columns[column].unit); i++)
		sum = sum_saturated(sum, findings_cell(f, i, column)->number);
	return sum;
}
