/* report/web/page_cells.h: the cells of a page, and the threads, locks and chains that they
 * name. */
#pragma once

#include <stdint.h>

#include "analyze/cells/cells.h"
#include "analyze/cells/lengths.h"
#include "base/tables/keymap.h"

struct cell_windows;
struct log_names;
struct section_input;

/* Beyond so many, two windows become one, as long as CELL_WINDOWS_LEAST are left. */
#define PAGE_WINDOWS_MAX 400000
/* Beyond so many counts of lengths, their steps become twice as wide. */
#define PAGE_LENGTHS_MAX 300000
#define PAGE_NONE UINT32_MAX
/* A key's b in the table of locks: a is a class, and the key stands for those of its locks that are
 * not in the page. */
#define PAGE_LOCK_REST 1

/* A call chain with the methods that stand for it. */
struct page_chain {
	uint64_t number; /* as stacks_chain() has it, or HOLDER_HAND_OVER: the group's key */
	uint64_t stack;  /* one of the chains of that number; 0: none */
	uint32_t waiter_method, holder_method;
};

/* Cells that no aspect distinguishes are one. Indexes in the tables below. */
struct page_cell {
	uint32_t lock, waiter, holder, waiter_chain, holder_chain, blocked_on;
	uint32_t facets;
	uint64_t group; /* enum lock_group */
	struct cell sum;
	uint64_t idle_ns;
};

struct page_window {
	uint32_t cell, window;
	uint64_t ns;
};

/* All zero at first. */
struct page_cells {
	struct page_cell *cells; /* those with the most time first */
	uint32_t cell_count, cells_capacity;
	struct keymap keys;                /* of cells, while they are put together */
	struct keymap threads, locks;      /* by number */
	uint32_t *thread_rank, *lock_rank; /* in the order of their names, then of their numbers */
	struct keymap chain_keys;
	struct page_chain *chains;
	uint32_t chains_capacity;
	uint32_t merged;             /* cells that are in others */
	uint64_t merged_ns;          /* their time */
	struct page_window *windows; /* by cell, then by window */
	uint32_t window_count;
	struct lengths lengths; /* by 1 + the cell's index */
	unsigned window_shift;  /* so many times two windows have become one */
	uint64_t window_ns;     /* given: windows are at least so long */
};

/* 0 or -ENOMEM; to be freed in both cases. windows may be NULL; most: 0, or in place of
 * PAGE_CELLS_MAX (page.h). */
int page_cells_make(const struct section_input *s, const struct cell_windows *windows,
		    uint32_t most, struct page_cells *ret);
void page_cells_free(struct page_cells *p);

/* The class of a row of locks; ""; equal ones have one address. */
const char *page_cells_class(const struct log_names *names, const struct keymap_key *key);
