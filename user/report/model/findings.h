/* report/model/findings.h: findings as a table: built once, and written by each kind of output. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum findings_unit {
	FINDINGS_TEXT,
	FINDINGS_NUMBER,  /* says which one, as a tid does: it is never summed up */
	FINDINGS_INTEGER, /* an int64_t that does: of another pid namespace, a tid is negative */
	FINDINGS_COUNT,
	FINDINGS_NS,
	FINDINGS_BYTES,
	FINDINGS_MORE_NS, /* an int64_t: how much more, or less */
	FINDINGS_BOOL,
	FINDINGS_ROWS, /* a table within the row */
	FINDINGS_UNIT_COUNT,
};

/* What people see of a column. All but the first are derived, and made of other columns: the one
 * that is `of` columns further on, and the one that is `per` further on. */
enum findings_show {
	FINDINGS_VALUE,
	FINDINGS_SHARE,   /* of as a part of per; per is 0: of what the whole table has of it */
	FINDINGS_MEAN,    /* of for each one of per */
	FINDINGS_FROM_TO, /* "of -> per" */
	FINDINGS_SHOW_COUNT,
};

enum findings_flag {
	FINDINGS_NULL = 1,    /* JSON says null of a cell without a value, else nothing */
	FINDINGS_IF_ANY = 2,  /* people see the column only if a cell of it is more than 0 */
	FINDINGS_NO_ZERO = 4, /* people see nothing for 0 */
	FINDINGS_NO_SUM = 8,  /* of two rows together there is no value: of a largest, say */
	FINDINGS_TREE = 16, /* ROWS of the same columns: people see them below the row, indented */
	FINDINGS_LEFT = 32, /* of numbers, too; texts stand at the left anyway */
	FINDINGS_TAIL = 64, /* what is cut is the beginning */
	FINDINGS_NO_JSON = 128,
	FINDINGS_NO_CSV = 256,
	FINDINGS_PLAIN = 512, /* CSV names it without its group */
	FINDINGS_LIST = 1024, /* ROWS of a single column of texts */
};

struct findings_column {
	const char *key;     /* of programs; NULL: the column is for people only */
	const char *title;   /* of people; NULL: the column is for programs only */
	const char *meaning; /* one sentence; NULL: the title says all */
	const char *group;   /* "a", "a.b": JSON has the cell in the object a, or in b of that */
	enum findings_unit unit;
	enum findings_show show;
	int of, per;
	unsigned flags, least, most; /* width for people; 0: as the unit has it, and no limit */
	unsigned views;              /* bits of the views that have it; 0: all */
};

struct findings_cell {
	bool known; /* else there is no value */
	union {
		uint64_t number;
		char *text;
		struct findings *rows;
	};
	char *label; /* what people see in its place; NULL: the value */
};

enum findings_reader { FINDINGS_ALL, FINDINGS_PEOPLE, FINDINGS_PROGRAMS };

/* Renderers read; the functions below write. */
struct findings {
	struct findings_column *columns;
	unsigned column_count;
	bool columns_lent;
	struct findings_cell *cells; /* row by row, one for each column */
	enum findings_reader *readers;
	uint32_t row_count, cells_capacity, readers_capacity;
	unsigned at; /* the column that is filled next */
	char *title; /* what people see above the table, if it has rows for them; NULL */
	const char *all; /* lent: what a last row with sums is called; NULL: there is none */
	int err;     /* the first: -ENOMEM; -EINVAL: a value that the column does not take */
};

/* Columns are copied, their texts lent until findings_free. NULL: no memory; all accept that. */
struct findings *findings_new(const struct findings_column *columns, unsigned count);
#define FINDINGS_NEW(columns) findings_new((columns), sizeof(columns) / sizeof(*(columns)))
/* A table of the same columns, for rows within rows of f; they are lent until f is freed. There is
 * room for so many rows, and for more at a price: such tables are many, and mostly short. */
struct findings *findings_within(const struct findings *f, uint32_t rows);
void findings_free(struct findings *f);
/* Frees the rows, so that more rows than there is memory for can take turns. */
void findings_clear(struct findings *f);

/* A row, then its cells from the left on, without derived ones. Those left out have no value. */
void findings_row(struct findings *f, enum findings_reader reader);
void findings_number(struct findings *f, uint64_t number);
void findings_numbers(struct findings *f, const uint64_t *numbers, size_t count);
#define FINDINGS_NUMBERS(f, ...)                                                                   \
	findings_numbers((f), (const uint64_t[]){__VA_ARGS__},                                     \
			 sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
/* Copied. label: what people see; NULL: the text. A text that is NULL is no value. */
void findings_text(struct findings *f, const char *text, const char *label);
/* Takes rows over. NULL: no memory. */
void findings_rows(struct findings *f, struct findings *rows);
/* No value unless it is known. */
void findings_maybe(struct findings *f, bool known, uint64_t number);
/* Leaves as many cells without a value. */
void findings_skip(struct findings *f, unsigned count);
/* What people see in place of the last cell's value. Copied. */
void findings_label(struct findings *f, const char *label);
const struct findings_cell *findings_cell(const struct findings *f, uint32_t row, unsigned column);
/* Copied. */
void findings_title(struct findings *f, const char *title);
bool findings_has_rows(const struct findings *f, enum findings_reader reader);
/* What all rows have of a column; UINT64_MAX if that is more. */
uint64_t findings_sum(const struct findings *f, unsigned column);
static inline bool findings_is_derived(const struct findings_column *c)
{
	return c->show != FINDINGS_VALUE && (c->of || c->show != FINDINGS_SHARE);
}
