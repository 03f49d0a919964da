/* report/csv/event_tables.h: the events of a log as tables, one of each kind. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "log/format/event.h"
#include "report/csv/event_table.h"

struct event_tables;

struct event_tables_options {
	struct event_table_options table;
	bool filter;
	bool selected[SCHEMA_ID_MAX + 1]; /* by event id, if filter is set */
	/* Opens what the table of a kind is written to, which stays the caller's. 0 or negative. */
	int (*open)(const struct event_desc *desc, FILE **ret, void *arg);
	void *arg;
};

/* How many kinds are selected; UINT_MAX: any that there are. */
unsigned event_tables_kinds(const struct event_tables_options *o);

/*
 * A kind that is selected has a table also if there are no events of it. options, names and header
 * are lent until event_tables_free, and names may still grow. 0, -ENOMEM, or what open returned.
 */
int event_tables_new(const struct event_tables_options *options, const struct log_names *names,
		     const json_t *header, struct event_tables **ret);
void event_tables_free(struct event_tables *t);

/* 1: what the event's table is written to has its error flag set. 0, or as event_tables_new. */
int event_tables_add(struct event_tables *t, const struct event *e);
/* How many rows there are in all tables. */
uint64_t event_tables_rows(const struct event_tables *t);
