/* report/live/live_rows.h: contentions by lock, and by the methods of both sides, as tables. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "report/live/live_view.h"
#include "report/model/sections/sections.h"

/* Bits of findings_view.view: a narrow screen has fewer figures. */
enum live_rows_view { LIVE_ROWS_WIDE = 1, LIVE_ROWS_NARROW = 2 };
static inline unsigned live_rows_view(unsigned width)
{
	return width && width < 100 ? LIVE_ROWS_NARROW : LIVE_ROWS_WIDE;
}

/* All rows, in the order of in->in. width: of the screen, 0: any. To be freed; NULL: no memory. */
struct findings *live_rows_table(const struct section_input *in, enum live_pane pane,
				 unsigned width);

/* As live_row_key. */
bool live_rows_key(const struct section_input *in, enum live_pane pane, uint32_t row,
		   char ret[LIVE_KEY_MAX]);
/* The cells of the row with this key; *ret is to be freed. -ENOENT: there is none; -ENOMEM. */
int live_rows_cells(const struct section_input *in, enum live_pane pane, const char *key,
		    struct cell **ret, uint32_t *ret_count);
