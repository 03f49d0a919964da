#include "analyze/diff/measures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "base/tables/store.h"

struct measure_key {
	uint64_t name[2]; /* its digest */
	uint64_t part;
};

struct measure_index {
	struct measure_key key;
	char *name;
	uint64_t row;
};

static struct measure_key key_of(const struct measures *m, enum measure_part part, const char *name)
{
	struct measure_key key = {.part = part};

	store_digest(m->index, name, strlen(name), key.name);
	return key;
}

const struct measure *measures_find(const struct measures *m, enum measure_part part,
				    const char *name)
{
	struct measure_key key;
	const struct measure_index *e;

	if (!m->index)
		return NULL;
	key = key_of(m, part, name);
	e = store_find(m->index, &key);
	return e ? &m->rows[e->row] : NULL;
}

static struct measure *add(struct measures *m, const struct measure_key *key, const char *name)
{
	int err = array_grow(&m->rows, &m->capacity, m->count, sizeof(*m->rows));
	char *copy = err ? NULL : strdup(name);
	struct measure_index *e;
	struct measure *row;
	void *added;

	if (!copy || store_add(m->index, key, &added)) {
		free(copy);
		return NULL;
	}
	e = added;
	e->name = copy;
	e->row = m->count;
	row = &m->rows[m->count++];
	*row = (struct measure){.part = (enum measure_part)key->part, .name = copy};
	return row;
}

struct measure *measures_row(struct measures *m, enum measure_part part, const char *name)
{
	const struct store_options options = {.key_bytes = sizeof(struct measure_key),
					      .entry_bytes = sizeof(struct measure_index)};
	const struct measure_index *e;
	struct measure_key key;

	if (!m->index && store_new(&options, &m->index))
		return NULL;
	key = key_of(m, part, name);
	e = store_find(m->index, &key);
	return e ? &m->rows[e->row] : add(m, &key, name);
}

void measures_free(struct measures *m)
{
	struct measure_index *e = NULL;

	while (m->index && (e = store_next(m->index, e)))
		free(e->name);
	store_free(m->index);
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
