/* report/csv/event_table.h: the events of one kind as a table, in CSV or JSON lines. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct event;
struct event_desc;
struct event_table;
struct log_names;

struct event_table_options {
	bool csv;        /* else JSON lines: a flat object per event, and its kind in front */
	bool raw;        /* csv: text as it is, also where a spreadsheet takes it for a formula */
	unsigned frames; /* of each call chain, at most */
};

/*
 * Columns: time_ns; time (UTC, if header has it); thread, its name and tid; then the fields, each
 * by its name, and with its unit after it where the name does not end in it; after a number that
 * the log defines, what it stands for. options, names and header are lent until
 * event_table_free, and names may still grow. 0 or -ENOMEM.
 */
int event_table_new(const struct event_desc *desc, const struct event_table_options *options,
		    const struct log_names *names, const json_t *header, struct event_table **ret);
void event_table_free(struct event_table *t);

/* Comes first. The error flag of out says the rest. Of JSON lines there is no header row. */
void event_table_head(struct event_table *t, FILE *out);
/* e is of this table's kind. */
void event_table_row(struct event_table *t, const struct event *e, FILE *out);

unsigned event_table_columns(const struct event_table *t);
const char *event_table_column(const struct event_table *t, unsigned n);
