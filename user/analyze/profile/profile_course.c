/*
 * A sample's weight is what its thread ran since the sample before. In a profile of a range the
 * first sample of a thread weighs what the thread ran since the range's begin: run_ns of the rows
 * before, and first_run_ns of the sample's own row.
 */
#include "analyze/profile/profile_course.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/profile/profile.h"
#include "analyze/profile/profile_step.h"
#include "base/tables/array.h"

int profile_course_add(void *course, const struct profile_step *step)
{
	struct profile_course *c = course;
	uint32_t thread;
	int err;

	if (c->full || (!step->run_ns && !step->sample))
		return 0;
	if (c->count == (c->steps_max ? c->steps_max : PROFILE_STEPS_MAX)) {
		profile_course_free(c);
		c->full = true;
		return 0;
	}
	err = keymap_add_number(&c->threads, step->thread, &thread);
	if (!err)
		err = array_grow(&c->steps, &c->capacity, c->count, sizeof(*c->steps));
	if (err)
		return err;
	c->steps[c->count++] = (struct course_step){
		.time_ns = step->time_ns,
		.run_ns = step->run_ns,
		.weight = step->weight,
		.thread = thread,
		.cell = step->sample ? step->cell : INDEX_NONE,
		.mode = step->mode < SAMPLE_MODE_COUNT ? (uint8_t)step->mode : SAMPLE_MODE_UNKNOWN,
		.via = step->via < WALK_BEGIN_COUNT ? (uint8_t)step->via : UINT8_MAX,
		.result = step->result < WALK_RESULT_COUNT ? (uint8_t)step->result : UINT8_MAX,
	};
	return 0;
}

void profile_course_free(struct profile_course *c)
{
	free(c->steps);
	keymap_free(&c->threads);
	*c = (struct profile_course){.steps_max = c->steps_max};
}

static int row_get(struct course_table *t, const struct course_grid *g, const struct course_step *s,
		   uint32_t *ret)
{
	uint64_t at = s->time_ns > g->begin_ns ? s->time_ns - g->begin_ns : 0;
	uint64_t window = g->window_ns ? at / g->window_ns : 0;
	uint64_t slot = g->slot_ns ? at / g->slot_ns : 0;
	uint32_t before = t->row_map.count;
	int err = keymap_add_row(&t->row_map,
				 (struct keymap_key){.a = s->thread, .b = 1 + window, .c = slot},
				 &t->rows, &t->rows_capacity, sizeof(*t->rows), ret);

	if (err || *ret < before)
		return err;
	t->rows[*ret] = (struct course_row){.thread = s->thread,
					    .window = (uint32_t)window,
					    .slot = (uint32_t)slot,
					    .first_entry = INDEX_NONE};
	return 0;
}

static int entry_add(struct course_table *t, uint32_t row, const struct course_step *s,
		     uint32_t *ret)
{
	uint64_t unit = s->weight / PROFILE_UNIT_NS;
	struct course_entry *e;
	int err = keymap_add_row(&t->entry_map, (struct keymap_key){.a = row, .b = 1 + s->cell},
				 &t->entries, &t->entries_capacity, sizeof(*t->entries), ret);

	if (err)
		return err;
	e = &t->entries[*ret];
	e->row = row;
	e->cell = s->cell;
	e->ns += s->weight;
	e->samples++;
	e->squares += unit * unit;
	return 0;
}

static int sum_add(struct course_table *t, uint32_t row, enum course_kind kind, uint32_t which,
		   uint64_t n)
{
	uint32_t at;
	int err = keymap_add_row(&t->sum_map,
				 (struct keymap_key){.a = row, .b = 1 + kind, .c = which}, &t->sums,
				 &t->sums_capacity, sizeof(*t->sums), &at);

	if (err)
		return err;
	t->sums[at].row = row;
	t->sums[at].kind = kind;
	t->sums[at].which = which;
	t->sums[at].n += n;
	return 0;
}

static int sample_add(struct course_table *t, uint32_t row, const struct course_step *s)
{
	struct course_row *r = &t->rows[row];
	uint32_t entry;
	int err = entry_add(t, row, s, &entry);

	if (!err && r->first_entry == INDEX_NONE) {
		r->first_entry = entry;
		r->first_run_ns = r->run_ns;
		r->first_weight = s->weight;
		r->first_mode = s->mode;
	}
	err = err ? err : sum_add(t, row, COURSE_MODE_NS, s->mode, s->weight);
	if (!err && s->via != UINT8_MAX)
		err = sum_add(t, row, COURSE_BEGIN, s->via, 1);
	if (!err && s->result != UINT8_MAX)
		err = sum_add(t, row, COURSE_RESULT, s->result, 1);
	return err;
}

int course_table_make(const struct profile_course *c, const struct course_grid *g, uint32_t most,
		      struct course_table *ret)
{
	struct course_table t = {0};
	uint32_t row;
	int err = 0;

	for (uint32_t i = 0; i < c->count && !err; i++) {
		err = row_get(&t, g, &c->steps[i], &row);
		if (err)
			break;
		t.rows[row].run_ns += c->steps[i].run_ns;
		if (c->steps[i].cell != INDEX_NONE)
			err = sample_add(&t, row, &c->steps[i]);
		if (!err && (t.row_map.count > most || t.entry_map.count > most))
			err = -E2BIG;
	}
	if (err)
		course_table_free(&t);
	*ret = t;
	return err;
}

void course_table_free(struct course_table *t)
{
	keymap_free(&t->row_map);
	keymap_free(&t->entry_map);
	keymap_free(&t->sum_map);
	free(t->rows);
	free(t->entries);
	free(t->sums);
	*t = (struct course_table){0};
}
