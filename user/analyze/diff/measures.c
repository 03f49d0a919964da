#include "analyze/diff/measures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "base/tables/hash_table.h"

struct measure_index {
	char *name;
	uint32_t row;
	UT_hash_handle hh;
};

static struct measure_index *find(const struct measures *m, enum measure_part part,
				  const char *name)
{
	struct measure_index *e;

	HASH_FIND_STR(m->index[part], name, e);
	return e;
}

const struct measure *measures_find(const struct measures *m, enum measure_part part,
				    const char *name)
{
	const struct measure_index *e = find(m, part, name);

	return e ? &m->rows[e->row] : NULL;
}

static struct measure *add(struct measures *m, enum measure_part part, const char *name)
{
	struct measure_index *e = calloc(1, sizeof(*e));
	int err = e ? array_grow(&m->rows, &m->capacity, m->count, sizeof(*m->rows)) : -ENOMEM;
	struct measure *row;

	if (!err) {
		e->row = m->count;
		e->name = strdup(name);
		err = e->name ? 0 : -ENOMEM;
	}
	if (!err)
		HASH_ADD_KEYPTR(hh, m->index[part], e->name, strlen(e->name), e);
	if (err || !e->hh.tbl) {
		if (e)
			free(e->name);
		free(e);
		return NULL;
	}
	row = &m->rows[m->count++];
	*row = (struct measure){.part = part, .name = e->name};
	return row;
}

struct measure *measures_row(struct measures *m, enum measure_part part, const char *name)
{
	const struct measure_index *e = find(m, part, name);

	return e ? &m->rows[e->row] : add(m, part, name);
}

void measures_free(struct measures *m)
{
	struct measure_index *e, *next;

	for (int part = 0; part < MEASURE_PART_COUNT; part++) {
		HASH_ITER (hh, m->index[part], e, next) {
			HASH_DEL(m->index[part], e);
			free(e->name);
			free(e);
		}
	}
	free(m->rows);
	*m = (struct measures){.rows = NULL};
}

double measures_per(const struct measures *m, enum measure_per per)
{
	return per == MEASURE_PER_SPAN  ? (double)m->spans
	       : per == MEASURE_PER_CPU ? (double)m->cpu_ns / 1e9
					: (double)m->recorded_ns / 1e9;
}

double measures_window_per(const struct measures *m, enum measure_per per, unsigned window)
{
	return per == MEASURE_PER_SPAN  ? m->window_spans[window]
	       : per == MEASURE_PER_CPU ? m->window_cpu_ns[window] / 1e9
					: m->window_ns[window] / 1e9;
}

double measure_rate(const struct measures *m, const struct measure *row, enum measure_per per)
{
	double units = row && !row->level ? measures_per(m, per) : 1;

	return row && units > 0 ? (double)row->ns / units : 0;
}
