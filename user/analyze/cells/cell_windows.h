/* analyze/cells/cell_windows.h: blocked time by cell and window of time, in bounded memory. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cells/cell_part.h"
#include "base/tables/keymap.h"

/* At most so many windows of equal length, from the begin on. A log that is longer, or whose cells
 * have time in more windows than there are entries for, gets windows of twice the length. */
#define CELL_WINDOWS_MAX 512
#define CELL_WINDOWS_ENTRIES_MAX (1u << 20)
/* With fewer windows than this the entries are given up instead. */
#define CELL_WINDOWS_LEAST 16

struct cell_windows {
	uint64_t begin_ns, length_ns;
	uint32_t count;        /* windows that have any time: from the first to the last one */
	bool full;             /* too many cells: nothing is known of them */
	int err;               /* 0 or -ENOMEM */
	uint32_t entries_max;  /* if not 0, in place of CELL_WINDOWS_ENTRIES_MAX */
	struct keymap keys;    /* of cells, see cell_windows_cell(); without facets */
	struct keymap cuts;    /* of these by facets: a key's index, facets */
	struct keymap entries; /* by the index of a cut and the window */
	uint64_t *ns;          /* of entries */
	uint32_t ns_capacity;
};

/* All zero before. */
void cell_windows_init(struct cell_windows *w, uint64_t begin_ns);
void cell_windows_free(struct cell_windows *w);

/* For contention_observe(), with w as its context; an error is kept in w. */
void cell_windows_observe(void *w, const struct cell_part *part);

/* What a cell is found by, and the cell of one of keys. */
struct keymap_key cell_windows_key(const struct cell_key *key);
struct cell_key cell_windows_cell(const struct keymap_key *key);

/* The cell of one of cuts. */
struct cell_key cell_windows_cut(const struct cell_windows *w, uint32_t cut);

struct cell_window {
	uint32_t cut; /* index in cuts */
	uint32_t window;
	uint64_t ns;
};

/* The entry at an index, of entries.count. */
struct cell_window cell_windows_entry(const struct cell_windows *w, uint32_t index);
