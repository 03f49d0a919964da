/* analyze/profile/profile_course.h: what threads ran, slot of time by slot, with the samples of
 * each: for profiles of any range of slots. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/tables/keymap.h"
#include "log/format/event.h"

struct profile;
struct profile_step;

/* With more steps than this no slots are known. */
#define PROFILE_STEPS_MAX (1u << 21)

struct course_step {
	uint64_t time_ns, run_ns, weight;
	uint32_t thread; /* index in course.threads */
	uint32_t cell;   /* INDEX_NONE: it is no sample */
	uint8_t mode, via, result;
};

/* All zero but for the last at first. */
struct profile_course {
	struct course_step *steps; /* in time order */
	uint32_t count, capacity;
	struct keymap threads; /* by number */
	bool full;             /* more than steps_max: steps are gone */
	uint32_t steps_max;    /* 0: PROFILE_STEPS_MAX */
};

/* For profile_options.observe, with a course as its context. 0 or -ENOMEM. */
int profile_course_add(void *course, const struct profile_step *step);
void profile_course_free(struct profile_course *c);

/* Of a thread in a slot: what it ran, and of that up to its first sample there. */
struct course_row {
	uint32_t thread; /* index in course.threads */
	uint32_t window, slot;
	uint64_t run_ns, first_run_ns;
	/* Of the first sample: its weight, its entry, its mode. entry INDEX_NONE: there is none. */
	uint64_t first_weight;
	uint32_t first_entry, first_mode;
};

/* Samples of one cell in a row. */
struct course_entry {
	uint32_t row, cell;
	uint64_t ns, samples, squares; /* as in struct profile_cell */
};

enum course_kind { COURSE_MODE_NS, COURSE_BEGIN, COURSE_RESULT, COURSE_KIND_COUNT };

/* ns by mode, samples by how their walks began and ended. */
struct course_sum {
	uint32_t row, kind, which;
	uint64_t n;
};

/* Slots are slot_ns long, and so are windows, both from begin_ns on; no slot reaches over the end
 * of a window. */
struct course_grid {
	uint64_t begin_ns, window_ns, slot_ns;
};

struct course_table {
	struct course_row *rows; /* by the time in which they begin */
	struct course_entry *entries;
	struct course_sum *sums;
	struct keymap row_map, entry_map, sum_map; /* with their counts */
	uint32_t rows_capacity, entries_capacity, sums_capacity;
};

/* -E2BIG: there would be more rows or entries than most; *ret is empty. 0 or -ENOMEM. */
int course_table_make(const struct profile_course *c, const struct course_grid *g, uint32_t most,
		      struct course_table *ret);
void course_table_free(struct course_table *t);
