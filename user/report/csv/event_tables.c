#include "report/csv/event_tables.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

struct kind {
	struct event_table *table; /* NULL: there was no event of it yet */
	FILE *out;
};

struct event_tables {
	const struct event_tables_options *options;
	const struct log_names *names;
	const json_t *header;
	uint64_t rows;
	struct kind kinds[SCHEMA_ID_MAX + 1];
};

unsigned event_tables_kinds(const struct event_tables_options *o)
{
	unsigned count = 0;

	for (unsigned i = 0; i <= SCHEMA_ID_MAX; i++)
		count += o->filter && o->selected[i];
	return o->filter ? count : UINT_MAX;
}

static int kind_open(struct event_tables *t, const struct event_desc *desc)
{
	struct kind *k = &t->kinds[desc->id];
	int err = event_table_new(desc, &t->options->table, t->names, t->header, &k->table);

	if (!err)
		err = t->options->open(desc, &k->out, t->options->arg);
	if (!err)
		event_table_head(k->table, k->out);
	return err;
}

int event_tables_new(const struct event_tables_options *options, const struct log_names *names,
		     const json_t *header, struct event_tables **ret)
{
	unsigned count;
	const struct event_desc *events = schema_events(&count);
	struct event_tables *t = calloc(1, sizeof(*t));
	int err = t ? 0 : -ENOMEM;

	if (!t)
		return err;
	t->options = options;
	t->names = names;
	t->header = header;
	for (unsigned i = 0; i < count && !err && options->filter; i++)
		if (options->selected[events[i].id])
			err = kind_open(t, &events[i]);
	if (err)
		event_tables_free(t);
	else
		*ret = t;
	return err;
}

void event_tables_free(struct event_tables *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i <= SCHEMA_ID_MAX; i++)
		event_table_free(t->kinds[i].table);
	free(t);
}

int event_tables_add(struct event_tables *t, const struct event *e)
{
	struct kind *k = &t->kinds[e->id];
	int err;

	if (t->options->filter && !t->options->selected[e->id])
		return 0;
	if (!k->table) {
		err = kind_open(t, schema_event(e->id));
		if (err)
			return err;
	}
	event_table_row(k->table, e, k->out);
	t->rows++;
	return ferror(k->out) ? 1 : 0;
}

uint64_t event_tables_rows(const struct event_tables *t)
{
	return t->rows;
}
